package walk

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"fstally/internal/usage"
)

// reporter folds what goes wrong or is left out during a walk. Whatever the
// order of the calls, the report is the same. Methods are safe for concurrent use.
type reporter struct {
	vanished atomic.Int64

	mu      sync.Mutex
	errors  map[failure]*usage.ScanError
	skipped map[usage.SkipReason]*usage.Skipped
}

type failure struct{ op, errno string }

func newReporter() *reporter {
	return &reporter{
		errors:  make(map[failure]*usage.ScanError),
		skipped: make(map[usage.SkipReason]*usage.Skipped),
	}
}

// failed takes an error of op at the path below the root. What is gone is no
// error: it was removed, or replaced by something else, while the walk went on.
func (r *reporter) failed(op, path string, err error) {
	errno := unix.Errno(0)
	if errors.As(err, &errno) && (errno == unix.ENOENT || errno == unix.ENOTDIR) {
		r.vanished.Add(1)
		return
	}
	name, message := "unknown", err.Error()
	if errno != 0 {
		message = errno.Error()
		if known := unix.ErrnoName(errno); known != "" {
			name = known
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.errors[failure{op, name}]
	if e == nil {
		e = &usage.ScanError{Op: op, Errno: name, Message: message}
		r.errors[failure{op, name}] = e
	}
	e.Message = min(e.Message, message)
	e.Count++
	e.Paths = sample(e.Paths, path)
}

// skip takes a path below the root that was left out.
func (r *reporter) skip(reason usage.SkipReason, path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.skipped[reason]
	if s == nil {
		s = &usage.Skipped{Reason: reason}
		r.skipped[reason] = s
	}
	s.Count++
	s.Paths = sample(s.Paths, path)
}

// report returns what was folded so far.
func (r *reporter) report() Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	result := Report{Vanished: r.vanished.Load()}
	for _, e := range r.errors {
		result.Errors = append(result.Errors, *e)
	}
	for _, s := range r.skipped {
		result.Skipped = append(result.Skipped, *s)
	}
	slices.SortFunc(result.Errors, func(a, b usage.ScanError) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Errno, b.Errno))
	})
	slices.SortFunc(result.Skipped, func(a, b usage.Skipped) int { return cmp.Compare(a.Reason, b.Reason) })
	return result
}

// sample keeps the bytewise smallest MaxSamples paths, sorted.
func sample(paths []string, path string) []string {
	i, _ := slices.BinarySearch(paths, path)
	switch {
	case len(paths) < usage.MaxSamples:
		return slices.Insert(paths, i, path)
	case i < len(paths):
		copy(paths[i+1:], paths[i:])
		paths[i] = path
	}
	return paths
}

// readOp tells which operation failed when a directory was read.
func readOp(err error) string {
	var at *fs.PathError
	switch {
	case errors.As(err, &at) && at.Op == "open":
		return "open"
	case errors.As(err, &at) && at.Op == "lstat":
		return "stat"
	default:
		return "readdir"
	}
}
