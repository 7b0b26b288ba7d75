package walk

import (
	"io/fs"

	"github.com/charlievieth/fastwalk"

	"fstally/internal/usage"
)

// FS is the file system as the engines need it. Its errors are, or wrap, a
// syscall.Errno. Implementations are safe for concurrent use.
type FS interface {
	// Walk lists everything below root, as fastwalk.Walk does without following
	// symbolic links.
	Walk(root string, walkers int, fn fs.WalkDirFunc) error
	// Stat reads the attributes of path itself into every field of e but Name
	// and Dir, and tells which mount it is on: a number that only serves to
	// compare, NoMount for a place where another one would be mounted.
	Stat(path string, e *usage.Entry) (mount uint64, err error)
	// ReadOnlySubvolume reports whether the directory at path is the root of a
	// read-only btrfs subvolume, that is a snapshot. It opens the directory.
	ReadOnlySubvolume(path string) bool
}

// NoMount is the mount of an automount point that nobody has entered yet.
const NoMount uint64 = 0

// OS returns the FS of the operating system.
func OS() FS { return new(osFS) }

// Walk implements FS.
func (*osFS) Walk(root string, walkers int, fn fs.WalkDirFunc) error {
	return fastwalk.Walk(&fastwalk.Config{NumWorkers: walkers}, root, fn)
}
