package aggregate

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"fstally/internal/usage"
)

// dirSums are what one directory holds: at first by itself, and once everything
// deeper has been added, in its whole subtree.
type dirSums struct {
	measures usage.Measures
	newest   int64 // mtime of a regular file
	hasFile  bool
	self     bool // whether the directory's own inode was met here
	uid, gid uint32
	mtime    int64 // of the directory

	// Most directories have one owner, so the map comes with the second.
	owner  uint32
	owned  Owned
	others map[uint32]Owned

	children []*Node // kept
}

// Owned is what one user has in a subtree.
type Owned struct {
	Inodes    int64
	Size      usage.Bytes
	Allocated usage.Bytes
}

func ownedOf(m usage.Measures) Owned { return Owned{m.Inodes, m.Size, m.Allocated} }

func (o Owned) plus(p Owned) Owned {
	return Owned{o.Inodes + p.Inodes, o.Size.Add(p.Size), o.Allocated.Add(p.Allocated)}
}

func (o Owned) minus(p Owned) Owned {
	return Owned{o.Inodes - p.Inodes, o.Size.Sub(p.Size), o.Allocated.Sub(p.Allocated)}
}

// isPart reports whether o is at least 1/n of whole by bytes or inodes.
func (o Owned) isPart(n uint64, whole Owned) bool {
	return o.Inodes > 0 && mulAtLeast(usage.ByteCount(o.Inodes), n, usage.ByteCount(whole.Inodes)) ||
		!o.Size.IsZero() && mulAtLeast(o.Size, n, whole.Size) ||
		!o.Allocated.IsZero() && mulAtLeast(o.Allocated, n, whole.Allocated)
}

// mulAtLeast reports a*n >= b without overflow.
func mulAtLeast(a usage.Bytes, n uint64, b usage.Bytes) bool {
	ahi, alo := a.Words()
	top, hi := bits.Mul64(ahi, n)
	carry, lo := bits.Mul64(alo, n)
	hi, c := bits.Add64(hi, carry, 0)
	return top+c > 0 || usage.BytesFromWords(hi, lo).Cmp(b) >= 0
}

func (d *dirSums) seen(mtime int64) {
	if !d.hasFile || mtime > d.newest {
		d.newest, d.hasFile = mtime, true
	}
}

func (d *dirSums) add(uid uint32, m usage.Measures) {
	d.measures.Add(m)
	d.own(uid, ownedOf(m))
}

func (d *dirSums) own(uid uint32, o Owned) {
	switch {
	case d.owned == Owned{} || uid == d.owner:
		d.owner, d.owned = uid, d.owned.plus(o)
	default:
		if d.others == nil {
			d.others = make(map[uint32]Owned)
		}
		d.others[uid] = d.others[uid].plus(o)
	}
}

func (d *dirSums) eachOwner(f func(uid uint32, o Owned)) {
	if (d.owned != Owned{}) {
		f(d.owner, d.owned)
	}
	for uid, o := range d.others {
		f(uid, o)
	}
}

// merge adds o, the same directory in another shard or a child's whole subtree.
// The smaller set of owners moves into the larger.
func (d *dirSums) merge(o *dirSums) {
	d.measures.Add(o.measures)
	if o.hasFile {
		d.seen(o.newest)
	}
	if len(o.others) > len(d.others) {
		d.owner, o.owner = o.owner, d.owner
		d.owned, o.owned = o.owned, d.owned
		d.others, o.others = o.others, d.others
	}
	o.eachOwner(d.own)
}

// Node is a directory of the tree that a Partial keeps, with the totals of its
// subtree.
type Node struct {
	Name     string // raw last component; "" for the root
	Fileset  string
	UID, GID uint32
	Newest   int64 // latest mtime of a regular file below; that of the directory without one
	HasFile  bool  // whether Newest is that of a file
	Measures usage.Measures
	Owners   map[uint32]Owned // those who have a hundredth of all that is theirs here
	Children []*Node          // by Name
}

// What is worth keeping: a directory with a ten-thousandth of the scan, or a
// hundredth of its fileset or of one of its owners (design of the store).
const (
	scanParts  = 10_000
	ownerParts = 100
)

// thresholds are the wholes that a directory is held against.
type thresholds struct {
	scan     Owned
	users    map[uint32]Owned
	filesets map[string]Owned
}

func newThresholds() thresholds {
	return thresholds{users: make(map[uint32]Owned), filesets: make(map[string]Owned)}
}

func (t *tables) thresholds() thresholds {
	th := newThresholds()
	for key, m := range t.cells {
		th.add(&key, m)
	}
	return th
}

// add adds a cell to the wholes that it is part of.
func (t *thresholds) add(key *usage.Key, m *usage.Measures) {
	o := ownedOf(*m)
	t.scan = t.scan.plus(o)
	t.users[key.UID] = t.users[key.UID].plus(o)
	t.filesets[key.Fileset] = t.filesets[key.Fileset].plus(o)
}

