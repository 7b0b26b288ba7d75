package walk

import (
	"context"
	"fmt"
	"path/filepath"

	"fstally/internal/usage"
)

// Options say what is walked and how gently.
type Options struct {
	// Root is the real path of a directory, symbolic links resolved; raw bytes.
	Root string
	// Part is the raw path below Root of the directory where the walk begins; ""
	// for Root itself. Everything is told as in a walk of Root, but for what is
	// not within Part.
	Part string
	// Walkers is the number of goroutines that read directories, at least 1.
	Walkers int
	// Limiter bounds the operations per second; nil for no bound. An operation
	// is the reading of one directory or one stat.
	Limiter Limiter
	// Fileset returns the key of the fileset that a directory belongs to. It is
	// called once per directory below the root, concurrently; nil for none.
	Fileset func(parent *usage.Dir, name string) string
	// Snapshots are exact names of snapshot directories, see DefaultSnapshots.
	Snapshots []string
	// Local says that the file system waits for no server.
	Local bool
	// Cached takes attributes as the kernel has them from the latest answer of a
	// server, see Freshness.
	Cached bool
	// FS does the operations; nil for the operating system.
	FS FS
	// Watch is told what the walkers do; nil for nobody. It serves one walk at a time.
	Watch *Watch
}

// withDefaults fills in what may be left out.
func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = osFor(&o)
	}
	if o.Watch == nil {
		o.Watch = new(Watch)
	}
	o.Root = filepath.Clean(o.Root) // so that what is below begins with Root and one slash
	o.Walkers = max(1, o.Walkers)
	return o
}

// start is the path where the walk begins.
func (o *Options) start() string {
	if o.Part == "" {
		return o.Root
	}
	return dirKey(o.Root) + "/" + o.Part
}

// Limiter waits until n more operations may be done, or returns an error when
// ctx ends. A *rate.Limiter of golang.org/x/time/rate is one.
type Limiter interface {
	WaitN(ctx context.Context, n int) error
}

// Sink takes entries. One sink is never called concurrently.
type Sink interface {
	// Add takes entries of dir, nil for the own entry of the root. The slice and the
	// names in it are valid until Add returns; the Dirs stay valid.
	Add(dir *usage.Dir, entries []usage.Entry)
	// Leave says that nothing of dir, nor of what is below it, will be added to any
	// sink any more. Engines that cannot tell never call it; others do for every
	// directory that was read or tried, children before their parent.
	Leave(dir *usage.Dir)
}

// Report is what a walk met beside entries.
type Report struct {
	Errors  []usage.ScanError // by Op, Errno
	Skipped []usage.Skipped   // by Reason
	// Vanished counts names that were gone when their attributes were asked
	// for, and directories that were gone when they were to be read.
	Vanished int64
}

// Engine is a way to walk a tree. All engines give the same entries, in no
// order, and the same report.
type Engine interface {
	// Name is what the scan's record calls the engine.
	Name() string
	// Walk hands every entry below o.Root, and the root itself, to the sinks
	// that open returns, at most one per walker. It returns an error only when
	// ctx ends, when the root cannot be read at all, or when a sink or the FS
	// panics (a *PanicError); the entries and the report are then incomplete.
	// No goroutine and no call of a sink outlives it.
	Walk(ctx context.Context, o Options, open func() Sink) (Report, error)
}

// DefaultSnapshots returns the names that storage systems give to directories
// of snapshots: GPFS and btrfs tools, NetApp, ZFS, Isilon and Qumulo.
func DefaultSnapshots() []string {
	return []string{".snapshots", ".snapshot", ".zfs", "~snapshot"}
}

// PanicError is a fault in a sink or a FS. The walk stops for it, because what
// the sink has summed up can no longer be trusted.
type PanicError struct {
	Path  string // raw, of the entry at hand
	Value any    // what was thrown
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("fault at %s: %v\n%s", usage.Escape(e.Path), e.Value, e.Stack)
}
