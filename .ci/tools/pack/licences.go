package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licenceFile is what licences and the notices that go with them are called.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)([-_.].*)?$`)

// bundledScripts has the licences of what the script in the binary is made of; the
// web build writes it.
const bundledScripts = "web/static/dist/LICENSES.txt"

// writeLicences writes the licences of all that is compiled into the program. They
// ask for it: each wants its text to go with every copy.
func writeLicences(ctx context.Context, name, arch string) error {
	var text bytes.Buffer
	text.WriteString("fstally contains code of the projects below, under their licences.\n")
	modules, err := compiledIn(ctx, arch)
	if err != nil {
		return err
	}
	for _, m := range modules {
		if err := appendLicences(&text, m); err != nil {
			return err
		}
	}
	scripts, err := os.ReadFile(bundledScripts)
	if err != nil {
		return fmt.Errorf("read the licences of the bundled scripts: %w", err)
	}
	text.WriteByte('\n')
	text.Write(scripts)
	if err := os.WriteFile(name, text.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write the licences: %w", err)
	}
	return nil
}

// module is one that is compiled in, with the folder of its source.
type module struct{ Path, Version, Dir string }

// compiledIn lists Go, and the modules of which a package is in the program.
func compiledIn(ctx context.Context, arch string) ([]module, error) {
	goRoot, err := goCommand(ctx, arch, "env", "GOROOT")
	if err != nil {
		return nil, fmt.Errorf("find the licence of Go: %w", err)
	}
	out, err := goCommand(ctx, arch, "list", "-deps", "-json=Module", "./cmd/fstally")
	if err != nil {
		return nil, fmt.Errorf("list what is compiled in: %w", err)
	}
	var modules []module
	for packages := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Module *struct {
				module
				Main bool
			}
		}
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("list what is compiled in: %w", err)
		}
		if p.Module != nil && !p.Module.Main {
			modules = append(modules, p.Module.module)
		}
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	modules = slices.Compact(modules)
	return append([]module{{Path: "Go", Dir: strings.TrimSpace(string(goRoot))}}, modules...), nil
}

// goCommand returns what a go command prints for a program of that architecture.
func goCommand(ctx context.Context, arch string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// appendLicences adds the files at the top of the source of m.
func appendLicences(text *bytes.Buffer, m module) error {
	files, err := os.ReadDir(m.Dir)
	if err != nil {
		return fmt.Errorf("find the licence of %s: %w", m.Path, err)
	}
	found := false
	for _, file := range files {
		if file.IsDir() || !licenceFile.MatchString(file.Name()) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(m.Dir, file.Name()))
		if err != nil {
			return fmt.Errorf("read the licence of %s: %w", m.Path, err)
		}
		line := strings.Repeat("=", 78)
		fmt.Fprintf(text, "\n%s\n%s %s (%s)\n%s\n\n%s\n", line, m.Path, m.Version, file.Name(), line, bytes.TrimSpace(content))
		found = true
	}
	if !found {
		return fmt.Errorf("%s %s has no licence in %s: whether it may be passed on is not known", m.Path, m.Version, m.Dir)
	}
	return nil
}
