package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the format
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers the format
)

// listFile says what is in the packages.
const listFile = "deploy/package/nfpm.yaml"

// list is listFile with its variables filled in.
type list struct {
	version          string // valid for deb and rpm
	arch             string // as GOARCH
	binary, licences string // paths of what is made for the packages
	time             time.Time
}

// read returns the list for a format: deb, rpm, or that of the bundle.
func (l list) read(format string) (*nfpm.Info, error) {
	variables := map[string]string{"VERSION": l.version, "ARCH": l.arch, "BINARY": l.binary, "LICENCES": l.licences}
	config, err := nfpm.ParseFileWithEnvMapping(listFile, func(name string) string { return variables[name] })
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", listFile, err)
	}
	info, err := config.Get(format)
	if err != nil {
		return nil, fmt.Errorf("read %s for %s: %w", listFile, format, err)
	}
	info.MTime = l.time
	return nfpm.WithDefaults(info), nil
}

// writePackage writes a package in a format that nfpm knows, and returns its name.
func (l list) writePackage(out, format string) (name string, err error) {
	packager, err := nfpm.Get(format)
	if err != nil {
		return "", fmt.Errorf("make a %s: %w", format, err)
	}
	info, err := l.read(format)
	if err != nil {
		return "", err
	}
	name = packager.ConventionalFileName(info)
	return name, writeFile(filepath.Join(out, name), func(w io.Writer) error { return packager.Package(info, w) })
}

// writeFile writes a file that is whole or not there.
func writeFile(name string, write func(io.Writer) error) (err error) {
	file, err := os.CreateTemp(filepath.Dir(name), ".pack-*")
	if err != nil {
		return fmt.Errorf("make %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	err = errors.Join(write(file), file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("make %s: %w", name, err)
	}
	return nil
}

// writeSums writes SHA256SUMS of the files in the folder out, in the form that
// sha256sum --check reads, and returns its name.
func writeSums(out string, names []string) (string, error) {
	var sums strings.Builder
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			return "", fmt.Errorf("sum up the packages: %w", err)
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), name)
	}
	return "SHA256SUMS", writeFile(filepath.Join(out, "SHA256SUMS"), func(w io.Writer) error {
		_, err := io.WriteString(w, sums.String())
		return err
	})
}
