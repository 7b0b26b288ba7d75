package aggregate

import "fstally/internal/usage"

// subtree is what one directory holds, without its own inode: at first by itself,
// and once everything deeper was left, in its whole subtree.
type subtree struct {
	measures usage.Measures
	newest   int64 // mtime of a regular file
	hasFile  bool

	// Most directories have one owner, so the map comes with the second.
	owner  uint32
	owned  Owned
	others map[uint32]Owned

	linked  potential // nil without names of inodes that have several
	foreign Owned     // what of measures is in other filesets

	children []*candidate
}

// potential is the most that the inodes with several names may yet add, by owner:
// each is charged to one of its names when all are known.
type potential map[uint32]Owned

func (s *subtree) seen(mtime int64) {
	if !s.hasFile || mtime > s.newest {
		s.newest, s.hasFile = mtime, true
	}
}

func (s *subtree) add(uid uint32, m usage.Measures) {
	s.measures.Add(m)
	s.own(uid, ownedOf(m))
}

func (s *subtree) addBatch(b *batch) {
	if b.names > 0 {
		s.seen(b.newest)
	}
	s.measures.Add(b.measures())
	for i := range b.owners {
		o := &b.owners[i]
		if o.inodes > 0 {
			s.own(o.uid, o.owned())
		}
		if o.linked.Inodes > 0 {
			s.addLinked(o.uid, o.linked)
		}
	}
}

func (s *subtree) addLinked(uid uint32, o Owned) {
	if s.linked == nil {
		s.linked = make(potential)
	}
	s.linked[uid] = s.linked[uid].plus(o)
}

func (s *subtree) addForeign(o Owned) {
	s.foreign = s.foreign.plus(o)
}

// within is what the subtree holds of its own fileset.
func (s *subtree) within() Owned { return ownedOf(s.measures).minus(s.foreign) }

func (s *subtree) own(uid uint32, o Owned) {
	switch {
	case uid == s.owner || s.owned == Owned{}:
		s.owner, s.owned = uid, s.owned.plus(o)
	default:
		if s.others == nil {
			s.others = make(map[uint32]Owned)
		}
		s.others[uid] = s.others[uid].plus(o)
	}
}

func (s *subtree) eachOwner(f func(uid uint32, o Owned)) {
	if (s.owned != Owned{}) {
		f(s.owner, s.owned)
	}
	for uid, o := range s.others {
		f(uid, o)
	}
}

// merge adds o, a child's whole subtree, which is used up. The smaller set of owners
// moves into the larger.
func (s *subtree) merge(o *subtree) {
	s.measures.Add(o.measures)
	if o.hasFile {
		s.seen(o.newest)
	}
	if len(o.others) > len(s.others) {
		s.owner, o.owner = o.owner, s.owner
		s.owned, o.owned = o.owned, s.owned
		s.others, o.others = o.others, s.others
	}
	o.eachOwner(s.own)
	if len(o.linked) > len(s.linked) {
		s.linked, o.linked = o.linked, s.linked
	}
	for uid, owned := range o.linked {
		s.addLinked(uid, owned)
	}
}

// owns reports whether anything is of this user already.
func (s *subtree) owns(uid uint32) bool {
	_, other := s.others[uid]
	return other || uid == s.owner && s.owned != Owned{}
}
