package walk

import (
	"context"
	"errors"
	"io"
	"sync"

	"fstally/internal/usage"
)

// Openat reads the attributes of entries relative to their open directory, and
// opens nothing but directories, whatever others do to the tree meanwhile: a
// directory that is not the inode that was listed is left alone. Depth is not
// bounded by PATH_MAX. One directory is read by one walker.
type Openat struct{}

// Name implements Engine.
func (Openat) Name() string { return "openat" }

// Walk implements Engine.
func (Openat) Walk(ctx context.Context, o Options, open func() Sink) (Report, error) {
	r, err := begin(ctx, o)
	if err != nil {
		return Report{}, err
	}
	defer r.stop(nil)
	walkers := make([]*openatWalker, r.o.Walkers)
	queue := newDirQueue()
	for i, post := range r.o.Watch.walkers(len(walkers)) {
		walkers[i] = &openatWalker{run: r, post: post, queue: queue, sink: open(), subdirs: make(map[string]bool)}
	}
	//nolint:contextcheck // it is the context that was handed in, with a cause
	defer context.AfterFunc(r.ctx, queue.close)()
	if err := walkers[0].start(); err != nil {
		return r.end(err)
	}
	var wg sync.WaitGroup
	for _, w := range walkers {
		wg.Go(w.walk)
	}
	wg.Wait()
	if queue.left() {
		return r.end(errStopped)
	}
	return r.end(nil)
}

const (
	namesAtOnce = 1024 // that are read before their attributes are
	batchSize   = 128  // entries that a sink gets at once
)

// openatWalker is one goroutine of the walk.
type openatWalker struct {
	*run
	post    *post
	queue   *dirQueue
	sink    Sink
	batch   []usage.Entry
	names   []byte          // what the names in batch are made of
	subdirs map[string]bool // of the directory at hand, by name
}

// start hands the root to the sink and to the queue.
func (w *openatWalker) start() (err error) {
	defer func() { w.recovered(recover(), w.o.start(), &err) }()
	w.post.enter(nil, stating)
	if err := w.wait(w.post); err != nil {
		return err
	}
	var e usage.Entry
	rules, parent, err := newRules(&w.o, &e)
	if err != nil {
		return err
	}
	w.rules = rules
	w.sink.Add(parent, []usage.Entry{e})
	w.queue.push(pendingDir{e.Dir, e.Dev, e.Ino})
	w.post.do(idle)
	return nil
}

// walk reads directories until none is left or the walk is stopped.
func (w *openatWalker) walk() {
	for {
		w.post.do(idle)
		d, ok := w.queue.pop()
		if !ok {
			return
		}
		if err := w.read(d); err != nil {
			w.queue.close() // and d stays unfinished
			return
		}
		w.queue.done()
	}
}

// read reads one directory. An error, which is errStopped, ends the walk.
func (w *openatWalker) read(d pendingDir) (err error) {
	defer func() { w.recovered(recover(), w.rules.root+"/"+d.dir.Path(), &err) }()
	w.post.enter(d.dir, opening)
	if err := w.wait(w.post); err != nil {
		return err
	}
	path := w.o.Root
	if d.dir.Parent != nil {
		path = w.rules.root + "/" + d.dir.Path()
	}
	open, err := w.o.FS.OpenDir(path)
	if err != nil {
		if path == w.o.start() {
			return w.fail(err)
		}
		w.report.failed("open", d.dir.Path(), err)
		return nil
	}
	defer func() { _ = open.Close() }()
	w.post.do(stating)
	if !w.same(d, open) {
		return nil
	}
	clear(w.subdirs)
	for {
		w.post.do(listing)
		names, err := open.Readdirnames(namesAtOnce)
		if stopped := w.entries(d.dir, open, names); stopped != nil {
			return stopped
		}
		switch {
		case errors.Is(err, io.EOF), err == nil && len(names) == 0:
			return nil
		case err != nil:
			w.report.failed("readdir", d.dir.Path(), err)
			return nil
		}
	}
}

// same reports whether the open directory is the one that was listed. A mount
// that came with opening it, as automounts do, is another one too.
func (w *openatWalker) same(d pendingDir, open Directory) bool {
	var e usage.Entry
	mount, err := open.Stat(&e)
	switch {
	case err != nil:
		w.report.failed("stat", d.dir.Path(), err)
	case mount != w.rules.mount:
		w.report.skip(usage.SkipMount, d.dir.Path())
	case e.Dev != d.dev || e.Ino != d.ino:
		w.report.vanished.Add(1)
	default:
		return true
	}
	return false
}

// entries reads the attributes of names and hands them on.
func (w *openatWalker) entries(dir *usage.Dir, open Directory, names []string) error {
	w.post.do(stating)
	for _, name := range names {
		if w.ctx.Err() != nil {
			return errStopped
		}
		if err := w.wait(w.post); err != nil {
			return err
		}
		w.entry(dir, open, name)
		// A slow walk fills no batch for minutes, but shows its progress.
		if w.post.answered() || len(w.batch) == batchSize {
			w.flush(dir)
		}
	}
	w.flush(dir)
	return nil
}

// entry reads the attributes of one entry into the batch, unless it is left out.
func (w *openatWalker) entry(dir *usage.Dir, open Directory, name string) {
	w.batch = append(w.batch, usage.Entry{})
	e := &w.batch[len(w.batch)-1]
	if !w.counted(dir, open, name, e) {
		w.batch = w.batch[:len(w.batch)-1]
		return
	}
	start := len(w.names)
	w.names = append(w.names, name...)
	e.Name = w.names[start:len(w.names):len(w.names)]
}

// counted fills in e but for its name and reports whether it belongs to the scan.
func (w *openatWalker) counted(dir *usage.Dir, open Directory, name string, e *usage.Entry) bool {
	mount, err := open.StatAt(name, e)
	if err != nil {
		w.report.failed("stat", dir.Join([]byte(name)), err)
		return false
	}
	if reason := w.rules.skip(dir, name, e, mount); reason != "" {
		w.report.skip(reason, dir.Join([]byte(name)))
		return false
	}
	if e.Type != usage.Directory {
		return true
	}
	if w.subdirs[name] {
		return false // listed twice, as may happen while entries come and go
	}
	w.subdirs[name] = true
	e.Dir = w.rules.dir(dir, name)
	w.queue.push(pendingDir{e.Dir, e.Dev, e.Ino})
	return true
}

// flush hands the batch to the sink.
func (w *openatWalker) flush(dir *usage.Dir) {
	if len(w.batch) > 0 {
		w.sink.Add(dir, w.batch)
		w.batch, w.names = w.batch[:0], w.names[:0]
	}
}
