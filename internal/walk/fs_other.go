//go:build unix && !linux

package walk

import (
	"os"

	"golang.org/x/sys/unix"

	"fstally/internal/usage"
)

// osFS is the operating system.
type osFS struct{}

// Stat implements FS with lstat(2).
func (*osFS) Stat(path string, e *usage.Entry) (mount uint64, err error) {
	return lstat(unix.AT_FDCWD, path, e)
}

// OpenDir implements FS.
func (*osFS) OpenDir(path string) (Directory, error) {
	f, err := os.OpenFile(path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	return &directory{f}, nil
}

// directory is a Directory of the operating system.
type directory struct{ *os.File }

// Stat implements Directory.
func (d *directory) Stat(e *usage.Entry) (mount uint64, err error) { return d.StatAt("", e) }

// StatAt implements Directory.
func (d *directory) StatAt(name string, e *usage.Entry) (mount uint64, err error) {
	return lstat(int(d.Fd()), name, e)
}

// ReadOnlySubvolume implements FS: btrfs is of Linux only.
func (*osFS) ReadOnlySubvolume(string) bool { return false }
