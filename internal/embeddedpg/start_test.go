package embeddedpg_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/embeddedpg"
)

func TestRestartKeepsData(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "by", "Start")
	server := start(t, dir)
	execute(t, server.URL(), "CREATE TABLE kept AS SELECT 42 AS n")
	stop(t, server)
	noServers(t, dir)
	if err := server.Err(); err != nil {
		t.Errorf("Err after Stop: %v", err)
	}
	stop(t, server) // more calls do no harm

	server = start(t, dir)
	if n := query[int](t, server.URL(), "SELECT n FROM kept"); n != 42 {
		t.Errorf("after restart n = %d, want 42", n)
	}
}

func TestStopWithoutPatience(t *testing.T) {
	dir := prepared(t)
	server := start(t, dir)
	keepRow(t, server.URL())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := server.Stop(ctx); err != nil {
		t.Error(err)
	}
	noServers(t, dir)
	wantRow(t, start(t, dir).URL())
}

func TestServerIsSetUpAsPromised(t *testing.T) {
	dir := t.TempDir()
	server := start(t, dir)
	got := make(map[string]string)
	want := map[string]string{
		"server_encoding":    "UTF8",
		"data_checksums":     "on",
		"fsync":              "on",
		"synchronous_commit": "on",
		"listen_addresses":   "",
		"TimeZone":           "UTC",
		"lc_messages":        "C",
		"max_connections":    "50",
	}
	for name := range want {
		got[name] = query[string](t, server.URL(), "SHOW "+name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	const locale = "SELECT current_database() || ' ' || datcollate || ' ' || datctype FROM pg_database WHERE datname = current_database()"
	if got := query[string](t, server.URL(), locale); got != "fstally C C" {
		t.Errorf("database and locale %q, want fstally C C", got)
	}

	for name, want := range map[string]os.FileMode{
		"postgres":                     0o700,
		"postgres/data":                0o700,
		"postgres/run":                 0o700,
		"postgres/run/.s.PGSQL.5432":   0o700,
		"postgres/postgres.log":        0o600,
		"postgres/pg_hba.conf":         0o600,
		"postgres.lock":                0o600,
		"postgres/data/postmaster.pid": 0o600,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm() != want {
			t.Errorf("mode of %s is %v, want %v", name, info.Mode().Perm(), want)
		}
	}
}

func TestSupervisorHasSessionOfItsOwnAndCleanEnvironment(t *testing.T) {
	t.Setenv("FSTALLY_TOKEN", "secret")
	dir := prepared(t)
	start(t, dir)
	pid := postmaster(t, dir)
	environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(environ), "secret") {
		t.Error("Postgres got fstally's environment")
	}
	session, _, errno := syscall.Syscall(syscall.SYS_GETSID, uintptr(parentOf(t, pid)), 0, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	if int(session) != parentOf(t, pid) {
		t.Errorf("supervisor %d is in session %d, want its own", parentOf(t, pid), session)
	}
}

func TestSecondStartIsRefused(t *testing.T) {
	dir := prepared(t)
	first := start(t, dir)
	message := refused(t, config(t, dir), embeddedpg.ErrInUse)
	for _, part := range []string{"pid " + strconv.Itoa(os.Getpid()), dir} {
		if !strings.Contains(message, part) {
			t.Errorf("message %q does not name %q", message, part)
		}
	}
	if n := query[int](t, first.URL(), "SELECT 1"); n != 1 {
		t.Errorf("the first server answers %d", n)
	}
}

func TestRunning(t *testing.T) {
	dir := t.TempDir()
	if _, err := embeddedpg.Running(dir); !errors.Is(err, embeddedpg.ErrNotRunning) {
		t.Errorf("before the first start: error %v, want %v", err, embeddedpg.ErrNotRunning)
	}
	cfg := config(t, dir)
	asked := false
	cfg.Logger = slog.New(onStep{"making a data directory", func() {
		asked = true
		if _, err := embeddedpg.Running(dir); !errors.Is(err, embeddedpg.ErrStarting) {
			t.Errorf("during the start: error %v, want %v", err, embeddedpg.ErrStarting)
		}
	}})
	server, err := embeddedpg.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !asked {
		t.Error("the start did not log its steps")
	}
	url, err := embeddedpg.Running(dir)
	if err != nil || url != server.URL() {
		t.Errorf("Running = %q, %v; want %q", url, err, server.URL())
	}
	if n := query[int](t, url, "SELECT 1"); n != 1 {
		t.Errorf("SELECT 1 = %d", n)
	}
	stop(t, server)
	if _, err := embeddedpg.Running(dir); !errors.Is(err, embeddedpg.ErrNotRunning) {
		t.Errorf("after Stop: error %v, want %v", err, embeddedpg.ErrNotRunning)
	}
}

func TestLongAndOddDirectoryNames(t *testing.T) {
	for name, part := range map[string]string{
		"long":        strings.Repeat("x", 200),
		"comma space": `a, b "c" 'd' \e`,
		"utf-8":       "größe",
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), part)
			if err := os.Rename(prepared(t), dir); err != nil {
				t.Fatal(err)
			}
			server := start(t, dir)
			url, err := embeddedpg.Running(dir)
			if err != nil {
				t.Fatal(err)
			}
			if n := query[int](t, url, "SELECT 1"); n != 1 {
				t.Errorf("SELECT 1 = %d", n)
			}
			stop(t, server)
			ref, err := os.ReadFile(filepath.Join(dir, "postgres", "socket-dir"))
			if err != nil {
				return // it was beside the data
			}
			if _, err := os.Stat(string(ref)); !os.IsNotExist(err) {
				t.Errorf("socket directory %s is left: %v", ref, err)
			}
		})
	}
}

func TestStartThatIsCancelledLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg := config(t, dir)
	cfg.Logger = slog.New(onStep{"making a data directory", cancel})
	server, err := embeddedpg.Start(ctx, cfg)
	if err == nil {
		stop(t, server)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Start: error %v, want %v", err, context.Canceled)
	}
	noServers(t, dir)
	start(t, dir)
}
