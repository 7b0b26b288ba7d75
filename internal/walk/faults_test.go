//go:build linux

package walk_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"fstally/internal/usage"
	"fstally/internal/walk"
	"fstally/internal/walk/walktest"
	"fstally/test/tree"
)

// faulty makes a tree of two directories of three files and puts faults under it.
func faulty(t *testing.T, faults map[string]*walktest.Fault) walk.Options {
	t.Helper()
	root := t.TempDir()
	three := tree.Dir{"1": tree.File{Size: 1}, "2": tree.File{Size: 2}, "3": tree.File{Size: 3}}
	tree.Make(t, root, tree.Dir{"a": three, "b": three})
	return walk.Options{Root: root, FS: &walktest.FS{Root: root, Faults: faults}}
}

func TestErrorsAreData(t *testing.T) {
	c, report := doWalk(t, faulty(t, map[string]*walktest.Fault{
		"a":   {Read: unix.EIO},
		"b/1": {Stat: unix.ESTALE},
		"b/2": {Stat: &fs.PathError{Op: "lstat", Path: "x", Err: unix.EACCES}},
		"b/3": {Stat: errors.New("the dog ate it")},
	}))
	wantPaths(t, c, "a", "b")
	wantErrors(t, report,
		failure("readdir", "EIO", "input/output error", "a"),
		failure("stat", "EACCES", "permission denied", "b/2"),
		failure("stat", "ESTALE", "stale file handle", "b/1"),
		failure("stat", "unknown", "the dog ate it", "b/3"))
}

func TestReadingFailsHalfway(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine walk.Engine) {
		o := faulty(t, map[string]*walktest.Fault{"a": {Read: unix.EIO, ReadAfter: 2}})
		o.Walkers = 3
		c, report, err := tryWalk(t.Context(), t, engine, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(c.paths()); got != 1+2+3+2 {
			t.Errorf("%q counted, want all but one entry of a, and a once", c.paths())
		}
		wantErrors(t, report, failure("readdir", "EIO", "input/output error", "a"))
	})
}

func TestVanished(t *testing.T) {
	c, report := doWalk(t, faulty(t, map[string]*walktest.Fault{
		"a":   {Open: unix.ENOENT},
		"b/1": {Stat: unix.ENOENT},
		"b/2": {Stat: unix.ENOTDIR},
	}))
	wantPaths(t, c, "a", "b", "b/3")
	wantErrors(t, report)
	if report.Vanished != 3 {
		t.Errorf("%d vanished, want 3", report.Vanished)
	}
}

func TestReplacedBetweenListingAndStat(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine walk.Engine) {
		var o walk.Options
		swap := func(path string, put func(path string) error) func() {
			return func() {
				if err := errors.Join(os.RemoveAll(o.Root+path), put(o.Root+path)); err != nil {
					t.Error(err)
				}
			}
		}
		o = faulty(t, map[string]*walktest.Fault{
			"a":   {BeforeStat: swap("/a", func(path string) error { return os.Symlink("/etc", path) })},
			"b/1": {BeforeStat: swap("/b/1", func(path string) error { return os.Mkdir(path, 0o755) })},
			"b/2": {BeforeStat: swap("/b/2", func(path string) error { return unix.Mkfifo(path, 0o644) })},
		})
		o.Walkers = 2
		c, report, err := tryWalk(t.Context(), t, engine, o)
		if err != nil {
			t.Fatal(err)
		}
		if c.entries["a"].Type != usage.Symlink || c.entries["b/2"].Type != usage.Special {
			t.Errorf("a = %+v, b/2 = %+v", c.entries["a"], c.entries["b/2"])
		}
		if engine == (walk.Engine(walk.Linux{})) {
			wantPaths(t, c, "a", "b", "b/1", "b/2", "b/3")
			wantErrors(t, report)
			return
		}
		// fastwalk takes b/1 for what was listed. What is in it is not known: that must show.
		wantPaths(t, c, "a", "b", "b/2", "b/3")
		wantErrors(t, report, failure("readdir", "EISDIR", "is a directory", "b/1"))
	})
}

