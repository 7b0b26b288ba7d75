package walk

import (
	"context"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"

	"fstally/internal/usage"
)

// Fastwalk lists with github.com/charlievieth/fastwalk and reads the attributes
// of each entry by its full path: simple, independent of everything that makes
// other engines fast, and so the one that they are held against.
//
// What follows from the library: one directory is read by one walker, however
// large it is; a directory deeper than PATH_MAX fails with ENAMETOOLONG; all
// directories' paths stay in memory, because the end of a directory is not told
// (about 250 bytes each).
//
// It is not for trees in which people who are not trusted can write while it
// walks: fastwalk opens a directory by path, right after its attributes were
// read, without O_DIRECTORY and O_NOFOLLOW. Whoever swaps the directory for a
// FIFO again and again makes the walk hang within seconds, and a symbolic link
// in its place is followed. [Linux] does not have that gap.
type Fastwalk struct{}

// Name implements Engine.
func (Fastwalk) Name() string { return "fastwalk" }

// Walk implements Engine.
func (Fastwalk) Walk(ctx context.Context, o Options, open func() Sink) (Report, error) {
	r, err := begin(ctx, o)
	if err != nil {
		return Report{}, err
	}
	defer r.stop(nil)
	w := &fastwalker{run: r, start: r.o.start(), sinks: make(chan *collector, r.o.Walkers)}
	for _, post := range r.o.Watch.walkers(r.o.Walkers) {
		w.sinks <- &collector{sink: open(), post: post}
	}
	w.reads = r.o.Watch.readers(r.o.Walkers)
	// fastwalk knows no context: the callback refuses to go on.
	return r.end(r.o.FS.Walk(w.start, r.o.Walkers, w.visit))
}

// fastwalker is one walk in progress; its rules are set by the first visit.
type fastwalker struct {
	*run
	start string
	dirs  dirTable
	reads *reads
	sinks chan *collector // those that no walker uses; as many as walkers, so one is always there
}

// collector is a sink with room for one entry, so that entries cost no allocation.
type collector struct {
	sink    Sink
	post    *post
	entries [1]usage.Entry
	name    []byte
}

// visit is fastwalk's callback. A directory is visited right before it is read,
// by the walker that reads it, and again with an error when reading fails.
// fs.SkipDir may only be returned for directories: for others it would end the walk.
func (w *fastwalker) visit(path string, d fs.DirEntry, readErr error) (err error) {
	if w.ctx.Err() != nil {
		return errStopped
	}
	defer func() { w.recovered(recover(), path, &err) }()
	if readErr != nil {
		return w.unreadable(path, readErr)
	}
	c := <-w.sinks
	defer func() {
		c.post.do(idle)
		w.sinks <- c
	}()
	var parent *usage.Dir
	if path != w.start {
		parent = w.dirs.get(path[:len(path)-len(d.Name())-1])
		w.reads.heard(parent)
	}
	c.post.enter(parent, stating)
	if err := w.wait(c.post); err != nil {
		return err
	}
	if path == w.start {
		return w.root(c)
	}
	return w.entry(c, parent, path, d)
}

// root begins the walk: what is below is judged by what the root is.
func (w *fastwalker) root(c *collector) error {
	e := &c.entries[0]
	rules, parent, err := newRules(&w.o, e)
	if err != nil {
		return w.fail(err)
	}
	w.rules = rules
	w.dirs.add(dirKey(w.start), e.Dir)
	c.sink.Add(parent, c.entries[:])
	return w.read(c, e.Dir)
}

// read lets fastwalk read the directory.
func (w *fastwalker) read(c *collector, dir *usage.Dir) error {
	err := w.wait(c.post)
	if err == nil {
		w.reads.begin(dir)
	}
	return err
}

func (w *fastwalker) entry(c *collector, parent *usage.Dir, path string, d fs.DirEntry) error {
	e, name := &c.entries[0], d.Name()
	mount, err := w.stat(path, e)
	if err != nil {
		w.report.failed("stat", w.below(path), err)
		return leave(d)
	}
	c.name = append(c.name[:0], name...)
	e.Name = c.name
	if reason := w.rules.skip(parent, e, mount); reason != "" {
		w.report.skip(reason, w.below(path))
		return leave(d)
	}
	e.Dir = nil
	if e.Type == usage.Directory {
		if !d.IsDir() {
			// Replaced since it was listed, or the file system lies about types:
			// either way what is in it will not be read.
			w.report.failed("readdir", w.below(path), unix.EISDIR)
			return nil
		}
		e.Dir = w.rules.dir(parent, name)
		if !w.dirs.add(path, e.Dir) {
			return fs.SkipDir // its name was listed twice
		}
	}
	c.sink.Add(parent, c.entries[:])
	if e.Type != usage.Directory {
		return leave(d)
	}
	return w.read(c, e.Dir)
}

// stat makes an error of a panic.
func (w *fastwalker) stat(path string, e *usage.Entry) (mount uint64, err error) {
	defer caught(&err)
	return w.o.FS.Stat(path, e)
}

// leave keeps fastwalk from reading what it listed as a directory.
func leave(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// unreadable takes the failure to read a directory that was counted already.
func (w *fastwalker) unreadable(path string, err error) error {
	op := readOp(err)
	w.reads.heard(w.dirs.get(dirKey(path)))
	if path == w.start && op == "open" {
		return w.fail(err)
	}
	w.report.failed(op, w.below(path), err)
	return nil
}

// below returns the path below the root.
func (w *fastwalker) below(path string) string {
	return strings.TrimPrefix(path[len(dirKey(w.o.Root)):], "/")
}
