package walk

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"fstally/internal/usage"
)

// Linux lists with getdents64(2) and reads the attributes of each entry with
// statx(2), by its name as the kernel wrote it and relative to its open directory:
// no path is ever put together, and nothing is allocated per entry. A directory is
// opened from its parent, so depth is not bounded by PATH_MAX, and is left alone
// unless it is the inode that was listed, whatever others do to the tree meanwhile.
// All walkers share the entries of a large directory.
type Linux struct{}

// Name implements Engine.
func (Linux) Name() string { return "linux" }

// Walk implements Engine.
func (Linux) Walk(ctx context.Context, o Options, open func() Sink) (Report, error) {
	r, err := begin(ctx, o)
	if err != nil {
		return Report{}, err
	}
	defer r.stop(nil)
	w := &linuxWalk{run: r, queue: newQueue()}
	w.handles = newHandles(r.o.FS, r.o.start(), w.same)
	//nolint:contextcheck // it is the context that was handed in, with a cause
	defer context.AfterFunc(r.ctx, w.queue.close)()
	defer w.handles.closeSpare(0)
	walkers := make([]*walker, r.o.Walkers)
	for i, post := range r.o.Watch.walkers(len(walkers)) {
		walkers[i] = &walker{linuxWalk: w, post: post, sink: open()}
	}
	if err := walkers[0].start(); err != nil {
		return r.end(err)
	}
	var wg sync.WaitGroup
	for _, walker := range walkers {
		wg.Go(walker.work)
	}
	wg.Wait()
	if w.root.left.Load() > 0 {
		return r.end(errStopped)
	}
	return r.end(nil)
}

// linuxWalk is one walk in progress.
type linuxWalk struct {
	*run
	queue   *queue
	batches batches
	handles *handles
	root    *node // where the walk begins
}

var (
	errOtherMount = errors.New("on another mount")
	errReplaced   = fmt.Errorf("not the directory that was listed: %w", unix.ENOENT)
)

// same reports whether the open directory is the one that was listed. A mount
// that came with opening it, as automounts do, is another one too.
func (w *linuxWalk) same(n *node, open Directory) error {
	var e usage.Entry
	mount, err := open.Stat(&e)
	switch {
	case err != nil:
		return &statError{err}
	case mount != w.rules.mount:
		return errOtherMount
	case e.Dev != n.dev || e.Ino != n.ino:
		return errReplaced
	default:
		return nil
	}
}

// statError is an error of reading the attributes of an open directory.
type statError struct{ error }

func (e *statError) Unwrap() error { return e.error }

// walker is one goroutine of the walk.
type walker struct {
	*linuxWalk
	post *post
	sink Sink

	looked Found   // at the entries of the chunk at hand
	found  []*node // directories among them
	atOnce int     // entries that are looked at before anything else
}

// start hands the root to the sink and to the queue.
func (w *walker) start() (err error) {
	defer func() { w.recovered(recover(), w.o.start(), &err) }()
	w.post.enter(nil, stating)
	if err := w.wait(w.post); err != nil {
		return err
	}
	e := &w.looked.Entries[0]
	rules, parent, err := newRules(&w.o, e)
	if err != nil {
		return err
	}
	w.rules = rules
	w.root = newNode(nil, e)
	w.sink.Add(parent, w.looked.Entries[:1])
	w.queue.push([]*node{w.root})
	w.post.do(idle)
	return nil
}

// work does what the queue has until there is nothing left or the walk is stopped.
func (w *walker) work() {
	for {
		w.post.do(idle)
		b, chunk, n := w.queue.next()
		switch {
		case b != nil:
			w.chunk(b, chunk)
		case n != nil:
			w.directory(n)
		default:
			return
		}
	}
}

// stopped reports that the walk ended early.
func (w *walker) stopped() bool { return w.ctx.Err() != nil }

// directory reads one directory, or puts it aside half read.
func (w *walker) directory(n *node) {
	if !w.read(n) {
		w.worked(n)
	}
}

// read reads the directory to its end, or until it was put aside.
func (w *walker) read(n *node) (aside bool) {
	w.post.enter(n.dir, opening)
	if n.reading == nil && !w.open(n) {
		return false
	}
	for !w.stopped() {
		more, err := w.list(n)
		switch {
		case err != nil:
			w.report.failed("readdir", n.dir.Path(), err)
			return false
		case !more:
			return false
		case w.queue.putAside(n):
			return true
		}
	}
	return false
}

// open opens the directory for reading.
func (w *walker) open(n *node) bool {
	if w.wait(w.post) != nil {
		return false
	}
	open, err := w.handles.acquire(n)
	if err != nil {
		w.unopened(n, err)
		return false
	}
	n.reading = open
	return true
}

// unopened takes the failure to open a directory that was counted already.
func (w *walker) unopened(n *node, err error) {
	switch {
	case n == w.root:
		_ = w.fail(err)
	case errors.Is(err, errOtherMount):
		w.report.skip(usage.SkipMount, n.dir.Path())
	case errors.As(err, new(*statError)):
		w.report.failed("stat", n.dir.Path(), err)
	default:
		w.report.failed("open", n.dir.Path(), err)
	}
}

// list reads further entries and their attributes, but for those that others will.
// It returns false after the last.
func (w *walker) list(n *node) (more bool, err error) {
	w.post.do(listing)
	b := w.batches.get()
	size, err := listInto(b.buf, n.reading)
	if err != nil || size == 0 {
		w.batches.put(b)
		return false, err
	}
	sense := b.cut(n, size)
	n.work.Add(1)
	n.listed.reserve(b.entries)
	for chunk := b.take(); chunk != nil; chunk = b.take() {
		w.attributes(n, b.open, chunk)
		b.left.Add(-1)
		if w.leaves(b) {
			break
		}
	}
	w.done(b)
	if !sense {
		return false, errNoSense
	}
	return true, nil
}

