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
	// OpenDir opens the directory at path, of any length, which must be one and
	// no symbolic link to one. It is errors.ErrUnsupported where nobody needs it.
	OpenDir(path string) (Directory, error)
	// ReadOnlySubvolume reports whether the directory at path is the root of a
	// read-only btrfs subvolume, that is a snapshot. It opens the directory.
	ReadOnlySubvolume(path string) bool
}

// Directory is an open directory. Only one goroutine lists it; the other methods
// are safe for concurrent use.
type Directory interface {
	// Stat reads the attributes of the directory itself, as FS.Stat does.
	Stat(e *usage.Entry) (mount uint64, err error)
	// StatAt reads the attributes of an entry; name ends in a zero byte, as
	// [Directory.List] gives it.
	StatAt(name []byte, e *usage.Entry) (mount uint64, err error)
	// OpenAt opens the subdirectory called name, which must be one and no symbolic
	// link to one.
	OpenAt(name string) (Directory, error)
	// List writes further entries to buf as getdents64(2) does, and returns how many
	// bytes it wrote: 0 after the last entry.
	List(buf []byte) (n int, err error)
	Close() error
}

// NoMount is the mount of an automount point that nobody has entered yet.
const NoMount uint64 = 0

// OS returns the FS of the operating system.
func OS() FS { return new(osFS) }

// Walk implements FS.
func (*osFS) Walk(root string, walkers int, fn fs.WalkDirFunc) error {
	return fastwalk.Walk(&fastwalk.Config{NumWorkers: walkers}, root, fn)
}
