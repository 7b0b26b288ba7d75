package walk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"fstally/internal/usage"
)

// Mount is where a scan starts and what is known of the file system there.
type Mount struct {
	Root string // real path, symbolic links resolved; raw bytes
	// FSType is the name that belongs to the magic number of statfs(2), such as
	// xfs or nfs; the number in hex where it is not known; "" where there is none.
	FSType string
	// Network says that operations go to a server that others depend on.
	Network bool
	// Identity names the file system across reboots and hosts, see
	// usage.FileSystem; "" where nothing reliable is known.
	Identity   string
	Capacity   usage.Capacity
	MountPoint string // raw; "" where unknown
	Source     string // raw: device, server:export, ...; "" where unknown
}

// Problem is what is wrong with a root.
type Problem int

// The problems.
const (
	Unusable     Problem = iota // anything else
	Missing                     // does not exist
	NotDirectory                // is a file, a socket, ...
	Unreadable                  // may not be listed or searched
	NotAnswering                // no answer in time
)

// RootError says that a scan cannot start at Path, and what to do about it.
type RootError struct {
	Path    string // raw, as given
	Problem Problem
	Err     error // what the system said
}

func (e *RootError) Error() string {
	path := cmp.Or(usage.Escape(e.Path), `""`)
	switch e.Problem {
	case Missing:
		return path + " does not exist: check the spelling, and that its file system is mounted"
	case NotDirectory:
		return path + " is not a directory: name the directory to scan"
	case Unreadable:
		return fmt.Sprintf("%s may not be read by user id %d: run as a user who may read it, such as root (%v)",
			path, os.Geteuid(), e.Err)
	case NotAnswering:
		return path + " does not answer: its file server may be down; check the mount and try again (" + e.Err.Error() + ")"
	default:
		return path + " cannot be scanned: " + e.Err.Error()
	}
}

// Unwrap returns what the system said.
func (e *RootError) Unwrap() error { return e.Err }

// InspectTimeout bounds Inspect where its ctx sets no earlier deadline: a
// healthy server that is busy answers within a few seconds.
const InspectTimeout = 20 * time.Second

// Inspect resolves path and finds out whether a scan can start there. It
// returns a *RootError when not.
//
// It never waits longer than ctx and InspectTimeout allow. System calls on a
// dead network mount may hang for ever and cannot be called off: then the
// goroutine that made them stays behind until the mount answers.
func Inspect(ctx context.Context, path string) (Mount, error) {
	return inspectWith(ctx, path, inspect)
}

// inspectWith bounds the wait for inspect.
func inspectWith(ctx context.Context, path string, inspect func(string) (Mount, error)) (Mount, error) {
	ctx, cancel := context.WithTimeout(ctx, InspectTimeout)
	defer cancel()
	type answer struct {
		mount Mount
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		m, err := inspect(path)
		answers <- answer{m, err}
	}()
	select {
	case a := <-answers:
		return a.mount, a.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return Mount{}, fmt.Errorf("inspect %s: %w", usage.Escape(path), ctx.Err())
		}
		return Mount{}, &RootError{path, NotAnswering, ctx.Err()}
	}
}

// inspect does the work of Inspect; it may block.
func inspect(path string) (Mount, error) {
	root, err := resolve(path)
	if err != nil {
		return Mount{}, &RootError{path, problemOf(err), err}
	}
	m := Mount{Root: root}
	if err := m.describe(); err != nil {
		return Mount{}, &RootError{path, Unusable, err}
	}
	return m, nil
}

// resolve returns the real path of a directory that can be listed and searched.
func resolve(path string) (string, error) {
	if path == "" { // of a variable that is not set; Abs takes it for the working directory
		return "", syscall.ENOENT
	}
	root, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return "", err
	}
	info, err := os.Lstat(root)
	switch {
	case err != nil:
		return "", err
	case !info.IsDir(): // not opened: a FIFO would block
		return "", syscall.ENOTDIR
	}
	dir, err := os.Open(root)
	if err != nil {
		return "", err
	}
	defer func() { _ = dir.Close() }()
	if _, err := dir.Readdirnames(1); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if _, err := os.Lstat(root + "/."); err != nil { // without search permission every stat would fail
		return "", err
	}
	return root, nil
}

func problemOf(err error) Problem {
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return NotDirectory
	case errors.Is(err, fs.ErrNotExist):
		return Missing
	case errors.Is(err, fs.ErrPermission):
		return Unreadable
	default:
		return Unusable
	}
}

// DefaultWalkers returns how many directories to read at a time: on a network
// file system 4, which a metadata server does not notice beside its other
// clients; on a local one twice the cores, because half of the walkers wait for
// the disk.
func DefaultWalkers(m Mount) int {
	if m.Network {
		return 4
	}
	return 2 * runtime.NumCPU()
}

// DefaultOpsLimit returns the ceiling of operations per second, 0 for none. A
// metadata server does 10^4 to 10^5 of them for all of its clients; 2,000 leave
// it to them and still read 10^8 entries in 14 hours. Local disks have no others
// to share with whom the kernel would not share fairly.
func DefaultOpsLimit(m Mount) int {
	if m.Network {
		return 2000
	}
	return 0
}
