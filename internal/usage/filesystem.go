package usage

import (
	"fmt"
	"regexp"
	"time"
)

// FileSystem is one mounted tree that is watched.
type FileSystem struct {
	ID            int64
	Name          string // see ValidateName
	Root          string // real path, raw bytes
	Identity      string // UUID, server:export or cluster name; "" where unknown
	Type          string // xfs, nfs4, lustre, gpfs, ...; "" before the first scan
	SizeClasses   SizeClasses
	Filesets      FilesetRules
	Walkers       int           // directories read at a time; 0 chooses by file-system type
	OpsLimit      int           // operations per second; 0 chooses by file-system type, -1 for none
	StallAfter    time.Duration // without an entry read, until a scan is given up; 0 for never; whole minutes
	Nice          int           // of the scanner, 0 to 19; see nice(2)
	IdleIO        bool          // the scanner's disk access waits for everybody else's; see ioprio_set(2)
	MemoryLimit   int64         // bytes of memory that the scanner may use; 0 for no limit
	Worker        string        // who scans it: "" for fstally serve, else the fstally worker of this name
	CurrentScanID int64         // the latest published scan; 0 before the first
	Demo          bool          // invented data
	Created       time.Time
}

// FilesetRules say which directories are filesets.
type FilesetRules struct {
	Depth int            // each directory at this depth under the root; 0 for none
	Named []NamedFileset // override Depth inside their subtree; the deepest wins
}

// NamedFileset gives one directory a name of its own.
type NamedFileset struct {
	Path string // raw, below the root, no leading or trailing slash
	Name string // raw; "" to be called by its path
}

// NewFileSystem returns a file system with the settings that a new one gets.
func NewFileSystem(name, root string) FileSystem {
	return FileSystem{
		Name: name, Root: root, SizeClasses: DefaultSizeClasses(), Filesets: FilesetRules{Depth: 1},
		StallAfter: 30 * time.Minute, Nice: 10, IdleIO: true,
	}
}

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9._-]{0,62}$`)

// ValidateName reports a name of a file system that cannot stand in an address.
// A name starts with a letter, so it is never taken for a numeric id.
func ValidateName(name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("%q is not a name for a file system: use a lower-case letter, then up to 62 of a-z 0-9 . _ -", name)
	}
	return nil
}

var workerPattern = regexp.MustCompile(`^[a-z0-9]+([_-][a-z0-9]+)*$`) // what River takes for a queue

// ValidateWorker reports a name that a worker cannot have.
func ValidateWorker(name string) error {
	if len(name) > 40 || !workerPattern.MatchString(name) {
		return fmt.Errorf("%q is not a name for a worker: use up to 40 of a-z 0-9, with single _ and - between them", name)
	}
	return nil
}

// Capacity is what statfs(2) said when a scan started; zero where unknown.
type Capacity struct {
	Size        Bytes // of the file system
	Free        Bytes // unused blocks, those reserved for root included
	Available   Bytes // to ordinary users
	InodesTotal int64 // 0 where the file system makes inodes as it needs them
	InodesFree  int64
	BlockSize   int64  // f_frsize
	Source      string // what told it, such as "statfs"; "" where nothing did
}

// Used returns the space in use, as df shows it.
func (c Capacity) Used() Bytes { return c.Size.Sub(c.Free) }
