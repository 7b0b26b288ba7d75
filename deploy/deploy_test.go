// Package deploy_test holds the files of this folder against the program.
package deploy_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var variable = regexp.MustCompile(`FSTALLY_[A-Z_]*[A-Z]`)

// TestVariables finds settings that a deployment sets and the program does not
// know: it would run with another database or time zone, and say nothing.
func TestVariables(t *testing.T) {
	t.Parallel()
	known := variables(t, programSources(t))
	// For the compose file itself, which says where the port is reached.
	known["FSTALLY_PORT"] = true

	set := variables(t, []string{
		"Dockerfile", "fstally.service", "fstally-scan@.service", "fstally-worker@.service",
		"fstally-push@.service", "package/push-example.conf", "package/fstally.env", "../docker-compose.yml",
	})
	if len(set) == 0 {
		t.Fatal("found no variable in the files of deploy")
	}
	var unknown []string
	for name := range set {
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	if len(unknown) > 0 {
		t.Errorf("set, but not read by the program: %v; it reads %v", unknown, slices.Sorted(maps.Keys(known)))
	}
}

// programSources returns the Go files of the program, without its tests.
func programSources(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, root := range []string{"../cmd", "../internal"} {
		err := filepath.WalkDir(root, func(name string, _ fs.DirEntry, err error) error {
			if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// variables returns the names of all settings in the files.
func variables(t *testing.T, files []string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range variable.FindAllString(string(content), -1) {
			found[match] = true
		}
	}
	return found
}