// keeps reports whether a directory is worth a row by itself.
func (t *thresholds) keeps(fileset string, m usage.Measures, owners map[uint32]Owned) bool {
	all := ownedOf(m)
	if all.isPart(scanParts, t.scan) || all.isPart(ownerParts, t.filesets[fileset]) {
		return true
	}
	for uid, o := range owners {
		if o.isPart(ownerParts, t.users[uid]) {
			return true
		}
	}
	return false
}

// buildTree adds every directory's sums to its parent's, deepest first, and
// returns the root of what is worth keeping. dirs is used up.
func buildTree(dirs map[*usage.Dir]*dirSums, th *thresholds) *Node {
	var levels [][]*usage.Dir
	for d := range dirs {
		for len(levels) <= d.Depth {
			levels = append(levels, nil)
		}
		levels[d.Depth] = append(levels[d.Depth], d)
	}
	for depth := len(levels) - 1; depth >= 0; depth-- { //nolint:modernize // a level may grow before its turn
		for _, d := range levels[depth] {
			sums := dirs[d]
			node := sums.node(d, th)
			if d.Parent == nil {
				return node
			}
			parent := dirs[d.Parent]
			if parent == nil { // d is where a part begins
				parent = &dirSums{}
				dirs[d.Parent] = parent
				levels[depth-1] = append(levels[depth-1], d.Parent)
			}
			if th.keeps(node.Fileset, node.Measures, node.Owners) || len(node.Children) > 0 {
				parent.children = append(parent.children, node)
			}
			parent.merge(sums)
			delete(dirs, d)
		}
	}
	return &Node{}
}

func (d *dirSums) node(dir *usage.Dir, th *thresholds) *Node {
	n := &Node{
		Name: dir.Name, Fileset: dir.Fileset, UID: d.uid, GID: d.gid, Newest: d.newest, HasFile: d.hasFile,
		Measures: d.measures, Owners: make(map[uint32]Owned), Children: d.children,
	}
	if !d.hasFile {
		n.Newest = d.mtime
	}
	d.eachOwner(func(uid uint32, o Owned) {
		if o.isPart(ownerParts, th.users[uid]) {
			n.Owners[uid] = o
		}
	})
	slices.SortFunc(n.Children, byName)
	return n
}

func byName(a, b *Node) int { return cmp.Compare(a.Name, b.Name) }

// merge adds o, the same directory in another part. What two parts share are
// the directories above both, whose own inodes are in neither.
func (n *Node) merge(o *Node) {
	if o.HasFile && (!n.HasFile || o.Newest > n.Newest) {
		n.Newest, n.HasFile = o.Newest, true
	}
	n.Measures.Add(o.Measures)
	for uid, owned := range o.Owners {
		n.Owners[uid] = n.Owners[uid].plus(owned)
	}
	for _, child := range o.Children {
		if i, ok := slices.BinarySearchFunc(n.Children, child, byName); ok {
			n.Children[i].merge(child)
		} else {
			n.Children = slices.Insert(n.Children, i, child)
		}
	}
}

// remove takes the inode at path back from every kept directory above it.
func (n *Node) remove(path string, uid uint32, m usage.Measures) {
	for n != nil {
		n.Measures = n.Measures.Sub(m)
		if o, ok := n.Owners[uid]; ok {
			n.Owners[uid] = o.minus(ownedOf(m))
		}
		name, rest, deeper := strings.Cut(path, "/")
		i, found := slices.BinarySearchFunc(n.Children, &Node{Name: name}, byName)
		if !deeper || !found {
			return
		}
		n, path = n.Children[i], rest
	}
}

// rows appends, in preorder, what is worth keeping of n and below it.
func (n *Node) rows(rows []usage.DirectoryRow, parent int, th *thresholds) []usage.DirectoryRow {
	self := len(rows)
	rows = append(rows, usage.DirectoryRow{
		Parent: parent, Name: n.Name, UID: n.UID, GID: n.GID, Fileset: n.Fileset, Newest: n.Newest, Measures: n.Measures,
	})
	for _, child := range n.Children {
		rows = child.rows(rows, self, th)
	}
	if len(rows) == self+1 && parent >= 0 && !th.keeps(n.Fileset, n.Measures, n.Owners) {
		return rows[:self]
	}
	rows[self].Last = len(rows) - 1
	return rows
}

// clone copies the tree, so that a merge leaves its operands alone.
func (n *Node) clone() *Node {
	c := *n
	c.Owners = maps.Clone(n.Owners)
	c.Children = nil
	for _, child := range n.Children {
		c.Children = append(c.Children, child.clone())
	}
	return &c
}
