package walk

import (
	"container/list"
	"errors"
	"sync"

	"golang.org/x/sys/unix"
)

// maxHandles is how many directories stay open only so that what is below them can
// be opened from there. More are opened again when they are needed, one name at a
// time from the nearest that is open: how many descriptors a walk uses depends on
// its walkers, not on how deep the tree is.
const maxHandles = 256

// handle is the open directory of a node, if it is open.
type handle struct {
	open  Directory
	users int           // that need it now
	spare *list.Element // in handles.spare, while nobody does
}

// handles keeps directories open. Whoever opens one from another goes through it,
// so no path is ever longer than one name, and none passes a symbolic link.
type handles struct {
	fs   FS
	root string
	// same reports whether what was opened is the directory that was listed.
	same func(n *node, open Directory) error

	mu    sync.Mutex
	spare *list.List // nodes that are open and not in use, the latest first
}

func newHandles(fs FS, root string, same func(*node, Directory) error) *handles {
	return &handles{fs: fs, root: root, same: same, spare: list.New()}
}

// acquire opens the directory of n, or finds it open. release must follow.
func (h *handles) acquire(n *node) (Directory, error) {
	// Up to the nearest that is open, and down again.
	var above []*node
	at, from := n, Directory(nil)
	for ; at != nil; at = at.parent {
		if from = h.held(at); from != nil {
			break
		}
		above = append(above, at)
	}
	for len(above) > 0 {
		next := above[len(above)-1]
		above = above[:len(above)-1]
		opened, err := h.openFrom(from, next)
		if at != nil {
			h.release(at)
		}
		if err != nil {
			return nil, err
		}
		at, from = next, opened
	}
	return from, nil
}

// held returns the open directory of n with one user more; nil when it is not open.
func (h *handles) held(n *node) Directory {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n.handle.open == nil {
		return nil
	}
	h.use(n)
	return n.handle.open
}

func (h *handles) use(n *node) {
	n.handle.users++
	if n.handle.spare != nil {
		h.spare.Remove(n.handle.spare)
		n.handle.spare = nil
	}
}

// openFrom opens n from its parent, nil for where the walk begins.
func (h *handles) openFrom(parent Directory, n *node) (Directory, error) {
	open := func() (d Directory, err error) {
		defer caught(&err)
		if parent == nil {
			return h.fs.OpenDir(h.root)
		}
		return parent.OpenAt(n.dir.Name)
	}
	d, err := open()
	if errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) {
		h.closeSpare(0) // somebody else takes descriptors too
		d, err = open()
	}
	if err != nil {
		return nil, err
	}
	if err := h.same(n, d); err != nil {
		_ = d.Close()
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if n.handle.open != nil { // somebody was faster
		_ = d.Close()
	} else {
		n.handle.open = d
	}
	h.use(n)
	return n.handle.open, nil
}

// release ends the use of n, which stays open for what is below it.
func (h *handles) release(n *node) {
	h.mu.Lock()
	n.handle.users--
	if n.handle.users > 0 {
		h.mu.Unlock()
		return
	}
	n.handle.spare = h.spare.PushFront(n)
	tooMany := h.spare.Len() > maxHandles
	h.mu.Unlock()
	if tooMany {
		h.closeSpare(maxHandles)
	}
}

// close closes n, which nobody needs any more.
func (h *handles) close(n *node) {
	h.mu.Lock()
	open := h.forget(n)
	h.mu.Unlock()
	if open != nil {
		_ = open.Close()
	}
}

// forget returns what is to be closed of n.
func (h *handles) forget(n *node) Directory {
	open := n.handle.open
	if n.handle.spare != nil {
		h.spare.Remove(n.handle.spare)
	}
	n.handle = handle{}
	return open
}

// closeSpare closes those that were not used for longest, but for so many.
func (h *handles) closeSpare(keep int) {
	var closing []Directory
	h.mu.Lock()
	for h.spare.Len() > keep {
		if n, ok := h.spare.Back().Value.(*node); ok {
			closing = append(closing, h.forget(n))
		}
	}
	h.mu.Unlock()
	for _, d := range closing {
		_ = d.Close()
	}
}
