package walk

import (
	"slices"
	"sync"
	"sync/atomic"
)

const (
	// queueLong is how many directories may wait before others with very many
	// subdirectories are put aside half read, until there are fewer.
	queueLong = 8192
	// asideMost is how many are put aside: each needs its descriptor.
	asideMost = 64
)

// queue holds the work of a walk: directories to be read, the latest first, which
// keeps it short and caches warm; directories that were put aside; and batches of
// entries whose attributes are to be read. Methods are safe for concurrent use.
type queue struct {
	idle atomic.Int32 // walkers that wait for work

	mu      sync.Mutex
	wake    sync.Cond // there is work, or there will be none
	dirs    []*node
	aside   []*node
	batches []*batch
	closed  bool
}

func newQueue() *queue {
	q := new(queue)
	q.wake.L = &q.mu
	return q
}

// push adds directories.
func (q *queue) push(found []*node) {
	q.mu.Lock()
	q.dirs = append(q.dirs, found...)
	q.rouse(len(found))
	q.mu.Unlock()
}

// rouse wakes as many as there is work for.
func (q *queue) rouse(work int) {
	for range min(work, int(q.idle.Load())) {
		q.wake.Signal()
	}
}

// putAside keeps a directory for later, when very many wait already.
func (q *queue) putAside(n *node) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.dirs) < queueLong || len(q.aside) >= asideMost {
		return false
	}
	q.aside = append(q.aside, n)
	return true
}

// share lets others take chunks of b.
func (q *queue) share(b *batch) {
	b.shared.Store(true)
	q.mu.Lock()
	q.batches = append(q.batches, b)
	q.rouse(b.waiting())
	q.mu.Unlock()
}

// unshare forgets b, of which no chunk is left.
func (q *queue) unshare(b *batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.batches, b); i >= 0 {
		q.batches = slices.Delete(q.batches, i, i+1)
	}
}

// shared is the number of chunks that wait in the queue.
func (q *queue) shared() (chunks int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, b := range q.batches {
		chunks += b.waiting()
	}
	return chunks
}

// chunk takes a chunk of a shared batch; both are nil when there is none.
func (q *queue) chunk() (*batch, []byte) {
	for len(q.batches) > 0 {
		b := q.batches[0]
		if chunk := b.take(); chunk != nil {
			return b, chunk
		}
		q.batches = slices.Delete(q.batches, 0, 1)
	}
	return nil, nil
}

// next waits for work: a chunk of a batch, or a directory. All are nil when there will be none.
func (q *queue) next() (*batch, []byte, *node) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.closed {
			return nil, nil, nil
		}
		// Batches first: that bounds the memory of them.
		if b, chunk := q.chunk(); b != nil {
			return b, chunk, nil
		}
		if n := q.pop(); n != nil {
			return nil, nil, n
		}
		q.idle.Add(1)
		q.wake.Wait()
		q.idle.Add(-1)
	}
}

func (q *queue) pop() *node {
	from := &q.dirs
	if len(q.aside) > 0 && len(q.dirs) < queueLong/2 {
		from = &q.aside
	}
	last := len(*from) - 1
	if last < 0 {
		return nil
	}
	n := (*from)[last]
	(*from)[last] = nil
	*from = (*from)[:last]
	return n
}

// close ends the waiting of all walkers for good.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.wake.Broadcast()
	q.mu.Unlock()
}
