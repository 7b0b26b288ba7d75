package embeddedpg_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/embeddedpg"
)

func TestDataThatDoesNotFitIsRefusedAndUntouched(t *testing.T) {
	for name, tc := range map[string]struct {
		damage  func(t *testing.T, data string)
		kind    error
		message []string
	}{
		"newer major version": {
			damage:  writeVersion("99\n"),
			kind:    embeddedpg.ErrVersion,
			message: []string{"Postgres 99", "not touched", "postgresql-99", "found: "},
		},
		"older major version": {
			damage:  writeVersion("9.6\n"),
			kind:    embeddedpg.ErrUnusable,
			message: []string{`"9.6\n"`, "not touched"},
		},
		"empty PG_VERSION": {
			damage:  writeVersion(""),
			kind:    embeddedpg.ErrUnusable,
			message: []string{"PG_VERSION", "not touched"},
		},
		"no PG_VERSION": {
			damage: func(t *testing.T, data string) {
				t.Helper()
				if err := os.Remove(filepath.Join(data, "PG_VERSION")); err != nil {
					t.Fatal(err)
				}
			},
			kind:    embeddedpg.ErrUnusable,
			message: []string{"PG_VERSION", "not touched"},
		},
		"unreadable PG_VERSION": {
			damage: func(t *testing.T, data string) {
				t.Helper()
				if err := os.Chmod(filepath.Join(data, "PG_VERSION"), 0); err != nil {
					t.Fatal(err)
				}
			},
			kind:    embeddedpg.ErrUnusable,
			message: []string{"permission denied", "not touched"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := prepared(t)
			tc.damage(t, dataDir(dir))
			before := snapshot(t, dataDir(dir))
			message := refused(t, config(t, dir), tc.kind)
			for _, part := range append(tc.message, dataDir(dir)) {
				if !strings.Contains(message, part) {
					t.Errorf("message %q lacks %q", message, part)
				}
			}
			if diff := cmp.Diff(before, snapshot(t, dataDir(dir))); diff != "" {
				t.Errorf("the data directory changed (-before +after):\n%s", diff)
			}
		})
	}
}

func writeVersion(text string) func(*testing.T, string) {
	return func(t *testing.T, data string) {
		t.Helper()
		t.Helper()
		if err := os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEmptyDataDirectoryIsFilled(t *testing.T) {
	dir := prepared(t)
	if err := os.RemoveAll(dataDir(dir)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dataDir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	chownLike(t, dataDir(dir), filepath.Dir(dataDir(dir)))
	start(t, dir)
}

func TestDirectoryThatCannotServe(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(base, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	leading := filepath.Join(base, "leading")
	if err := os.Mkdir(leading, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", filepath.Join(leading, "postgres")); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{
		"a file":                 file,
		"below a file":           filepath.Join(file, "state"),
		"writable for everybody": open,
		"symlink to elsewhere":   leading,
	} {
		t.Run(name, func(t *testing.T) {
			message := refused(t, config(t, dir), embeddedpg.ErrUnusable)
			for _, part := range []string{dir, "FSTALLY_DATA_DIR"} {
				if !strings.Contains(message, part) {
					t.Errorf("message %q lacks %q", message, part)
				}
			}
		})
	}
}

func TestNoBinaries(t *testing.T) {
	cfg := config(t, t.TempDir())
	cfg.BinariesPath = t.TempDir()
	message := refused(t, cfg, embeddedpg.ErrNoBinaries)
	for _, part := range []string{cfg.BinariesPath, "apt install postgresql", "dnf install postgresql-server",
		"FSTALLY_DATABASE_URL", "make run"} {
		if !strings.Contains(message, part) {
			t.Errorf("message %q lacks %q", message, part)
		}
	}
}

func TestStartupErrorQuotesTheLog(t *testing.T) {
	dir := prepared(t)
	conf := filepath.Join(dataDir(dir), "postgresql.conf")
	if err := os.WriteFile(conf, []byte("no_such_setting = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := embeddedpg.Start(t.Context(), config(t, dir))
	if err == nil {
		stop(t, server)
	}
	if err == nil || !strings.Contains(err.Error(), "no_such_setting") {
		t.Errorf("Start: error %v, want the setting that Postgres complains about", err)
	}
}

func TestSupervisorThatDoesNotExist(t *testing.T) {
	cfg := config(t, prepared(t))
	cfg.Supervisor = []string{"/no/such/program"}
	if _, err := embeddedpg.Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("Start: error %v, want the program's name", err)
	}
	start(t, cfg.Dir) // the lock was given up
}

func TestRelativePathsAreRefused(t *testing.T) {
	cfg := config(t, "relative")
	if _, err := embeddedpg.Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), `"relative"`) {
		t.Errorf("Start: error %v, want the path", err)
	}
}
