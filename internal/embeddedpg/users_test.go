package embeddedpg_test

import (
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func credential(t *testing.T, name string) *syscall.Credential {
	t.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		t.Fatalf("the tests as root need the user %s: %v", name, err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func chownLike(t *testing.T, path, model string) {
	t.Helper()
	info, err := os.Stat(model)
	if err != nil {
		t.Fatal(err)
	}
	uid, gid := owner(t, info)
	if err := os.Chown(path, uid, gid); err != nil {
		t.Fatal(err)
	}
}

// connectAs tries to connect as a user of the system, with psql, and returns
// what that printed.
func connectAs(t *testing.T, name, databaseURL, role string) (string, error) {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "psql", "-XAtq", "-h", u.Query().Get("host"), "-p", u.Query().Get("port"),
		"-U", role, "-d", strings.TrimPrefix(u.Path, "/"), "-c", "SELECT 'connected'")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential(t, name)}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func wantRefused(t *testing.T, name, databaseURL, role string) {
	t.Helper()
	out, err := connectAs(t, name, databaseURL, role)
	if err == nil {
		t.Errorf("user %s connects as role %s: %s", name, role, out)
	} else if !strings.Contains(out, "failed") {
		t.Errorf("user %s: unexpected answer %s", name, out)
	}
}

func TestServerOfRootIsForRootOnly(t *testing.T) {
	needRoot(t)
	dir := filepath.Join(publicDir(t), "state")
	if err := os.Rename(prepared(t), dir); err != nil {
		t.Fatal(err)
	}
	server := start(t, dir)
	if out, err := connectAs(t, "root", server.URL(), "fstally"); err != nil || out != "connected\n" {
		t.Fatalf("root: %v %s", err, out)
	}
	// Even with all directories open, peer authentication holds.
	for _, open := range []bool{false, true} {
		if open {
			for _, name := range []string{".", "postgres", "postgres/run", "postgres/run/.s.PGSQL.5432"} {
				if err := os.Chmod(filepath.Join(dir, name), 0o777); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, name := range []string{"postgres", "nobody", "daemon"} {
			for _, role := range []string{"fstally", "postgres", name} {
				wantRefused(t, name, server.URL(), role)
			}
		}
	}
}

func TestPostgresDoesNotRunAsRoot(t *testing.T) {
	needRoot(t)
	dir := prepared(t)
	start(t, dir)
	for _, pid := range []int{postmaster(t, dir), parentOf(t, postmaster(t, dir))} {
		status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
		if err != nil {
			t.Fatal(err)
		}
		want := strconv.Itoa(int(credential(t, "postgres").Uid))
		for line := range strings.SplitSeq(string(status), "\n") {
			if uids, ok := strings.CutPrefix(line, "Uid:"); ok {
				for uid := range strings.FieldsSeq(uids) {
					if uid != want {
						t.Errorf("process %d has user ids %s, want %s", pid, uids, want)
					}
				}
			}
			if caps, ok := strings.CutPrefix(line, "CapEff:"); ok && strings.Trim(caps, "\t0") != "" {
				t.Errorf("process %d has capabilities %s", pid, caps)
			}
		}
	}
}

func TestOrdinaryUser(t *testing.T) {
	needRoot(t) // to become several; the other tests cover the user who runs them
	base := publicDir(t)
	exe := filepath.Join(base, "embeddedpg.test")
	copyFile(t, config(t, base).Supervisor[0], exe)

	// nobody with a name of its own, and the account that root's server uses.
	for _, name := range []string{"nobody", "postgres"} {
		t.Run(name, func(t *testing.T) {
			cred := credential(t, name)
			home := filepath.Join(base, name)
			if err := os.Mkdir(home, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(home, int(cred.Uid), int(cred.Gid)); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(home, "state")
			fstally := serveAs(t, exe, dir, cred)
			if out, err := connectAs(t, name, fstally.url, "fstally"); err != nil || out != "connected\n" {
				t.Errorf("%s: %v %s", name, err, out)
			}
			wantRefused(t, "daemon", fstally.url, "fstally")

			pid := postmaster(t, dir)
			info, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid)))
			if err != nil {
				t.Fatal(err)
			}
			if uid, _ := owner(t, info); uid != int(cred.Uid) {
				t.Errorf("Postgres runs as %d, want %d", uid, cred.Uid)
			}
			gone := watchExit(t, pid)
			if err := fstally.stdin.Close(); err != nil {
				t.Fatal(err)
			}
			gone()
			if err := fstally.cmd.Wait(); err != nil {
				t.Errorf("serve: %v", err)
			}
		})
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
