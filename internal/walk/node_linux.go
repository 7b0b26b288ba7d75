package walk

import (
	"sync/atomic"

	"fstally/internal/usage"
)

// node is a directory from when it was found until all below it was read.
type node struct {
	dir      *usage.Dir
	parent   *node  // nil where the walk begins
	dev, ino uint64 // that it had when it was listed
	// left counts what is still to come: its own entries, and directories in it.
	left atomic.Int64
	// work counts what is still to come of its own entries: reading it to the end,
	// and batches of what was read.
	work    atomic.Int64
	listed  listed
	reading Directory // once that has begun: it stays open until no work is left
	handle  handle
}

func newNode(parent *node, e *usage.Entry) *node {
	n := &node{dir: e.Dir, parent: parent, dev: e.Dev, ino: e.Ino}
	n.left.Store(1)
	n.work.Store(1)
	if parent != nil {
		parent.left.Add(1)
	}
	return n
}
