package walk

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fstally/internal/usage"
)

// Watch shows from outside what the walkers of a walk are doing, also while they
// hang in system calls that nothing can call off: it never waits for a walker.
// The zero value is ready.
//
// Somebody has to call Tick about once a second. That is the clock of the watch:
// walkers do not read the time, which would cost as much as some of their system
// calls, they look whether the clock has moved on since their last answer.
type Watch struct {
	clock atomic.Int64 // nanoseconds that the walk was seen to run
	mu    sync.Mutex
	tick  time.Time // the latest
	begun int64     // by the clock: when the latest walk began
	posts []*post
	reads *reads // of engines that do not know who reads which directory
}

// maxTick is how much time one Tick lets pass. More than that between two means
// that the whole process stood still, and its walkers had no chance.
const maxTick = 5 * time.Second

// Tick lets the time pass that went by since the latest Tick.
func (w *Watch) Tick(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.tick.IsZero() {
		w.clock.Add(int64(min(max(0, now.Sub(w.tick)), maxTick)))
	}
	w.tick = now
}

// Quiet returns for how long no walker has had an answer from the file system, to
// the second.
func (w *Watch) Quiet() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := w.begun
	for _, p := range w.posts {
		last = max(last, p.since.Load())
	}
	return time.Duration(w.clock.Load() - last)
}

// Blocked is a walker that waits for an answer of the file system.
type Blocked struct {
	Path string // of the directory at hand, below the root; raw
	Op   string // open, readdir, stat; read where it is one of the first two
	For  time.Duration
}

// Blocked returns the walkers that have waited for at least so long, those that
// wait longest first.
func (w *Watch) Blocked(least time.Duration) []Blocked {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Load()
	var blocked []Blocked
	add := func(dir *usage.Dir, op operation, since int64) {
		if waited := time.Duration(now - since); waited >= least && op.name() != "" {
			b := Blocked{Op: op.name(), For: waited}
			if dir != nil {
				b.Path = dir.Path()
			}
			blocked = append(blocked, b)
		}
	}
	for _, p := range w.posts {
		add(p.dir.Load(), operation(p.op.Load()), p.since.Load())
	}
	w.reads.each(func(dir *usage.Dir, since int64) { add(dir, reading, since) })
	slices.SortFunc(blocked, func(a, b Blocked) int {
		return cmp.Or(cmp.Compare(b.For, a.For), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Op, b.Op))
	})
	return blocked
}

// walkers makes the posts of a walk that begins.
func (w *Watch) walkers(n int) []*post {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun, w.reads = w.clock.Load(), nil
	w.posts = make([]*post, n)
	for i := range w.posts {
		w.posts[i] = &post{clock: &w.clock}
		w.posts[i].since.Store(w.begun)
	}
	return w.posts
}

// readers makes room for the directories that so many walkers read at a time.
func (w *Watch) readers(n int) *reads {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads = &reads{clock: &w.clock, slots: make([]read, n)}
	return w.reads
}

// operation is what a walker does.
type operation uint32

const (
	idle    operation = iota // waits for a directory or for the limiter
	stating                  // of the entries of a directory, and of itself
	opening
	listing
	reading // opening or listing
)

// name is that of the operation on the file system; "" for none.
func (o operation) name() string {
	return [...]string{"", "stat", "open", "readdir", "read"}[o]
}

// post is where one walker tells what it does. Only the walker writes to it.
type post struct {
	clock *atomic.Int64
	dir   atomic.Pointer[usage.Dir]
	op    atomic.Uint32
	since atomic.Int64 // by the clock: of the latest answer
	_     [64]byte     // so that walkers do not share a line of the cache
}

// enter says that the walker does op in dir, nil for the own entry of the root.
func (p *post) enter(dir *usage.Dir, op operation) {
	p.dir.Store(dir)
	p.do(op)
}

// do says that the walker, which had an answer, does op in the same directory.
func (p *post) do(op operation) {
	p.op.Store(uint32(op))
	p.answered()
}

// answered says that the walker had an answer, and reports whether the clock has
// ticked since the one before. It costs two loads.
func (p *post) answered() (ticked bool) {
	now := p.clock.Load()
	if now == p.since.Load() {
		return false
	}
	p.since.Store(now)
	return true
}

// reads are the directories whose reading began last, one for each walker, but for
// those of which something was heard: in a file system that answers no more, they
// are those that are waited for. An empty directory looks the same.
type reads struct {
	clock *atomic.Int64
	mu    sync.Mutex
	turn  int
	slots []read
}

type read struct {
	dir   *usage.Dir // nil for none
	since int64
	turn  int
}

// begin says that a walker is about to read dir.
func (r *reads) begin(dir *usage.Dir) {
	r.mu.Lock()
	defer r.mu.Unlock()
	slot := 0 // a free one, or that of the directory which began first
	for i := range r.slots {
		if r.slots[i].dir == nil {
			slot = i
			break
		}
		if r.slots[i].turn < r.slots[slot].turn {
			slot = i
		}
	}
	r.turn++
	r.slots[slot] = read{dir, r.clock.Load(), r.turn}
}

// heard says that dir gives entries, or an error.
func (r *reads) heard(dir *usage.Dir) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.slots {
		if r.slots[i].dir == dir {
			r.slots[i].dir = nil
		}
	}
}

func (r *reads) each(f func(dir *usage.Dir, since int64)) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.slots {
		if s.dir != nil {
			f(s.dir, s.since)
		}
	}
}
