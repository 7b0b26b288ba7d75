package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDemo fills a small demo, shows it, and tries to fill it again.
func TestDemo(t *testing.T) {
	dataDir := filepath.Join(t.TempDir(), "data")
	args := []string{"demo", "--years=0.1", "--users=20", "--until=2026-06-30"}
	p := start(t, dataDir, args...)
	checkDemo(t, p)
	if _, err := os.Stat(filepath.Join(dataDir, "demo", "postgres")); err != nil {
		t.Errorf("the demo is not in a folder of its own: %v", err)
	}
	p.stop()

	code, said := fails(t, dataDir, args...)
	if code != exitConflict || !strings.Contains(said, "fstally serve --data-dir "+filepath.Join(dataDir, "demo")) {
		t.Errorf("a second demo in the same place: exit code %d, %s", code, said)
	}
	checkDemo(t, serve(t, filepath.Join(dataDir, "demo")))
}

func checkDemo(t *testing.T, p *program) {
	t.Helper()
	var answer struct {
		Items []struct {
			Name        string
			Demo        bool
			CurrentScan struct{ Day string } `json:"current_scan"`
		}
	}
	p.get("/api/v1/filesystems", &answer)
	if len(answer.Items) != 2 {
		t.Fatalf("file systems: %+v", answer.Items)
	}
	paths := []string{"/"}
	for _, fs := range answer.Items {
		if !fs.Demo || fs.CurrentScan.Day != "2026-06-30" {
			t.Errorf("file system %+v", fs)
		}
		paths = append(paths, "/fs/"+fs.Name+"/capacity", "/fs/"+fs.Name+"/files")
	}
	for _, path := range paths {
		if !strings.Contains(p.page(path).Text(), "Invented data.") {
			t.Errorf("%s does not say that it is invented", path)
		}
	}
	var top struct{ Items []struct{ Name string } }
	p.get("/api/v1/filesystems/scratch/top/users?by=allocated&limit=10", &top)
	if len(top.Items) != 10 {
		t.Errorf("%d of the ten largest users", len(top.Items))
	}
}

func TestDemoRefuses(t *testing.T) {
	dataDir := filepath.Join(t.TempDir(), "data")
	for _, args := range [][]string{{"--years=0"}, {"--years=NaN"}, {"--users=1"}, {"--until=tomorrow"}} {
		if code, said := fails(t, dataDir, append([]string{"demo"}, args...)...); code != exitUsage {
			t.Errorf("demo %q: exit code %d, %s", args, code, said)
		}
	}
}