// listInto makes an error of a panic.
func listInto(buf []byte, open Directory) (size int, err error) {
	defer caught(&err)
	return open.List(buf)
}

var errNoSense = fmt.Errorf("entries that make no sense: %w", unix.EUCLEAN)

// readAhead is how many chunks per walker may wait while a directory is read on.
const readAhead = 4

// leaves reports whether the rest of b is for others. They get it as soon as one of
// them has nothing to do, and whoever reads the directory reads on, unless much
// waits already.
func (w *walker) leaves(b *batch) bool {
	if !b.shared.Load() {
		if w.queue.idle.Load() == 0 || b.waiting() == 0 {
			return false
		}
		w.queue.share(b)
	}
	return w.queue.shared() < readAhead*w.o.Walkers
}

// chunk reads the attributes of a chunk that another walker's batch had.
func (w *walker) chunk(b *batch, records []byte) {
	w.post.enter(b.node.dir, stating)
	w.attributes(b.node, b.open, records)
	w.done(b)
}

// done ends the hold of a chunk, or of whoever read b.
func (w *walker) done(b *batch) {
	if b.left.Add(-1) > 0 {
		return
	}
	if b.shared.Load() {
		w.queue.unshare(b)
	}
	n := b.node
	w.batches.put(b)
	w.worked(n)
}

// worked ends the reading of n or of a batch of it. After the last, only what is
// below is still to come; and when that has come too, n is left, and what is above
// it likewise.
func (w *walker) worked(n *node) {
	if w.stopped() || n.work.Add(-1) > 0 {
		return
	}
	if n.reading != nil {
		w.handles.release(n)
	}
	n.listed.forget()
	for n.left.Add(-1) == 0 {
		w.handles.close(n)
		w.leave(n.dir)
		if n == w.root {
			w.queue.close()
			return
		}
		n = n.parent
	}
}

// leave tells the sink.
func (w *walker) leave(dir *usage.Dir) {
	defer func() { w.blame(recover(), dir) }()
	w.sink.Leave(dir)
}

// attributes reads those of the entries in a chunk.
func (w *walker) attributes(n *node, open Directory, records []byte) {
	w.post.do(stating)
	for len(records) > 0 && !w.stopped() {
		run := records[:w.run(records)]
		records = records[len(run):]
		w.looked.Reset()
		if w.o.Limiter != nil && !DotName(DirentName(run)) && w.wait(w.post) != nil {
			return
		}
		if err := statAll(run, open, &w.looked); err != nil {
			w.statEach(run, open)
		}
		w.flush(n)
		// A slow walk takes minutes for a chunk, but shows its progress.
		if w.post.answered() || w.o.Limiter != nil {
			w.atOnce = 1
		} else {
			w.atOnce = min(2*max(1, w.atOnce), FoundMost)
		}
	}
}

// run returns the length of as many records as are looked at in one go.
func (w *walker) run(records []byte) (length int) {
	if w.atOnce >= chunkSize {
		return len(records)
	}
	for n := 0; n < max(1, w.atOnce) && length < len(records); n++ {
		length += NextDirent(records[length:])
	}
	return length
}

// statAll makes an error of a panic.
func statAll(records []byte, open Directory, f *Found) (err error) {
	defer caught(&err)
	open.StatAll(records, f)
	return nil
}

// statEach looks at entries one by one, after looking at all of them went wrong.
func (w *walker) statEach(records []byte, open Directory) {
	w.looked.Reset()
	for len(records) > 0 {
		record := records[:NextDirent(records)]
		records = records[len(record):]
		if err := statAll(record, open, &w.looked); err != nil {
			name := DirentName(record)
			w.looked.Add(name[:len(name)-1], NoMount, err)
		}
	}
}

// flush hands on what was looked at.
func (w *walker) flush(n *node) {
	for _, f := range w.looked.Failed {
		w.report.failed("stat", n.dir.Join(f.Name), f.Err)
	}
	if w.looked.N == 0 {
		return
	}
	defer func() { w.blame(recover(), n.dir) }()
	all := w.looked.Entries[:w.looked.N]
	kept := all[:0]
	n.listed.mu.Lock()
	for i := range all {
		if w.counts(n, &all[i], w.looked.Mounts[i]) {
			if len(kept) < i {
				all[len(kept)] = all[i]
			}
			kept = all[:len(kept)+1]
		}
	}
	n.listed.mu.Unlock()
	if len(kept) > 0 {
		w.sink.Add(n.dir, kept)
	}
	if len(w.found) > 0 {
		w.queue.push(w.found)
		clear(w.found)
		w.found = w.found[:0]
	}
}

// counts reports whether the entry belongs to the scan. A directory that does will
// be read. n.listed must be locked.
func (w *walker) counts(n *node, e *usage.Entry, mount uint64) bool {
	if reason := w.rules.skip(n.dir, e, mount); reason != "" {
		w.report.skip(reason, n.dir.Join(e.Name))
		return false
	}
	if n.listed.again(e, n.dev) {
		return false
	}
	if e.Type == usage.Directory {
		e.Dir = w.rules.dir(n.dir, string(e.Name))
		w.found = append(w.found, newNode(n, e))
	}
	return true
}

// blame ends the walk for a panic of the sink: its sums are not to be trusted.
func (w *walker) blame(thrown any, dir *usage.Dir) {
	if thrown != nil {
		var err error
		w.recovered(thrown, w.rules.root+"/"+dir.Path(), &err)
	}
}