func TestReplacedBetweenStatAndOpen(t *testing.T) {
	var o walk.Options
	swap := func(put func(path string) error) *walktest.Fault {
		return &walktest.Fault{Change: func(*usage.Entry, *uint64) {
			if err := errors.Join(os.Rename(o.Root+"/a", o.Root+"/moved"), put(o.Root+"/a")); err != nil {
				t.Error(err)
			}
		}}
	}
	for name, fault := range map[string]*walktest.Fault{
		"nothing":             swap(func(string) error { return nil }),
		"a symbolic link":     swap(func(path string) error { return os.Symlink("moved", path) }),
		"a FIFO":              swap(func(path string) error { return unix.Mkfifo(path, 0o644) }),
		"a file":              swap(func(path string) error { return os.WriteFile(path, nil, 0o600) }),
		"another directory":   swap(func(path string) error { return os.Mkdir(path, 0o755) }),
		"a look-alike device": {Opened: func(e *usage.Entry, _ *uint64) { e.Dev++ }},
	} {
		t.Run(name, func(t *testing.T) {
			o = faulty(t, map[string]*walktest.Fault{"a": fault})
			o.Walkers = 1
			c, report, err := tryWalk(t.Context(), t, walk.Linux{}, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{"a/1", "moved/1"} {
				if _, found := c.entries[path]; found {
					t.Errorf("%s is counted", path)
				}
			}
			if report.Vanished != 1 || len(report.Errors) != 0 {
				t.Errorf("report = %+v, want a to have vanished", report)
			}
		})
	}
}

// Opening a directory may mount another file system on it.
func TestAutomount(t *testing.T) {
	o := faulty(t, map[string]*walktest.Fault{"a": {Opened: func(_ *usage.Entry, mount *uint64) { *mount++ }}})
	c, report := doWalkWith(t, o, walk.Linux{})
	wantPaths(t, c, "a", "b", "b/1", "b/2", "b/3")
	wantSkipped(t, report, skipped(usage.SkipMount, "a"))
}

func TestWildAttributes(t *testing.T) {
	c, _ := doWalk(t, faulty(t, map[string]*walktest.Fault{
		"a/1": {Change: func(e *usage.Entry, _ *uint64) { e.UID, e.GID = 1<<32-1, 1<<32-1 }},
	}))
	if got := c.entries["a/1"]; got.UID != 1<<32-1 || got.GID != 1<<32-1 {
		t.Errorf("a/1 = %+v", got)
	}
}

func TestNamesListedTwice(t *testing.T) {
	c, _ := doWalk(t, faulty(t, map[string]*walktest.Fault{"": {Twice: true}}))
	wantPaths(t, c, "a", "a/1", "a/2", "a/3", "b", "b/1", "b/2", "b/3")
}

func TestOtherMountByNumber(t *testing.T) {
	other := func(_ *usage.Entry, mount *uint64) { *mount++ }
	automount := func(_ *usage.Entry, mount *uint64) { *mount = walk.NoMount }
	c, report := doWalk(t, faulty(t, map[string]*walktest.Fault{
		"a": {Change: other}, "b": {Change: automount},
	}))
	wantPaths(t, c)
	wantSkipped(t, report, skipped(usage.SkipMount, "a", "b"))
}

func TestRootThatCannotBeRead(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine walk.Engine) {
		for name, fault := range map[string]*walktest.Fault{
			"stat":      {Stat: unix.EACCES},
			"open":      {Open: unix.EACCES},
			"automount": {Change: func(_ *usage.Entry, mount *uint64) { *mount = walk.NoMount }},
		} {
			t.Run(name, func(t *testing.T) {
				o := faulty(t, map[string]*walktest.Fault{"": fault})
				_, _, err := tryWalk(t.Context(), t, engine, o)
				if err == nil || !strings.Contains(err.Error(), o.Root) {
					t.Errorf("error %v does not name %s", err, o.Root)
				}
			})
		}
	})
}

func TestSamplesDoNotDependOnTiming(t *testing.T) {
	root := t.TempDir()
	d, faults := tree.Dir{}, map[string]*walktest.Fault{}
	var want []string
	for i := range 40 {
		sub := tree.Dir{}
		for j := range 5 {
			name := fmt.Sprint(j)
			sub[name] = tree.File{}
			path := fmt.Sprintf("%02d/%s", i, name)
			faults[path] = &walktest.Fault{Stat: unix.EIO}
			want = append(want, path)
		}
		d[fmt.Sprintf("%02d", i)] = sub
	}
	tree.Make(t, root, d)
	_, report := doWalk(t, walk.Options{Root: root, FS: &walktest.FS{Root: root, Faults: faults}})
	all := failure("stat", "EIO", "input/output error", want[:usage.MaxSamples]...)
	all.Count = int64(len(want))
	wantErrors(t, report, all)
}

func TestPanicCostsItsEntry(t *testing.T) {
	c, report := doWalk(t, faulty(t, map[string]*walktest.Fault{"a/2": {BeforeStat: func() { panic("boom") }}}))
	wantPaths(t, c, "a", "a/1", "a/3", "b", "b/1", "b/2", "b/3")
	wantErrors(t, report, failure("stat", "unknown", "fault: boom", "a/2"))
}

type panickingSink struct{}

func (panickingSink) Add(*usage.Dir, []usage.Entry) { panic("boom") }
func (panickingSink) Leave(*usage.Dir)              {}

func TestPanicOfASink(t *testing.T) {
	o := faulty(t, nil)
	o.Walkers = 3
	for _, engine := range engines() {
		_, err := engine.Walk(t.Context(), o, func() walk.Sink { return panickingSink{} })
		if !errors.As(err, new(*walk.PanicError)) {
			t.Errorf("%s: error = %v", engine.Name(), err)
		}
	}
}

