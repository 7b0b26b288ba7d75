package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/embeddedpg"
	"fstally/test/postgrestest"
)

// history is a data directory with some weeks of scans of two file systems.
func history(t *testing.T) string {
	t.Helper()
	dataDir := filepath.Join(t.TempDir(), "data")
	start(t, dataDir, "demo", "--data-dir="+dataDir, "--years=0.1", "--users=10", "--until=2026-06-30").stop()
	return dataDir
}

// state is all that a store says: the dump, and what the API answers.
type state struct {
	dump    []byte
	answers map[string]string
}

// stateOf serves a data directory for a moment. The dump needs the pg_dump of the
// distribution, and so is left out where a newer Postgres runs.
func stateOf(t *testing.T, dataDir string, dump bool) state {
	t.Helper()
	p := serve(t, dataDir)
	defer p.stop()
	s := state{answers: p.answers()}
	if dump {
		url, err := embeddedpg.Running(dataDir)
		if err != nil {
			t.Fatal(err)
		}
		s.dump = postgrestest.Dump(t, url)
	}
	return s
}

// answers are what the API says of both file systems of the demo, but for their age.
func (p *program) answers() map[string]string {
	p.t.Helper()
	answers := make(map[string]string)
	age := regexp.MustCompile(`"age_seconds":\d+`) // the only thing that moves
	for _, path := range []string{
		"", "/%s/scans?limit=100", "/%s/top/users?by=files&limit=10", "/%s/histogram?by=files",
		"/%s/usage?group_by=type&by=allocated&limit=100", "/%s/usage?group_by=fileset&by=size&limit=10&size_class=3072",
		"/%s/history?group_by=user&by=allocated&top=10",
	} {
		for _, fs := range []string{"scratch", "projects"} {
			path := "/api/v1/filesystems" + strings.Replace(path, "%s", fs, 1)
			status, body := p.try(http.MethodGet, path)
			if status != http.StatusOK {
				p.t.Errorf("GET %s: %d %s", path, status, body)
			}
			answers[path] = age.ReplaceAllString(string(body), "")
		}
	}
	return answers
}

// same holds one state against another, of which one may have no dump.
func same(t *testing.T, what string, want, got state) {
	t.Helper()
	if diff := cmp.Diff(want.answers, got.answers); diff != "" {
		t.Errorf("%s: the API answers otherwise: %.2000s", what, diff)
	}
	if want.dump != nil && got.dump != nil && !bytes.Equal(want.dump, got.dump) {
		t.Errorf("%s: the dumps differ", what)
	}
}

func TestBackupAndRestore(t *testing.T) {
	dataDir := history(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "store.fstb")

	p := serve(t, dataDir) // as cron finds it at night
	if out, err := command(t.Context(), t, dataDir, "backup", "--quiet", file).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("backup --quiet: %v, %s", err, out)
	}
	code, said := fails(t, dataDir, "restore", "--replace", file)
	if code != exitInUse || !strings.Contains(said, fmt.Sprintf("pid %d", p.cmd.Process.Pid)) {
		t.Errorf("restore beside serve: exit code %d, %s", code, said)
	}
	p.stop()
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	want := stateOf(t, dataDir, true)

	second := filepath.Join(folder, "second")
	if out := fstally(t, second, "restore", file); !strings.Contains(out, "Restored") || strings.Contains(out, "kept") {
		t.Errorf("restore says %s", out)
	}
	same(t, "restored", want, stateOf(t, second, true))

	code, said = fails(t, second, "restore", file)
	if code != exitConflict || !strings.Contains(said, "--replace") {
		t.Errorf("restore over data: exit code %d, %s", code, said)
	}
	fstally(t, second, "fs", "rename", "scratch", "junk")
	fstally(t, second, "backup", file+"2") // without serve
	if out := fstally(t, second, "restore", "--check", file+"2"); !strings.Contains(out, "is whole") {
		t.Errorf("the check of a backup: %s", out)
	}
	out := fstally(t, second, "restore", "--replace", file)
	if !strings.Contains(out, filepath.Join(second, "postgres", "data-")) {
		t.Errorf("restore does not say where the old data is: %s", out)
	}
	same(t, "replaced", want, stateOf(t, second, true))
	if left, err := filepath.Glob(filepath.Join(folder, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left beside the backup: %v, %v", left, err)
	}
}

