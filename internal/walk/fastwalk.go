package walk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
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
// (about 250 bytes each). A directory is opened by path right after its
// attributes were read; only within those microseconds could somebody put a
// symbolic link or a FIFO in its place that fastwalk would open. Engines that
// open relative to a directory with O_NOFOLLOW do not have that gap.
type Fastwalk struct{}

// Name implements Engine.
func (Fastwalk) Name() string { return "fastwalk" }

// Walk implements Engine.
func (Fastwalk) Walk(ctx context.Context, o Options, open func() Sink) (Report, error) {
	o = o.withDefaults()
	if err := ctx.Err(); err != nil {
		return Report{}, fmt.Errorf("walk %s: %w", usage.Escape(o.Root), err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	w := &fastwalker{
		ctx: ctx, stop: stop, o: o, start: o.start(),
		report: newReporter(), sinks: make(chan *collector, o.Walkers),
	}
	for range o.Walkers {
		w.sinks <- &collector{sink: open()}
	}
	// fastwalk knows no context: the callback refuses to go on.
	err := o.FS.Walk(w.start, o.Walkers, w.visit)
	if errors.Is(err, errStopped) {
		err = context.Cause(ctx)
	}
	if err != nil {
		return w.report.report(), fmt.Errorf("walk %s: %w", usage.Escape(o.Root), err)
	}
	return w.report.report(), nil
}

// fastwalker is one walk in progress.
type fastwalker struct {
	ctx    context.Context //nolint:containedctx // lives as long as the walk: fastwalk passes none
	stop   context.CancelCauseFunc
	o      Options
	start  string
	rules  *rules // set by the first visit, that of the root
	report *reporter
	dirs   dirTable
	sinks  chan *collector // those that no walker uses; as many as walkers, so one is always there
}

// collector is a sink with room for one entry, so that entries cost no allocation.
type collector struct {
	sink    Sink
	entries [1]usage.Entry
	name    []byte
}

// errStopped makes fastwalk return; why it stopped is the cause of ctx.
var errStopped = errors.New("walk stopped")

// visit is fastwalk's callback. A directory is visited right before it is read,
// by the walker that reads it, and again with an error when reading fails.
// fs.SkipDir may only be returned for directories: for others it would end the walk.
func (w *fastwalker) visit(path string, d fs.DirEntry, readErr error) (err error) {
	if w.ctx.Err() != nil {
		return errStopped
	}
	defer func() {
		if v := recover(); v != nil {
			err = w.fail(&PanicError{Path: path, Value: v, Stack: debug.Stack()})
		}
	}()
	if readErr != nil {
		return w.unreadable(path, readErr)
	}
	if err := w.wait(); err != nil {
		return err
	}
	c := <-w.sinks
	defer func() { w.sinks <- c }()
	if path == w.start {
		return w.root(c)
	}
	return w.entry(c, path, d)
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
	return w.wait()
}

func (w *fastwalker) entry(c *collector, path string, d fs.DirEntry) error {
	e, name := &c.entries[0], d.Name()
	mount, err := w.o.FS.Stat(path, e)
	if err != nil {
		w.report.failed("stat", w.below(path), err)
		return leave(d)
	}
	parent := w.dirs.get(path[:len(path)-len(name)-1])
	if reason := w.rules.skip(path, name, parent, e, mount); reason != "" {
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
	c.name = append(c.name[:0], name...)
	e.Name = c.name
	c.sink.Add(parent, c.entries[:])
	if e.Type != usage.Directory {
		return leave(d)
	}
	return w.wait()
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
	if path == w.start && op == "open" {
		return w.fail(err)
	}
	w.report.failed(op, w.below(path), err)
	return nil
}

// wait asks for one operation.
func (w *fastwalker) wait() error {
	if w.o.Limiter == nil {
		return nil
	}
	if err := w.o.Limiter.WaitN(w.ctx, 1); err != nil {
		return w.fail(err)
	}
	return nil
}

// fail ends the walk; the first reason is the one that is told.
func (w *fastwalker) fail(err error) error {
	w.stop(err)
	return errStopped
}

// below returns the path below the root.
func (w *fastwalker) below(path string) string {
	return strings.TrimPrefix(path[len(dirKey(w.o.Root)):], "/")
}
