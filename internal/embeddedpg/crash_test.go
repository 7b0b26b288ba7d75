package embeddedpg_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// keepRow stores something whose survival the test checks later.
func keepRow(t *testing.T, url string) {
	t.Helper()
	execute(t, url, "CREATE TABLE kept AS SELECT 42 AS n")
}

func wantRow(t *testing.T, url string) {
	t.Helper()
	if n := query[int](t, url, "SELECT n FROM kept"); n != 42 {
		t.Errorf("n = %d, want 42", n)
	}
}

func TestFstallyKilled(t *testing.T) {
	dir := prepared(t)
	fstally := serveAs(t, config(t, dir).Supervisor[0], dir, nil)
	keepRow(t, fstally.url)
	postgres := watchExit(t, postmaster(t, dir))
	supervisor := watchExit(t, parentOf(t, postmaster(t, dir)))

	kill(t, fstally.cmd.Process.Pid, syscall.SIGKILL)
	supervisor()
	postgres()
	noServers(t, dir)
	wantRow(t, start(t, dir).URL())
}

func TestFstallyKilledAndStartedAtOnce(t *testing.T) {
	dir := prepared(t)
	fstally := serveAs(t, config(t, dir).Supervisor[0], dir, nil)
	keepRow(t, fstally.url)
	gone := watchExit(t, fstally.cmd.Process.Pid)
	kill(t, fstally.cmd.Process.Pid, syscall.SIGKILL)
	gone()
	wantRow(t, start(t, dir).URL())
}

func TestSupervisorKilled(t *testing.T) {
	dir := prepared(t)
	server := start(t, dir)
	keepRow(t, server.URL())
	postgres := watchExit(t, postmaster(t, dir))

	kill(t, parentOf(t, postmaster(t, dir)), syscall.SIGKILL)
	postgres()
	<-server.Done()
	noServers(t, dir)
	if err := server.Err(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("Err = %v, want the signal", err)
	}
	wantRow(t, start(t, dir).URL())
}

func TestSupervisorAskedToEnd(t *testing.T) {
	dir := prepared(t)
	server := start(t, dir)
	kill(t, parentOf(t, postmaster(t, dir)), syscall.SIGTERM)
	<-server.Done()
	noServers(t, dir)
	if err := server.Err(); err == nil || !strings.Contains(err.Error(), "unasked") {
		t.Errorf("Err = %v, want one that says that nobody asked", err)
	}
}

func TestFstallyAndSupervisorKilled(t *testing.T) {
	dir := prepared(t)
	fstally := serveAs(t, config(t, dir).Supervisor[0], dir, nil)
	keepRow(t, fstally.url)
	pid := postmaster(t, dir)
	postgres := watchExit(t, pid)
	supervisor := parentOf(t, pid)
	kill(t, fstally.cmd.Process.Pid, syscall.SIGSTOP) // it must not help
	kill(t, supervisor, syscall.SIGKILL)
	kill(t, fstally.cmd.Process.Pid, syscall.SIGKILL)
	postgres()
	wantRow(t, start(t, dir).URL())
}

func TestPostmasterKilled(t *testing.T) {
	dir := prepared(t)
	server := start(t, dir)
	keepRow(t, server.URL())
	kill(t, postmaster(t, dir), syscall.SIGKILL)
	<-server.Done()
	noServers(t, dir)
	if err := server.Err(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("Err = %v, want the signal", err)
	}
	wantRow(t, start(t, dir).URL())
}

func TestOrphanOfFrozenSupervisor(t *testing.T) {
	// Nobody passes the end of fstally on: the next start has to clean up.
	dir := prepared(t)
	fstally := serveAs(t, config(t, dir).Supervisor[0], dir, nil)
	keepRow(t, fstally.url)
	pid := postmaster(t, dir)
	postgres := watchExit(t, pid)
	supervisor := watchExit(t, parentOf(t, pid))
	kill(t, parentOf(t, pid), syscall.SIGSTOP)
	kill(t, fstally.cmd.Process.Pid, syscall.SIGKILL)
	_ = fstally.cmd.Wait()

	server := start(t, dir)
	postgres()
	supervisor()
	wantRow(t, server.URL())
}

func TestStalePidFile(t *testing.T) {
	for name, pid := range map[string]func(*testing.T) int{
		"unused pid": func(t *testing.T) int {
			t.Helper()
			cmd := exec.CommandContext(t.Context(), "true")
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			return cmd.Process.Pid
		},
		"pid of another process of the same user": func(t *testing.T) int {
			t.Helper()
			cmd := exec.CommandContext(t.Context(), "sleep", "1000")
			if os.Geteuid() == 0 {
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential(t, "postgres")}
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			})
			return cmd.Process.Pid
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := prepared(t)
			server := start(t, dir)
			keepRow(t, server.URL())
			file := filepath.Join(dataDir(dir), "postmaster.pid")
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			socketLock := filepath.Join(dir, "postgres", "run", ".s.PGSQL.5432.lock")
			stop(t, server)

			_, rest, _ := strings.Cut(string(content), "\n")
			stale := []byte(strconv.Itoa(pid(t)) + "\n" + rest)
			for _, f := range []string{file, socketLock} {
				if err := os.WriteFile(f, stale, 0o600); err != nil {
					t.Fatal(err)
				}
				chownLike(t, f, dataDir(dir))
			}
			wantRow(t, start(t, dir).URL())
		})
	}
}

func TestFstallyKilledDuringInitdb(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), config(t, dir).Supervisor[0], dieCommand, dir)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%s: %v %s, want a death by signal", cmd, err, out)
	}
	keepRow(t, start(t, dir).URL()) // while the last supervisor may be at work
	if _, err := os.Stat(filepath.Join(dir, "postgres", "initdb.tmp")); !os.IsNotExist(err) {
		t.Errorf("an unfinished directory is left: %v", err)
	}
}

func TestInterruptedInitdb(t *testing.T) {
	dir := prepared(t)
	// As if the process had died in the middle: half of a directory under the
	// temporary name, nothing under the final one.
	half := filepath.Join(dir, "postgres", "initdb.tmp")
	if err := os.Rename(dataDir(dir), half); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(half, "base")); err != nil {
		t.Fatal(err)
	}
	start(t, dir)
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Errorf("the unfinished directory is left: %v", err)
	}
}
