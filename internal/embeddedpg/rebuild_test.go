package embeddedpg_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"fstally/internal/embeddedpg"
	"fstally/test/postgrestest"
)

// carry copies what keepRow stored, or stores it where there is nothing yet.
func carry(ctx context.Context, from, to string) error {
	n := 42
	if from != "" {
		conn, err := pgx.Connect(ctx, from)
		if err != nil {
			return err
		}
		if err := errors.Join(conn.QueryRow(ctx, "SELECT n FROM kept").Scan(&n), conn.Close(ctx)); err != nil {
			return err
		}
	}
	conn, err := pgx.Connect(ctx, to)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "CREATE TABLE kept (n integer); CREATE TABLE rebuilt ()")
	if err == nil {
		_, err = conn.Exec(ctx, "INSERT INTO kept VALUES ($1)", n)
	}
	return errors.Join(err, conn.Close(ctx))
}

// keeping is a directory with a row.
func keeping(t *testing.T) string {
	t.Helper()
	dir := prepared(t)
	server := start(t, dir)
	keepRow(t, server.URL())
	stop(t, server)
	return dir
}

func isRebuilt(t *testing.T, url string) bool {
	t.Helper()
	return query[bool](t, url, "SELECT to_regclass('rebuilt') IS NOT NULL")
}

// names lists what is in a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestRebuild(t *testing.T) {
	dir := keeping(t)
	major := query[string](t, start(t, prepared(t)).URL(), "SELECT current_setting('server_version_num')::int / 10000 || ''")
	for round, kept := range []string{"data-" + major, "data-" + major + "-2"} {
		done, err := embeddedpg.Rebuild(t.Context(), config(t, dir), embeddedpg.Rebuilding{Fill: carry})
		if err != nil {
			t.Fatal(err)
		}
		if want := filepath.Join(dir, "postgres", kept); done.Kept != want || done.From != done.To || done.To == 0 {
			t.Errorf("%+v, want what is kept in %s", done, want)
		}
		server := start(t, dir)
		wantRow(t, server.URL())
		if !isRebuilt(t, server.URL()) {
			t.Errorf("round %d: the new data are not in place", round)
		}
		for name, want := range map[string]string{"fsync": "on", "full_page_writes": "on", "wal_level": "replica"} {
			if got := query[string](t, server.URL(), "SELECT current_setting('"+name+"')"); got != want {
				t.Errorf("%s is %s", name, got)
			}
		}
		stop(t, server)
	}
	if slices.Contains(names(t, dir), "postgres.unfinished") {
		t.Error("something is left of the rebuild")
	}
	// What was kept is whole, and can be put back by hand.
	if err := errors.Join(os.RemoveAll(dataDir(dir)), os.Rename(dataDir(dir)+"-"+major, dataDir(dir))); err != nil {
		t.Fatal(err)
	}
	server := start(t, dir)
	wantRow(t, server.URL())
	if isRebuilt(t, server.URL()) {
		t.Error("the oldest data are not what was kept first")
	}
}

func TestRebuildOfNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if embeddedpg.HasData(dir) {
		t.Error("data in a directory that does not exist")
	}
	done, err := embeddedpg.Rebuild(t.Context(), config(t, dir), embeddedpg.Rebuilding{Fill: carry})
	if err != nil || done.Kept != "" || done.From != 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	if !embeddedpg.HasData(dir) {
		t.Error("no data after a rebuild")
	}
	wantRow(t, start(t, dir).URL())
}

