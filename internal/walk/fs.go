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
	// StatAll reads the attributes of entries into f, those of at most FoundMost
	// records as List writes them. What is called "." or ".." is none of them.
	StatAll(records []byte, f *Found)
	// OpenAt opens the subdirectory called name, which must be one and no symbolic
	// link to one.
	OpenAt(name string) (Directory, error)
	// List writes further entries to buf as getdents64(2) does, and returns how many
	// bytes it wrote: 0 after the last entry.
	List(buf []byte) (n int, err error)
	Close() error
}

// FoundMost is how many entries are looked at in one go.
const FoundMost = 64

// Found are entries of one directory with their attributes. Names are slices of the
// records that they come from. It is used again and again: see Reset.
type Found struct {
	Entries [FoundMost]usage.Entry // the first N are set
	Mounts  [FoundMost]uint64      // as FS.Stat tells them
	N       int
	Failed  []NotFound
}

// NotFound is an entry whose attributes could not be read.
type NotFound struct {
	Name []byte
	Err  error
}

// Next is where the attributes of the next entry go.
func (f *Found) Next() *usage.Entry { return &f.Entries[f.N] }

// Add counts the entry that Next gave, or notes the reason why it could not be read.
func (f *Found) Add(name []byte, mount uint64, err error) {
	if err != nil {
		f.Failed = append(f.Failed, NotFound{name, err})
		return
	}
	e := &f.Entries[f.N]
	e.Name, e.Dir = name, nil
	f.Mounts[f.N] = mount
	f.N++
}

// Reset forgets everything.
func (f *Found) Reset() { f.N, f.Failed = 0, f.Failed[:0] }

// NoMount is the mount of an automount point that nobody has entered yet.
const NoMount uint64 = 0

// OS returns the FS of the operating system.
func OS() FS { return new(osFS) }

// osFor returns it as a walk wants it.
func osFor(o *Options) FS { return &osFS{cached: o.Cached, pace: pace{local: o.Local}} }

// Walk implements FS.
func (*osFS) Walk(root string, walkers int, fn fs.WalkDirFunc) error {
	return fastwalk.Walk(&fastwalk.Config{NumWorkers: walkers}, root, fn)
}
