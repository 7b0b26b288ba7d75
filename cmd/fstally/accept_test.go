package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// An administrator empties a directory on purpose, looks at the scan that nobody
// believes, and says that it is right.
func TestAcceptSuspectScan(t *testing.T) {
	dir := t.TempDir()
	dataDir, root := filepath.Join(dir, "data"), filepath.Join(dir, "root")
	for i := range 20 {
		name := filepath.Join(root, "d", strconv.Itoa(i))
		if err := os.MkdirAll(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	fstally(t, dataDir, "scan", "--name", "lab", root)
	if code, said := fails(t, dataDir, "fs", "accept", "lab"); code != exitConflict || !strings.Contains(said, "not suspect") {
		t.Errorf("accepting a clean scan: exit code %d; it said: %s", code, said)
	}
	if err := os.RemoveAll(filepath.Join(root, "d")); err != nil {
		t.Fatal(err)
	}
	fstally(t, dataDir, "scan", root)
	if out := fstally(t, dataDir, "fs", "show", "lab"); !strings.Contains(out, "suspect") {
		t.Fatalf("an emptied directory is believed: %s", out)
	}
	if code, _ := fails(t, dataDir, "fs", "accept", "lab", "4711"); code != exitNotFound {
		t.Errorf("accepting no scan: exit code %d", code)
	}
	if out := fstally(t, dataDir, "fs", "reject", "lab"); !strings.Contains(out, "Scan 2 of lab is rejected") {
		t.Errorf("it said: %s", out)
	}
	if out := fstally(t, dataDir, "fs", "show", "lab"); !strings.Contains(out, "suspect (rejected)") {
		t.Errorf("nothing is seen of it: %s", out)
	}
	if out := fstally(t, dataDir, "fs", "accept", "lab"); !strings.Contains(out, "Scan 2 of lab is accepted, and clean.") {
		t.Errorf("it said: %s", out)
	}
	if out := fstally(t, dataDir, "fs", "show", "lab"); strings.Contains(out, "suspect") {
		t.Errorf("it is suspect still: %s", out)
	}
}
