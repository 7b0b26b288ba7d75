package postgrestest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// Dump returns what pg_dump says of the database at url: schema and rows, in the
// order in which they are stored. Equal databases have equal dumps.
func Dump(tb testing.TB, url string) []byte {
	tb.Helper()
	bin, err := findServer()
	if err != nil {
		tb.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(tb.Context(), filepath.Join(bin, "pg_dump"), "--no-owner", "--dbname="+url)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "PGTZ=UTC")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("pg_dump: %v\n%s", err, stderr.Bytes())
	}
	// A random word against injection, different each time.
	return regexp.MustCompile(`(?m)^\\(un)?restrict .*$`).ReplaceAll(out, nil)
}
