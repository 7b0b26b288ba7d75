//go:build unix && !linux

package walk

import (
	"errors"

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
func (*osFS) OpenDir(string) (Directory, error) { return nil, errors.ErrUnsupported }

// ReadOnlySubvolume implements FS: btrfs is of Linux only.
func (*osFS) ReadOnlySubvolume(string) bool { return false }
