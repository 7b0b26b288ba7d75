package main

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/files"
)

// bundleFormat is what entries of listFile that are for the bundle alone call it.
const bundleFormat = "bundle"

// bundled stands at the top of the bundle, beside root/, which has the files of the
// packages under the paths at which they are installed.
var bundled = []bundleFile{
	{"INSTALL.md", "docs/install.md", 0o644},
	{"install.sh", "deploy/package/install.sh", 0o755},
	{"postinstall.sh", "deploy/package/postinstall.sh", 0o755},
	{"docker-compose.yml", "docker-compose.yml", 0o644},
}

// bundleFile is a file of the bundle: its name in it, where it comes from, and its
// mode.
type bundleFile struct {
	name, source string
	mode         os.FileMode
}

// writeBundle writes the bundle and returns its name.
func (l list) writeBundle(out string) (string, error) {
	info, err := l.read(bundleFormat)
	if err != nil {
		return "", err
	}
	if err := nfpm.PrepareForPackager(info, bundleFormat); err != nil {
		return "", fmt.Errorf("list what goes into the bundle: %w", err)
	}
	content := slices.Clone(bundled)
	for _, c := range info.Contents {
		if c.Type != files.TypeImplicitDir && c.Type != files.TypeDir {
			content = append(content, bundleFile{path.Join("root", c.Destination), c.Source, c.Mode()})
		}
	}
	slices.SortFunc(content, func(a, b bundleFile) int { return cmp.Compare(a.name, b.name) })

	top := fmt.Sprintf("fstally-%s-linux-%s", l.version, l.arch)
	name := top + ".tar.gz"
	return name, writeFile(filepath.Join(out, name), func(w io.Writer) error {
		zipped, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		archive := tar.NewWriter(zipped)
		if err := l.archive(archive, top, content); err != nil {
			return err
		}
		if err := archive.Close(); err != nil {
			return err
		}
		return zipped.Close()
	})
}

// archive writes the files below the folder top, and SHA256SUMS of them.
func (l list) archive(w *tar.Writer, top string, content []bundleFile) error {
	var sums strings.Builder
	for _, f := range content {
		data, err := os.ReadFile(f.source)
		if err != nil {
			return err
		}
		if err := l.add(w, path.Join(top, f.name), f.mode, data); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), f.name)
	}
	return l.add(w, path.Join(top, "SHA256SUMS"), 0o644, []byte(sums.String()))
}

func (l list) add(w *tar.Writer, name string, mode os.FileMode, data []byte) error {
	header := &tar.Header{
		Name: name, Mode: int64(mode.Perm()), Size: int64(len(data)), ModTime: l.time,
		Uname: "root", Gname: "root", Format: tar.FormatPAX,
	}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}
