package postgrestest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"fstally/internal/postgres"
)

// Dump returns what pg_dump says of the database at url: schema and rows, in the
// order in which they are stored; without the queue. Equal databases have equal dumps.
func Dump(tb testing.TB, url string) []byte {
	tb.Helper()
	program, err := findDump()
	if err != nil {
		tb.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(tb.Context(), program,
		"--no-owner", "--exclude-schema="+postgres.QueueSchema, "--dbname="+url)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "PGTZ=UTC")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("pg_dump: %v\n%s", err, stderr.Bytes())
	}
	// A random word against injection, different each time.
	return regexp.MustCompile(`(?m)^\\(un)?restrict .*$`).ReplaceAll(out, nil)
}

// findDump returns the pg_dump of the distribution, the newest if there are several.
func findDump() (string, error) {
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin/pg_dump", "/usr/pgsql-*/bin/pg_dump"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			return slices.Max(found), nil
		}
	}
	return exec.LookPath("pg_dump")
}
