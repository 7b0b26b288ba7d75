package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBadInput holds that what cannot work is refused with a message that names
// the thing, the right exit code, and nothing stored.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	dataDir := filepath.Join(dir, "data")
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("no result"), 0o600); err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args string
		code int
		says string
	}{
		{"scan " + dir + "/none", exitRoot, dir + "/none does not exist"},
		{"scan " + file, exitRoot, file + " is not a directory"},
		{"scan --dry-run " + file, exitRoot, "not a directory"},
		{"serve --listen 127.0.0.1:0 " + dir + "/none", exitRoot, "does not exist"},
		{"serve --listen 127.0.0.1:0 --public-url storage.example.org", exitUsage, "write scheme and host"},
		{"serve --listen 127.0.0.1:0 --public-url https://h/path", exitUsage, "--base-path"},
		{"fs add good " + dir + "/none", exitRoot, "does not exist"},
		{"fs add Bad " + root, exitUsage, `"Bad" is not a name`},
		{"import " + dir + "/\x1b[31mred", exitUsage, dir + `/\x1b[31mred: no such file`},
		{"import " + file, exitResult, "not a result of fstally scan"},
		{"scan --part=x " + root, exitUsage, "--out"},
		{"scan --size-classes=1,2,3 " + root, exitUsage, "4 bounds"},
		{"scan --fileset=../x --dry-run " + root, exitUsage, "../x"},
		{"scan --walkers=-2 --dry-run " + root, exitUsage, "-2"},
		{"scan --out=" + dir + "/no/file " + root, exitUsage, "no such folder"},
		{"--timezone=Nowhere/Land fs list", exitUsage, "Nowhere/Land"},
		{"--database-url=postgres://x@127.0.0.1:1/x fs list", exitDatabase, "127.0.0.1:1"},
		{"frobnicate", exitUsage, "frobnicate"},
		{"fs show none", exitNotFound, `"none"`},
	} {
		code, said := fails(t, dataDir, strings.Fields(tc.args)...)
		if code != tc.code || !strings.Contains(said, tc.says) {
			t.Errorf("fstally %s: exit code %d, want %d; it said: %s", tc.args, code, tc.code, said)
		}
	}
	if out := fstally(t, dataDir, "fs", "list"); !strings.Contains(out, "No file system yet") {
		t.Errorf("something was stored: %s", out)
	}
}

func TestBadRequests(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	dataDir := filepath.Join(dir, "data")
	fstally(t, dataDir, "scan", root)
	p := serve(t, dataDir)
	for path, want := range map[string]int{
		"/api/v1/filesystems/none/top/users":                         http.StatusNotFound,
		"/api/v1/filesystems/root/top/users?limit=0":                 http.StatusUnprocessableEntity,
		"/api/v1/filesystems/root/top/users?limit=-1":                http.StatusUnprocessableEntity,
		"/api/v1/filesystems/root/top/users?limit=1000000000":        http.StatusUnprocessableEntity,
		"/api/v1/filesystems/root/top/users?limit=abc":               http.StatusUnprocessableEntity,
		"/api/v1/filesystems/root/usage?scan=18446744073709551613":   http.StatusUnprocessableEntity,
		"/api/v1/filesystems/root/usage?scan=99":                     http.StatusNotFound,
		"/api/v1/filesystems/root/usage?user=4294967296":             http.StatusUnprocessableEntity,
		"/api/v1/filesystems/root/usage?group_by=color":              http.StatusUnprocessableEntity,
		"/fs/none/capacity":                                          http.StatusNotFound,
		"/fs/root/capacity?scan=99":                                  http.StatusNotFound,
		"/fs/root/capacity?by=color":                                 http.StatusBadRequest,
		"/scans/99":                                                  http.StatusNotFound,
		"/api/v1/filesystems/root/top/users?by=files&limit=10":       http.StatusOK,
		"/api/v1/filesystems/1/histogram?by=files":                   http.StatusOK,
		"/api/v1/filesystems/root/history?group_by=fileset&by=files": http.StatusOK,
	} {
		status, body := p.try(http.MethodGet, path)
		if status != want {
			t.Errorf("GET %s: %d, want %d: %s", path, status, want, body)
		}
	}
	p.token = "wrong"
	if status, _ := p.try(http.MethodGet, "/api/v1/filesystems"); status != http.StatusUnauthorized {
		t.Errorf("with a wrong token: %d", status)
	}
}
