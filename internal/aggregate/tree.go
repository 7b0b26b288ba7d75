package aggregate

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"fstally/internal/usage"
)

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
