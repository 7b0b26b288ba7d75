package walk

import (
	"sync"
	"sync/atomic"
)

const (
	// listAtOnce is how many bytes of entries are read at a time: 1,500 to 2,700 of
	// them. Servers answer with pages of about that size.
	listAtOnce = 64 << 10
	// chunkSize is how many entries a walker takes at a time, so that a large
	// directory is for all of them.
	chunkSize = FoundMost
)

// batch is what one reading of a directory gave, cut into chunks that any walker
// may take.
type batch struct {
	node    *node
	open    Directory // of node
	entries int
	buf     []byte // records of getdents64
	chunks  []int  // where each begins, and the end
	next    atomic.Int32
	left    atomic.Int32 // chunks that are not done, and one for whoever read it
	shared  atomic.Bool  // others may take chunks
}

// batches are those that are done, with their memory.
type batches struct{ pool sync.Pool }

func (b *batches) get() *batch {
	if free, ok := b.pool.Get().(*batch); ok {
		return free
	}
	return &batch{buf: make([]byte, listAtOnce)}
}

func (b *batches) put(free *batch) {
	free.node, free.open = nil, nil
	b.pool.Put(free)
}

// cut finds the chunks in the first size bytes, which belong to n. It returns false
// when the file system gave records that make no sense; those before are kept.
func (b *batch) cut(n *node, size int) bool {
	b.node, b.open, b.entries = n, n.reading, 0
	b.chunks = append(b.chunks[:0], 0)
	at, sense := 0, true
	for at < size {
		length := NextDirent(b.buf[at:size])
		if length == 0 {
			sense = false
			break
		}
		at += length
		b.entries++
		if b.entries%chunkSize == 0 && at < size {
			b.chunks = append(b.chunks, at)
		}
	}
	if b.chunks[len(b.chunks)-1] != at {
		b.chunks = append(b.chunks, at)
	}
	b.next.Store(0)
	b.left.Store(int32(b.count()) + 1)
	b.shared.Store(false)
	return sense
}

// count is the number of chunks.
func (b *batch) count() int { return len(b.chunks) - 1 }

// waiting is the number of chunks that nobody has taken.
func (b *batch) waiting() int { return max(0, b.count()-int(b.next.Load())) }

// take returns the records of a chunk that is then the caller's, nil when all were
// taken.
func (b *batch) take() []byte {
	if b.waiting() == 0 {
		return nil
	}
	i := int(b.next.Add(1)) - 1
	if i >= b.count() {
		return nil
	}
	return b.buf[b.chunks[i]:b.chunks[i+1]]
}
