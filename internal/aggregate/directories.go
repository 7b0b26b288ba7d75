package aggregate

import (
	"hash/maphash"
	"maps"
	"sync"
	"sync/atomic"

	"fstally/internal/usage"
)

// directories holds the sums of the directories that are not left yet. When one is
// left, its sums go to its parent, and what remains of it is a candidate for a row
// of the tree, or nothing.
//
// The table is cut into stripes by directory, so that shards seldom wait for one
// another. The sums could hang on usage.Dir instead, and a call of Add would be some
// 30 ns faster; but then whoever lists the directories that were never left would
// need a second table of them.
type directories struct {
	seed    maphash.Seed
	stripes [64]dirStripe

	// floor holds sums of a moment in the past, without what several names lead to.
	// Sums only grow, so what is not worth keeping against them never will be.
	floor      atomic.Pointer[thresholds]
	candidates atomic.Int64
	pruneAt    atomic.Int64 // candidates
	pruneLeast int          // what pruneAt never is less than
	pruning    sync.Mutex
	root       *candidate // once it is left

	leftMu sync.Mutex
	// left holds the sums of each fileset in directories that were left and whose
	// parent is of another fileset.
	left map[string]Owned
}

type dirStripe struct {
	mu   sync.Mutex
	live map[*usage.Dir]*dirState
	_    [48]byte // a cache line for each stripe
}

// pruneFirst is how many candidates there are before the first look at them.
const pruneFirst = 1 << 14

func (d *directories) init() {
	d.seed = maphash.MakeSeed()
	d.left = make(map[string]Owned)
	d.pruneLeast = pruneFirst
	d.pruneAt.Store(pruneFirst)
	none := newThresholds()
	d.floor.Store(&none)
	for i := range d.stripes {
		d.stripes[i].live = make(map[*usage.Dir]*dirState)
	}
}

// dirState is a directory that is not left. Until an entry of it is added, there
// is only what its parent's listing told.
type dirState struct {
	uid, gid uint32
	mtime    int64
	blocks   int64
	self     bool // whether the directory's own inode was met
	sums     *subtree
}

// with calls f with the state of dir, which is made when it is missing. Nothing else
// touches it meanwhile.
func (d *directories) with(dir *usage.Dir, f func(*dirState)) {
	s := d.stripe(dir)
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.state(dir))
}

func (d *directories) stripe(dir *usage.Dir) *dirStripe {
	return &d.stripes[maphash.Comparable(d.seed, dir)%uint64(len(d.stripes))]
}

func (s *dirStripe) state(dir *usage.Dir) *dirState {
	state := s.live[dir]
	if state == nil {
		state = new(dirState)
		s.live[dir] = state
	}
	return state
}

// subtree returns the sums, made when they are missing.
func (s *dirState) subtree() *subtree {
	if s.sums == nil {
		s.sums = new(subtree)
	}
	return s.sums
}

// own notes the own inode of a directory.
func (d *directories) own(e *usage.Entry) {
	s := d.stripe(e.Dir)
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.state(e.Dir)
	state.self, state.uid, state.gid, state.mtime, state.blocks = true, e.UID, e.GID, e.Mtime, e.Blocks
}

// whole returns the sums with the directory's own inode.
func (s *dirState) whole() *subtree {
	sums := s.subtree()
	if s.self {
		own := usage.Entry{Type: usage.Directory, Blocks: s.blocks}
		sums.add(s.uid, own.Measures())
	}
	return sums
}

// add adds a batch of entries of dir.
func (d *directories) add(dir *usage.Dir, b *batch) {
	s := d.stripe(dir)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state(dir).subtree().addBatch(b)
}

// charge adds one inode to dir.
func (d *directories) charge(dir *usage.Dir, uid uint32, m usage.Measures) {
	d.with(dir, func(s *dirState) { s.subtree().add(uid, m) })
}

// leave adds the sums of dir to its parent.
func (d *directories) leave(dir *usage.Dir) {
	s := d.stripe(dir)
	s.mu.Lock()
	state := s.live[dir]
	delete(s.live, dir)
	s.mu.Unlock()
	if state == nil { // there was nothing of it
		return
	}
	sums := state.whole()
	c := state.candidate(dir, d.floor.Load())
	switch {
	case dir.Parent == nil:
		d.root = c
		return
	case len(c.children) == 0 && !c.worth(d.floor.Load()):
		c = nil
	}
	if dir.Fileset != dir.Parent.Fileset {
		d.leaveFileset(dir.Fileset, sums)
	}
	d.with(dir.Parent, func(parent *dirState) {
		p := parent.subtree()
		if dir.Fileset == dir.Parent.Fileset {
			p.addForeign(sums.foreign)
		} else {
			p.addForeign(ownedOf(sums.measures))
		}
		p.merge(sums)
		if c != nil {
			p.children = append(p.children, c)
		}
	})
	if c != nil && d.candidates.Add(1) >= d.pruneAt.Load() {
		d.prune()
	}
}

func (d *directories) leaveFileset(fileset string, sums *subtree) {
	d.leftMu.Lock()
	defer d.leftMu.Unlock()
	d.left[fileset] = d.left[fileset].plus(sums.within())
}

// prune raises the floor, and drops the candidates below it. It comes again when
// there are twice as many, and as many more as a fraction of the directories that
// it has to look at, so that its time is in proportion to that of the walk.
func (d *directories) prune() {
	if !d.pruning.TryLock() {
		return
	}
	defer d.pruning.Unlock()
	if d.candidates.Load() < d.pruneAt.Load() { // somebody else has just done it
		return
	}
	for i := range d.stripes {
		d.stripes[i].mu.Lock()
	}
	defer func() {
		for i := range d.stripes {
			d.stripes[i].mu.Unlock()
		}
	}()
	floor, live := d.sums()
	d.floor.Store(floor)
	remaining := 0
	for i := range d.stripes {
		for _, state := range d.stripes[i].live {
			if state.sums != nil {
				state.sums.children = prune(state.sums.children, floor)
				for _, c := range state.sums.children {
					remaining += c.count()
				}
			}
		}
	}
	d.candidates.Store(int64(remaining))
	d.pruneAt.Store(int64(max(d.pruneLeast, 2*remaining, remaining+live/4)))
}

// sums returns the wholes so far, and how many directories are not left. Own inodes
// of those are not in: they come with the directory.
func (d *directories) sums() (_ *thresholds, live int) {
	th := newThresholds()
	d.leftMu.Lock()
	defer d.leftMu.Unlock()
	maps.Copy(th.filesets, d.left)
	for i := range d.stripes {
		live += len(d.stripes[i].live)
		for dir, state := range d.stripes[i].live {
			if state.sums == nil {
				continue
			}
			th.scan = th.scan.plus(ownedOf(state.sums.measures))
			th.filesets[dir.Fileset] = th.filesets[dir.Fileset].plus(state.sums.within())
			state.sums.eachOwner(func(uid uint32, o Owned) { th.users[uid] = th.users[uid].plus(o) })
		}
	}
	return &th, live
}