func TestBackupThroughPipes(t *testing.T) {
	dataDir := filepath.Join(t.TempDir(), "data")
	fstally(t, dataDir, "scan", t.TempDir())
	backup := fstally(t, dataDir, "backup", "-")
	for _, args := range [][]string{{"restore", "--check", "-"}, {"restore", "--replace", "-"}} {
		cmd := command(t.Context(), t, dataDir, args...)
		cmd.Stdin = strings.NewReader(backup)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%q: %v %s", args, err, out)
		}
	}
	if out := fstally(t, dataDir, "fs", "list"); strings.Contains(out, "No file system") {
		t.Errorf("after the restore: %s", out)
	}
}

func TestBackupRefuses(t *testing.T) {
	dataDir := filepath.Join(t.TempDir(), "data")
	folder := t.TempDir()
	file := filepath.Join(folder, "store.fstb")
	if code, said := fails(t, dataDir, "backup", file); code != exitDatabase || !strings.Contains(said, dataDir) {
		t.Errorf("backup of nothing: exit code %d, %s", code, said)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("a backup of nothing: %v", err)
	}
	root := t.TempDir()
	fstally(t, dataDir, "scan", root)
	fstally(t, dataDir, "backup", file)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut, foreign := filepath.Join(folder, "cut"), filepath.Join(folder, "foreign")
	for name, content := range map[string][]byte{cut: whole[:len(whole)-10], foreign: []byte("PGDMP of something")} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := fstally(t, dataDir, "fs", "list")
	for _, tc := range []struct {
		args string
		code int
		says string
	}{
		{"restore --replace " + cut, exitResult, cut + ": this backup is cut"},
		{"restore --check " + cut, exitResult, cut + ": this backup is cut"},
		{"restore --replace " + foreign, exitResult, foreign + ": this is not a backup of fstally"},
		{"restore " + file, exitConflict, "--replace"},
		{"restore " + folder + "/none", exitUsage, "no such file"},
		{"restore " + folder, exitUsage, "is a directory"},
		{"backup " + folder, exitUsage, "no file"},
		{"backup " + folder + "/no/file", exitUsage, "no such file"},
		{"--database-url=postgres://x/y restore " + file, exitUsage, "pg_restore"},
		{"--database-url=postgres://x/y upgrade-postgres", exitUsage, "pg_upgrade"},
		{"--data-dir=" + folder + "/empty upgrade-postgres", exitDatabase, folder + "/empty"},
	} {
		code, said := fails(t, dataDir, strings.Fields(tc.args)...)
		if code != tc.code || !strings.Contains(said, tc.says) {
			t.Errorf("fstally %s: exit code %d, want %d; it said: %s", tc.args, code, tc.code, said)
		}
	}
	if after := fstally(t, dataDir, "fs", "list"); after != before {
		t.Errorf("after what was refused: %s", after)
	}
	if out := fstally(t, dataDir, "upgrade-postgres"); !strings.Contains(out, "Nothing to do") {
		t.Errorf("upgrade without a newer version: %s", out)
	}
	if kept, err := filepath.Glob(filepath.Join(dataDir, "postgres", "data-*")); err != nil || len(kept) > 0 {
		t.Errorf("kept: %v, %v", kept, err)
	}
}

// TestUpgradePostgres goes from the distribution's Postgres to version 18, once
// killed in the middle, and by a backup back again, where pg_dump can compare.
func TestUpgradePostgres(t *testing.T) {
	dataDir := history(t)
	want := stateOf(t, dataDir, true)
	t.Run("newer", func(t *testing.T) {
		t.Setenv("PATH", postgrestest.SecondVersion(t)+":"+os.Getenv("PATH"))

		cmd := command(t.Context(), t, dataDir, "--log-level=info", "upgrade-postgres")
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if strings.Contains(lines.Text(), "migrated the database") { // the new one; rows follow
				break
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		same(t, "killed", want, stateOf(t, dataDir, true))

		out := fstally(t, dataDir, "upgrade-postgres")
		if !strings.Contains(out, "to Postgres 18") || !strings.Contains(out, "/postgres/data-") {
			t.Errorf("upgrade says %s", out)
		}
		same(t, "upgraded", want, stateOf(t, dataDir, false))
		fstally(t, dataDir, "backup", dataDir+".fstb")
		if out := fstally(t, dataDir, "upgrade-postgres"); !strings.Contains(out, "Nothing to do") {
			t.Errorf("a second upgrade: %s", out)
		}
	})
	// The newer programs are gone.
	code, said := fails(t, dataDir, "fs", "list")
	if code != exitDatabase || !strings.Contains(said, "postgresql-18") {
		t.Errorf("without the programs: exit code %d, %s", code, said)
	}
	fstally(t, dataDir, "restore", "--replace", dataDir+".fstb")
	same(t, "back again", want, stateOf(t, dataDir, true))
}