// TestRebuildToAnotherVersion has the programs of two versions side by side.
func TestRebuildToAnotherVersion(t *testing.T) {
	dir := keeping(t)
	bin := postgrestest.SecondVersion(t)
	how := embeddedpg.Rebuilding{Fill: carry, OnlyNewer: true}
	if _, err := embeddedpg.Rebuild(t.Context(), config(t, dir), how); !errors.Is(err, embeddedpg.ErrNewest) {
		t.Fatalf("without newer programs: %v", err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	done, err := embeddedpg.Rebuild(t.Context(), config(t, dir), how)
	if err != nil || done.To != 18 || done.From >= 18 {
		t.Fatalf("%+v, %v", done, err)
	}
	server := start(t, dir)
	wantRow(t, server.URL())
	if v := query[string](t, server.URL(), "SHOW server_version"); !strings.HasPrefix(v, "18.") {
		t.Errorf("it runs on %s", v)
	}
}

// TestRebuildWithoutTheOldPrograms holds what an administrator meets whose
// distribution has taken the old version away.
func TestRebuildWithoutTheOldPrograms(t *testing.T) {
	dir := keeping(t)
	cfg := config(t, dir)
	cfg.BinariesPath = postgrestest.SecondVersion(t)
	before := snapshot(t, dataDir(dir))
	_, err := embeddedpg.Rebuild(t.Context(), cfg, embeddedpg.Rebuilding{Fill: carry, OnlyNewer: true})
	if !errors.Is(err, embeddedpg.ErrVersion) {
		t.Fatalf("error %v, want the version", err)
	}
	for _, part := range []string{"postgresql-", "fstally upgrade-postgres", "fstally restore --replace", "not touched"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("message %q lacks %q", err, part)
		}
	}
	if diff := cmp.Diff(before, snapshot(t, dataDir(dir))); diff != "" {
		t.Errorf("the data directory changed (-before +after):\n%s", diff)
	}
	// A backup needs the new programs only.
	done, err := embeddedpg.Rebuild(t.Context(), cfg, embeddedpg.Rebuilding{Fill: carry, IgnoreOld: true})
	if err != nil || done.To != 18 {
		t.Fatalf("%+v, %v", done, err)
	}
	if diff := cmp.Diff(len(before), len(snapshot(t, done.Kept))); diff != "" {
		t.Errorf("what is kept has other files: %s", diff)
	}
}

// TestDamagedDataAreReplaced keeps what cannot even be read.
func TestDamagedDataAreReplaced(t *testing.T) {
	dir := keeping(t)
	if err := os.Remove(filepath.Join(dataDir(dir), "PG_VERSION")); err != nil {
		t.Fatal(err)
	}
	if _, err := embeddedpg.Rebuild(t.Context(), config(t, dir), embeddedpg.Rebuilding{Fill: carry}); err == nil {
		t.Error("damaged data are passed over")
	}
	done, err := embeddedpg.Rebuild(t.Context(), config(t, dir), embeddedpg.Rebuilding{Fill: carry, IgnoreOld: true})
	if err != nil || filepath.Base(done.Kept) != "data-old" {
		t.Fatalf("%+v, %v", done, err)
	}
	wantRow(t, start(t, dir).URL())
}

func TestFailedRebuildChangesNothing(t *testing.T) {
	failure := errors.New("no such backup")
	for name, fill := range map[string]func(context.Context, string, string) error{
		"fails after some": func(ctx context.Context, from, to string) error {
			return errors.Join(carry(ctx, from, to), failure)
		},
		"new server ends": func(ctx context.Context, _, to string) error {
			conn, err := pgx.Connect(ctx, to)
			if err != nil {
				return err
			}
			_, _ = conn.Exec(ctx, "COPY (SELECT 1) TO PROGRAM 'kill -9 $PPID $(head -1 postmaster.pid)'")
			return errors.Join(conn.Close(ctx), failure)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := keeping(t)
			before := names(t, filepath.Join(dir, "postgres"))
			_, err := embeddedpg.Rebuild(t.Context(), config(t, dir), embeddedpg.Rebuilding{Fill: fill})
			if !errors.Is(err, failure) {
				t.Fatalf("Rebuild: %v", err)
			}
			if diff := cmp.Diff(before, names(t, filepath.Join(dir, "postgres"))); diff != "" {
				t.Errorf("the folder changed: %s", diff)
			}
			if slices.Contains(names(t, dir), "postgres.unfinished") {
				t.Error("something is left of the rebuild")
			}
			server := start(t, dir)
			wantRow(t, server.URL())
			if isRebuilt(t, server.URL()) {
				t.Error("the new data are in place")
			}
		})
	}
}

