package aggregate

import (
	"slices"

	"fstally/internal/usage"
)

// candidate is a directory that was left and may be worth a row of the tree.
type candidate struct {
	dir      *usage.Dir
	uid, gid uint32
	newest   int64
	hasFile  bool
	measures usage.Measures
	linked   Owned // the most that inodes with several names may yet add
	owners   []part
	children []*candidate
}

// part is what one owner has of a candidate.
type part struct {
	uid    uint32
	owned  Owned
	linked Owned // as that of the candidate
}

func (p *part) most() Owned { return p.owned.plus(p.linked) }

// candidate makes one of the sums of a directory, own inode included, with those
// owners that are worth keeping.
func (s *dirState) candidate(dir *usage.Dir, th *thresholds) *candidate {
	sums := s.sums
	c := &candidate{
		dir: dir, uid: s.uid, gid: s.gid, newest: sums.newest, hasFile: sums.hasFile,
		measures: sums.measures, children: sums.children,
	}
	if !c.hasFile {
		c.newest = s.mtime
	}
	keep := func(p part) {
		if p.most().isPart(ownerParts, th.users[p.uid]) {
			c.owners = append(c.owners, p)
		}
	}
	sums.eachOwner(func(uid uint32, o Owned) { keep(part{uid, o, sums.linked[uid]}) })
	for uid, o := range sums.linked {
		c.linked = c.linked.plus(o)
		if !sums.owns(uid) {
			keep(part{uid: uid, linked: o})
		}
	}
	return c
}

// worth reports whether a directory may be worth a row by itself.
func (c *candidate) worth(th *thresholds) bool {
	all := ownedOf(c.measures).plus(c.linked)
	if all.isPart(scanParts, th.scan) || all.isPart(ownerParts, th.filesets[c.dir.Fileset]) {
		return true
	}
	return slices.ContainsFunc(c.owners, func(p part) bool {
		return p.most().isPart(ownerParts, th.users[p.uid])
	})
}

// prune returns those of all that are worth keeping, with what is worth keeping
// below them.
func prune(all []*candidate, th *thresholds) []*candidate {
	return slices.DeleteFunc(all, func(c *candidate) bool {
		c.children = prune(c.children, th)
		c.owners = slices.DeleteFunc(c.owners, func(p part) bool {
			return !p.most().isPart(ownerParts, th.users[p.uid])
		})
		return len(c.children) == 0 && !c.worth(th)
	})
}

// count returns the number of candidates in the tree.
func (c *candidate) count() int {
	n := 1
	for _, child := range c.children {
		n += child.count()
	}
	return n
}

// charge adds an inode with several names, whose path is now known.
func (c *candidate) charge(uid uint32, m usage.Measures) {
	c.measures.Add(m)
	for i := range c.owners {
		if p := &c.owners[i]; p.uid == uid {
			p.owned = p.owned.plus(ownedOf(m))
		}
	}
}

// settle forgets what might have been added, when everything was.
func (c *candidate) settle() {
	c.linked = Owned{}
	for i := range c.owners {
		c.owners[i].linked = Owned{}
	}
	for _, child := range c.children {
		child.settle()
	}
}

// node makes the rows of the tree out of what prune left.
func (c *candidate) node() *Node {
	n := &Node{
		Name: c.dir.Name, Fileset: c.dir.Fileset, UID: c.uid, GID: c.gid, Newest: c.newest, HasFile: c.hasFile,
		Measures: c.measures, Owners: make(map[uint32]Owned, len(c.owners)),
	}
	for _, p := range c.owners {
		n.Owners[p.uid] = p.owned
	}
	for _, child := range c.children {
		n.Children = append(n.Children, child.node())
	}
	slices.SortFunc(n.Children, byName)
	return n
}