func TestCancel(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine walk.Engine) {
		for _, walkers := range []int{1, 7} {
			ctx, cancel := context.WithCancel(t.Context())
			var after atomic.Int64
			// The first stat of a file in b cancels and returns late; nothing new begins then.
			stop := &walktest.Fault{BeforeStat: func() {
				cancel()
				<-ctx.Done()
			}}
			faults := map[string]*walktest.Fault{"b/1": stop, "b/2": stop, "b/3": stop}
			for _, path := range []string{"a", "a/1", "a/2", "a/3"} {
				faults[path] = &walktest.Fault{BeforeStat: func() {
					if ctx.Err() != nil {
						after.Add(1)
					}
				}}
			}
			o := faulty(t, faults)
			o.Walkers = walkers
			_, _, err := tryWalk(ctx, t, engine, o)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error = %v", err)
			}
			if n := after.Load(); n > int64(walkers) {
				t.Errorf("%d operations began after the cancel", n)
			}
		}
	})
}

func TestCancelledBeforeItBegins(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine walk.Engine) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		c, _, err := tryWalk(ctx, t, engine, faulty(t, nil))
		if !errors.Is(err, context.Canceled) || len(c.entries) != 0 {
			t.Errorf("error = %v, entries %q", err, c.paths())
		}
	})
}

// counter is a limiter that grants a number of operations.
type counter struct {
	granted atomic.Int64
	limit   int64
}

var errEnough = errors.New("enough")

func (c *counter) WaitN(_ context.Context, n int) error {
	if c.granted.Add(int64(n)) > c.limit {
		return errEnough
	}
	return nil
}

func TestLimiterIsAskedForEachOperation(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine walk.Engine) {
		o := faulty(t, nil)
		limiter := &counter{limit: 1000}
		o.Walkers, o.Limiter = 3, limiter
		c, _, err := tryWalk(t.Context(), t, engine, o)
		if want := int64(len(c.paths()) + 3); err != nil || limiter.granted.Load() != want {
			t.Errorf("%d operations, %v, want %d: a stat per entry, a read per directory", limiter.granted.Load(), err, want)
		}
		o.Limiter = &counter{limit: 4}
		if _, _, err := tryWalk(t.Context(), t, engine, o); !errors.Is(err, errEnough) {
			t.Errorf("error = %v", err)
		}
	})
}

// listing is an FS whose tree is a list of paths: slashes at the end mark
// directories. It serves to walk "/" without walking this machine.
type listing []string

func (l listing) Walk(_ string, _ int, fn fs.WalkDirFunc) error {
	for _, path := range l {
		if err := fn(path, listed(path), nil); err != nil && err != fs.SkipDir { //nolint:errorlint // as fastwalk compares
			return err
		}
	}
	return nil
}

func (l listing) Stat(path string, e *usage.Entry) (uint64, error) {
	*e = usage.Entry{Type: usage.File, Nlink: 1}
	if slices.Contains([]string{"/", "/etc"}, path) {
		e.Type = usage.Directory
	}
	return 1, nil
}

func (listing) ReadOnlySubvolume(string) bool { return false }

func (l listing) OpenDir(path string) (walk.Directory, error) { return &listedDir{l, path, false}, nil }

// listedDir is an open directory of a listing.
type listedDir struct {
	l    listing
	path string
	read bool
}

func (d *listedDir) Stat(e *usage.Entry) (uint64, error) { return d.l.Stat(d.path, e) }

func (d *listedDir) StatAll(records []byte, f *walk.Found) {
	for len(records) > 0 {
		record := records[:walk.NextDirent(records)]
		records = records[len(record):]
		name := walk.DirentName(record)
		name = name[:len(name)-1]
		mount, err := d.l.Stat(filepath.Join(d.path, string(name)), f.Next())
		f.Add(name, mount, err)
	}
}

func (d *listedDir) OpenAt(name string) (walk.Directory, error) {
	return d.l.OpenDir(filepath.Join(d.path, name))
}

func (d *listedDir) List(buf []byte) (int, error) {
	if d.read {
		return 0, nil
	}
	d.read = true
	records := buf[:0]
	for _, path := range d.l {
		if path != d.path && filepath.Dir(path) == d.path {
			records = walk.AppendDirent(records, 0, filepath.Base(path))
		}
	}
	return len(records), nil
}

func (d *listedDir) Close() error { return nil }

// listed is the entry of a path in a listing.
type listed string

func (l listed) Name() string               { return string(l)[strings.LastIndexByte(string(l), '/')+1:] }
func (l listed) IsDir() bool                { return l == "/" || l == "/etc" }
func (l listed) Type() fs.FileMode          { return 0 }
func (l listed) Info() (fs.FileInfo, error) { return nil, fs.ErrInvalid }

func TestTheRootOfTheMachine(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine walk.Engine) {
		c, _, err := tryWalk(t.Context(), t, engine, walk.Options{Root: "/", FS: listing{"/", "/etc", "/x", "/etc/passwd"}})
		if err != nil {
			t.Fatal(err)
		}
		wantPaths(t, c, "etc", "etc/passwd", "x")
	})
}
