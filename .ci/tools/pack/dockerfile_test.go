package main

import (
	"bufio"
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// TestDockerfile reads the Dockerfile as the builder would, and holds it against
// the repository, since no image can be built in a test.
func TestDockerfile(t *testing.T) {
	t.Chdir("../../..")
	stages := parseDockerfile(t, "deploy/Dockerfile")
	if len(stages) != 2 {
		t.Fatalf("%d stages, want one that builds and one that runs", len(stages))
	}
	build, run := stages[0], stages[1]

	module := string(readFile(t, "go.mod"))
	version := strings.TrimPrefix(build.BaseName, "golang:")
	version, _, _ = strings.Cut(version, "-")
	if !strings.Contains(module, "\ngo "+version+"\n") && !strings.Contains(module, "\ngo "+version+".0\n") {
		t.Errorf("builds with Go %s, which is not that of go.mod", version)
	}

	sent := sentToBuilder(t, "deploy/Dockerfile.dockerignore")
	for _, source := range copied(build) {
		if _, err := os.Stat(source); err != nil {
			t.Errorf("copies what is not there: %v", err)
		}
		if !sent[source] {
			t.Errorf("copies %s, which Dockerfile.dockerignore holds back", source)
		}
		delete(sent, source)
	}
	if len(sent) > 0 {
		t.Errorf("sends to the builder what it does not use: %v", sent)
	}

	var user, entry string
	healthy := false
	for _, c := range run.Commands {
		switch c := c.(type) {
		case *instructions.UserCommand:
			user = c.User
		case *instructions.EntrypointCommand:
			entry = strings.Join(c.CmdLine, " ")
		case *instructions.HealthCheckCommand:
			healthy = true
		}
	}
	if user == "" || user == "root" || user == "0" {
		t.Errorf("runs as %q", user)
	}
	if entry != "fstally" || !healthy {
		t.Errorf("entry point %q, health check %v", entry, healthy)
	}
}

func parseDockerfile(t *testing.T, name string) []instructions.Stage {
	t.Helper()
	parsed, err := parser.Parse(bytes.NewReader(readFile(t, name)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, w := range parsed.Warnings {
		t.Errorf("%s: %s", name, w.Short)
	}
	lint := linter.New(&linter.Config{Warn: func(rule, _, _, message string, at []parser.Range) {
		t.Errorf("%s:%v: %s (%s)", name, at, message, rule)
	}})
	stages, _, err := instructions.Parse(parsed.AST, lint)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return stages
}

// copied returns what a stage takes from the repository.
func copied(stage instructions.Stage) (sources []string) {
	for _, c := range stage.Commands {
		if c, ok := c.(*instructions.CopyCommand); ok && c.From == "" {
			sources = append(sources, c.SourcePaths...)
		}
	}
	return sources
}

// sentToBuilder returns what a dockerignore that starts with a refusal of all lets
// through. Paths below that which it holds back again are not looked at.
func sentToBuilder(t *testing.T, name string) map[string]bool {
	t.Helper()
	sent := map[string]bool{}
	var first string
	for lines := bufio.NewScanner(bytes.NewReader(readFile(t, name))); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		switch path, allowed := strings.CutPrefix(line, "!"); {
		case line == "" || line[0] == '#':
		case first == "":
			first = line
		case allowed:
			sent[path] = true
		}
	}
	if diff := cmp.Diff("*", first); diff != "" {
		t.Errorf("%s does not start with a refusal of all (-want +got):\n%s", name, diff)
	}
	return sent
}