func TestInterruptedRebuild(t *testing.T) {
	dir := keeping(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := embeddedpg.Rebuild(ctx, config(t, dir), embeddedpg.Rebuilding{
		Fill: func(ctx context.Context, from, to string) error {
			err := carry(ctx, from, to)
			cancel() // too late for Fill to notice
			return err
		},
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Rebuild: %v", err)
	}
	noServers(t, dir)
	server := start(t, dir)
	wantRow(t, server.URL())
	if isRebuilt(t, server.URL()) {
		t.Error("the new data are in place")
	}
}

// TestRebuildIsAlone holds that nobody finds the old database to write into it, and
// that nobody else's database is rebuilt.
func TestRebuildIsAlone(t *testing.T) {
	dir := keeping(t)
	_, err := embeddedpg.Rebuild(t.Context(), config(t, dir), embeddedpg.Rebuilding{
		Fill: func(ctx context.Context, from, to string) error {
			if url, err := embeddedpg.Running(dir); !errors.Is(err, embeddedpg.ErrStarting) {
				t.Errorf("Running: %q, %v", url, err)
			}
			refused(t, config(t, dir), embeddedpg.ErrInUse)
			return carry(ctx, from, to)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	start(t, dir)
	if _, err := embeddedpg.Rebuild(t.Context(), config(t, dir), embeddedpg.Rebuilding{Fill: carry}); !errors.Is(err, embeddedpg.ErrInUse) {
		t.Errorf("beside a server: %v", err)
	}
}

// rebuildSteps are what a Rebuild says of itself, where it is killed.
func rebuildSteps() []string {
	return []string{"starting a new", "making a data directory", "filling", "writing", "exchanging"}
}

// rebuildAndDie is a program that is killed at a step.
func rebuildAndDie(dir, step string, die func()) error {
	supervisor, err := supervisor()
	if err != nil {
		return err
	}
	_, err = embeddedpg.Rebuild(context.Background(), embeddedpg.Config{
		Dir: dir, Supervisor: supervisor, Logger: slog.New(onStep{step, die}),
	}, embeddedpg.Rebuilding{Fill: carry})
	return err
}

// TestRebuildKilled kills it at each step. The row is there at the next start, from
// one data directory or the other, and the rebuild can be repeated.
func TestRebuildKilled(t *testing.T) {
	for _, step := range rebuildSteps() {
		t.Run(step, func(t *testing.T) {
			dir := keeping(t)
			out, err := exec.CommandContext(t.Context(), config(t, dir).Supervisor[0], rebuildCommand, dir, step).CombinedOutput()
			if err == nil || !strings.Contains(err.Error(), "killed") {
				t.Fatalf("%v %s, want a death by signal", err, out)
			}
			server := start(t, dir) // at once, while what was killed is still ending
			wantRow(t, server.URL())
			if got, want := isRebuilt(t, server.URL()), step == "exchanging"; got != want {
				t.Errorf("new data: %t, want %t", got, want)
			}
			stop(t, server)
			if step != "filling" { // where most is left to clear away
				return
			}
			if _, err := embeddedpg.Rebuild(t.Context(), config(t, dir), embeddedpg.Rebuilding{Fill: carry}); err != nil {
				t.Fatalf("again: %v", err)
			}
			if slices.Contains(names(t, dir), "postgres.unfinished") {
				t.Error("something is left of the rebuild")
			}
			server = start(t, dir)
			wantRow(t, server.URL())
			if !isRebuilt(t, server.URL()) {
				t.Error("the new data are not in place")
			}
		})
	}
}

// TestHalfAnExchange starts between the two renames, and after them.
func TestHalfAnExchange(t *testing.T) {
	dir := keeping(t)
	if err := os.Rename(dataDir(dir), filepath.Join(dir, "postgres", "data-next")); err != nil {
		t.Fatal(err)
	}
	if !embeddedpg.HasData(dir) {
		t.Error("HasData does not see it")
	}
	server := start(t, dir)
	wantRow(t, server.URL())
	stop(t, server)
	wantRow(t, start(t, dir).URL())
}

func TestDiskFullDuringRebuild(t *testing.T) {
	disk := smallDisk(t, "150m")
	server := start(t, disk)
	keepRow(t, server.URL())
	stop(t, server)
	free, err := embeddedpg.FreeSpace(filepath.Join(disk, "not", "there"))
	if err != nil || free <= 0 || free > 150<<20 {
		t.Errorf("free: %d, %v", free, err)
	}
	_, err = embeddedpg.Rebuild(t.Context(), config(t, disk), embeddedpg.Rebuilding{
		Fill: func(ctx context.Context, _, to string) error {
			conn, err := pgx.Connect(ctx, to)
			if err != nil {
				return err
			}
			_, err = conn.Exec(ctx, "CREATE TABLE big AS SELECT repeat('x', 1000) FROM generate_series(1, 200000)")
			return errors.Join(err, conn.Close(ctx))
		},
	})
	if !errors.Is(err, embeddedpg.ErrDiskFull) {
		t.Errorf("Rebuild: %v, want a full disk", err)
	}
	if slices.Contains(names(t, disk), "postgres.unfinished") {
		t.Error("the space is not free again")
	}
	server = start(t, disk)
	wantRow(t, server.URL())
	stop(t, server)
}

// TestFolderOnADiskOfItsOwn cannot be exchanged in one step.
func TestFolderOnADiskOfItsOwn(t *testing.T) {
	disk := smallDisk(t, "100m")
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "postgres"), 0o700); err != nil {
		t.Fatal(err)
	}
	bind(t, disk, filepath.Join(dir, "postgres"))
	_, err := embeddedpg.Rebuild(t.Context(), config(t, dir), embeddedpg.Rebuilding{Fill: carry})
	if !errors.Is(err, embeddedpg.ErrUnusable) || !strings.Contains(err.Error(), "another file system") {
		t.Errorf("Rebuild: %v", err)
	}
}
