//go:build linux

package walk_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"fstally/internal/usage"
	"fstally/internal/walk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seen is an entry as a test compares it.
type seen struct {
	Type    usage.EntryType
	Links   uint32
	Size    int64
	Blocks  int64
	UID     uint32
	GID     uint32
	Mtime   int64
	Atime   int64
	Inode   uint64
	Fileset string
}

// collection is what a walk gave. Its sinks share it under a lock, each of them
// checking that nobody else is in it.
type collection struct {
	t testing.TB

	mu      sync.Mutex
	sinks   int
	entries map[string]seen
	times   map[string]int // that a path came
	dirs    map[string]*usage.Dir
}

type sink struct {
	*collection
	busy sync.Mutex
}

func (s *sink) Leave(*usage.Dir) {}

func (s *sink) Add(dir *usage.Dir, entries []usage.Entry) {
	if !s.busy.TryLock() {
		s.t.Error("a sink is called concurrently")
		return
	}
	defer s.busy.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range entries {
		s.add(dir, &e)
	}
}

func (c *collection) add(dir *usage.Dir, e *usage.Entry) {
	path, fileset := "", ""
	if dir == nil {
		if e.Dir == nil || e.Dir.Parent != nil || len(e.Name) != 0 {
			c.t.Errorf("entry %q in no directory is not the root", e.Name)
		}
	} else {
		path, fileset = dir.Join(e.Name), dir.Fileset
	}
	if (e.Type == usage.Directory) != (e.Dir != nil) {
		c.t.Errorf("%q of type %d has the Dir %v", path, e.Type, e.Dir)
	}
	if e.Dir != nil {
		fileset = e.Dir.Fileset
		if e.Dir.Parent != dir || e.Dir.Name != string(e.Name) {
			c.t.Errorf("the Dir of %q is %+v", path, e.Dir)
		}
		c.dirs[path] = e.Dir
	}
	atime := e.Atime
	if e.Type == usage.Directory {
		atime = 0 // the walk itself changes it
	}
	c.times[path]++
	c.entries[path] = seen{
		e.Type, e.Nlink, e.Size, e.Blocks, e.UID, e.GID, e.Mtime, atime, e.Ino, fileset,
	}
}

// paths returns the paths of what was counted, sorted.
func (c *collection) paths() []string {
	var paths []string
	for path, n := range c.times {
		for range n {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// engines are all of them: a test that does not say which holds for each.
func engines() []walk.Engine { return walk.Engines() }

// eachEngine runs a test that does with one walk for all engines.
func eachEngine(t *testing.T, test func(*testing.T, walk.Engine)) {
	t.Helper()
	for _, engine := range engines() {
		t.Run(engine.Name(), func(t *testing.T) { test(t, engine) })
	}
}

// tryWalk walks and returns whatever came of it.
func tryWalk(ctx context.Context, tb testing.TB, engine walk.Engine, o walk.Options) (*collection, walk.Report, error) {
	tb.Helper()
	c := &collection{t: tb, entries: map[string]seen{}, times: map[string]int{}, dirs: map[string]*usage.Dir{}}
	report, err := engine.Walk(ctx, o, func() walk.Sink {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.sinks++
		return &sink{collection: c}
	})
	if c.sinks > max(1, o.Walkers) {
		tb.Errorf("%d sinks for %d walkers", c.sinks, o.Walkers)
	}
	return c, report, err
}

// doWalk walks with every engine and several numbers of walkers, which must make
// no difference.
func doWalk(tb testing.TB, o walk.Options) (*collection, walk.Report) {
	tb.Helper()
	return doWalkWith(tb, o, engines()...)
}

func doWalkWith(tb testing.TB, o walk.Options, engines ...walk.Engine) (*collection, walk.Report) {
	tb.Helper()
	var (
		first       *collection
		firstReport walk.Report
	)
	for _, engine := range engines {
		for _, n := range []int{1, 2, 7, 64} {
			o.Walkers = n
			c, report, err := tryWalk(tb.Context(), tb, engine, o)
			if err != nil {
				tb.Fatal(err)
			}
			if first == nil {
				first, firstReport = c, report
				continue
			}
			diff := cmp.Diff(first.entries, c.entries) + cmp.Diff(first.times, c.times) + cmp.Diff(firstReport, report)
			if diff != "" {
				tb.Fatalf("%s with %d walkers gives something else: %s", engine.Name(), n, diff)
			}
		}
	}
	return first, firstReport
}

// wantPaths compares the paths of a walk, the root's "" aside.
func wantPaths(tb testing.TB, c *collection, want ...string) {
	tb.Helper()
	want = append([]string{}, want...) // not nil
	slices.Sort(want)
	got := c.paths()
	if len(got) == 0 || got[0] != "" {
		tb.Errorf("the root is not counted: %q", got)
		return
	}
	if diff := cmp.Diff(want, got[1:]); diff != "" {
		tb.Errorf("paths: %s", diff)
	}
}

func wantSkipped(tb testing.TB, r walk.Report, want ...usage.Skipped) {
	tb.Helper()
	if diff := cmp.Diff(want, r.Skipped); diff != "" {
		tb.Errorf("skipped: %s", diff)
	}
}

func skipped(reason usage.SkipReason, paths ...string) usage.Skipped {
	return usage.Skipped{Reason: reason, Count: int64(len(paths)), Paths: paths}
}

func wantErrors(tb testing.TB, r walk.Report, want ...usage.ScanError) {
	tb.Helper()
	for i := range want {
		if want[i].Count == 0 {
			want[i].Count = int64(len(want[i].Paths))
		}
	}
	if diff := cmp.Diff(want, r.Errors); diff != "" {
		tb.Errorf("errors: %s", diff)
	}
}

func failure(op, errno, message string, paths ...string) usage.ScanError {
	return usage.ScanError{Op: op, Errno: errno, Message: message, Paths: paths}
}
