package walk

import (
	"sync"

	"fstally/internal/usage"
)

// pendingDir is a directory that waits to be read, with the inode that it had
// when it was listed.
type pendingDir struct {
	dir      *usage.Dir
	dev, ino uint64
}

// dirQueue holds the directories of a walk that are still to be read. The one
// that came last is read first, which keeps the queue short and caches warm.
// Methods are safe for concurrent use.
type dirQueue struct {
	mu     sync.Mutex
	wake   *sync.Cond
	dirs   []pendingDir
	busy   int // directories that were popped and are not done
	closed bool
}

func newDirQueue() *dirQueue {
	q := &dirQueue{}
	q.wake = sync.NewCond(&q.mu)
	return q
}

func (q *dirQueue) push(d pendingDir) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dirs = append(q.dirs, d)
	q.wake.Signal()
}

// pop waits for a directory. It returns false when none will come any more.
func (q *dirQueue) pop() (d pendingDir, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.dirs) == 0 && q.busy > 0 && !q.closed {
		q.wake.Wait()
	}
	if len(q.dirs) == 0 || q.closed {
		return pendingDir{}, false
	}
	last := len(q.dirs) - 1
	d, q.dirs[last] = q.dirs[last], pendingDir{}
	q.dirs = q.dirs[:last]
	q.busy++
	return d, true
}

// done says that a directory that was popped was read.
func (q *dirQueue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy--
	if q.busy == 0 && len(q.dirs) == 0 {
		q.wake.Broadcast()
	}
}

// close makes every pop return false.
func (q *dirQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake.Broadcast()
}

// left reports whether directories were not read to their end.
func (q *dirQueue) left() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.dirs) > 0 || q.busy > 0
}
