package aggregate

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"fstally/internal/usage"
)

// cube is the open-addressing table of the cube's cells that all shards pour into.
type cube struct {
	mu      sync.Mutex
	cells   []cubeCell
	used    int
	most    int // cells, before file types are no longer told apart
	classes [usage.SizeBuckets]usage.SizeClass
	folded  int64                      // inodes that became usage.Rest for that
	beyond  map[cubeKey]usage.Measures // what does not fit into 64 bits, and is rare
}

// cubeCell holds sums below 2^63.
type cubeCell struct {
	owner                  uint64 // as in cell
	kind                   uint64
	tag                    cubeTag
	size, allocated, slack uint64
}

// cubeKey tells cells apart; the tag is without the inodes.
type cubeKey struct {
	owner, kind uint64
	tag         cubeTag
}

// cubeTag packs the number of inodes, whether the slot is used, and the classes.
type cubeTag uint64

const (
	tagUsed cubeTag = 1 << 7
	tagBits cubeTag = 1<<8 - 1
	tagOne  cubeTag = 1 << 8 // one inode
)

func tagOf(size usage.SizeClass, age usage.AgeClass) cubeTag {
	return tagUsed | cubeTag(size)<<4 | cubeTag(age)
}

func (t cubeTag) size() usage.SizeClass { return usage.SizeClass(t >> 4 & 7) }
func (t cubeTag) age() usage.AgeClass   { return usage.AgeClass(t & 15) }
func (t cubeTag) inodes() int64         { return int64(t >> 8) }

// init makes the table. The bounds of size classes are bounds of buckets.
func (c *cube) init(most int, sizes usage.SizeClasses) {
	c.most = most
	c.cells = make([]cubeCell, bufferFirst)
	c.beyond = make(map[cubeKey]usage.Measures)
	for b := range c.classes {
		c.classes[b] = sizes.Of(usage.BucketBound(usage.SizeBucket(b)))
	}
}

// pour adds cells of a buffer. A cell whose file type can no longer be told apart
// gets the type usage.Rest there too, for the histograms to agree.
func (c *cube) pour(from []cell) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range from {
		if f := &from[i]; f.count > 0 {
			c.add(f)
		}
	}
}

// pourBeyond adds one inode whose sums do not fit into f.
func (c *cube) pourBeyond(f *cell, m usage.Measures) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.Files, m.Inodes = 0, 0 // they are in f
	c.addBeyond(c.add(f), m)
}

func (c *cube) add(f *cell) *cubeCell {
	tag := c.tag(f)
	to := c.at(f.owner, f.kind, tag)
	if kind := restOf(f.kind); to.tag == 0 && c.used >= c.most && kind != f.kind {
		c.folded += int64(f.count)
		f.kind = kind
		to = c.at(f.owner, kind, tag)
	}
	to = c.claim(to, f.owner, f.kind, tag)
	to.tag += tagOne * cubeTag(f.count)
	to.size += f.size
	to.allocated += f.allocated
	to.slack += f.slack
	if (to.size|to.allocated|to.slack)>>63 != 0 {
		c.spill(to)
	}
	return to
}

// tag returns the classes of a cell of a buffer.
func (c *cube) tag(f *cell) cubeTag {
	if !f.isFile() {
		return tagOf(usage.SizeNotFile, usage.AgeNotFile)
	}
	return tagOf(c.classes[f.class.size()], f.class.mtime())
}

// restOf returns the kind with the type usage.Rest; what is no regular file keeps
// its own.
func restOf(kind uint64) uint64 {
	typ, fileset := unpair(kind)
	if typ >= firstNotFile {
		return kind
	}
	return pair(0, fileset)
}

// find returns the cell that f was added to. A cell that was once refused is never
// made later, so one that is there has all that belongs to it.
func (c *cube) find(f *cell) *cubeCell {
	if to := c.at(f.owner, f.kind, c.tag(f)); to.tag != 0 {
		return to
	}
	return c.at(f.owner, restOf(f.kind), c.tag(f))
}

// at returns the cell of this key, or the empty slot where it belongs.
func (c *cube) at(owner, kind uint64, tag cubeTag) *cubeCell {
	mask := uint64(len(c.cells) - 1)
	for i := hash(owner, kind, uint64(tag&tagBits)); ; i++ {
		s := &c.cells[i&mask]
		if s.tag == 0 || s.owner == owner && s.kind == kind && s.tag&tagBits == tag {
			return s
		}
	}
}

// claim makes slot the cell of this key, where it is not that yet.
func (c *cube) claim(slot *cubeCell, owner, kind uint64, tag cubeTag) *cubeCell {
	if slot.tag != 0 {
		return slot
	}
	if 4*c.used >= 3*len(c.cells) {
		old := c.cells
		c.cells = make([]cubeCell, 2*len(old))
		for i := range old {
			if o := &old[i]; o.tag != 0 {
				*c.at(o.owner, o.kind, o.tag&tagBits) = *o
			}
		}
		slot = c.at(owner, kind, tag)
	}
	c.used++
	slot.owner, slot.kind, slot.tag = owner, kind, tag
	return slot
}

// spill moves sums that would soon not fit to those of 128 bits.
func (c *cube) spill(s *cubeCell) {
	c.addBeyond(s, usage.Measures{
		Size:      usage.BytesFromWords(0, s.size),
		Allocated: usage.BytesFromWords(0, s.allocated),
		Slack:     usage.BytesFromWords(0, s.slack),
	})
	s.size, s.allocated, s.slack = 0, 0, 0
}

func (c *cube) addBeyond(s *cubeCell, m usage.Measures) {
	key := cubeKey{s.owner, s.kind, s.tag & tagBits}
	sum := c.beyond[key]
	sum.Add(m)
	c.beyond[key] = sum
}

// rows returns the cells in the order of Partial.Cells. It uses the table up, which
// is sorted in place: there is no second one beside the rows.
func (c *cube) rows(types Types, filesets []string) []usage.Cell {
	used := c.cells[:0]
	for _, s := range c.cells {
		if s.tag != 0 {
			used = append(used, s)
		}
	}
	c.cells = nil
	typeOrder := orderOf(distinctTypes(used), func(n uint32) string { return typeName(types, n) })
	filesetOrder := orderOf(upTo(len(filesets)), func(n uint32) string { return filesets[n] })
	for i := range used {
		typ, fileset := unpair(used[i].kind)
		used[i].kind = pair(typeOrder.rank[typ], filesetOrder.rank[fileset])
	}
	slices.SortFunc(used, func(a, b cubeCell) int {
		return cmp.Or(cmp.Compare(a.owner, b.owner), cmp.Compare(a.kind, b.kind), cmp.Compare(a.tag&tagBits, b.tag&tagBits))
	})
	rows := make([]usage.Cell, len(used))
	for i := range used {
		s := &used[i]
		uid, gid := unpair(s.owner)
		typ, fileset := unpair(s.kind)
		rows[i] = usage.Cell{
			Key: usage.Key{
				UID: uid, GID: gid, Type: typeOrder.names[typ], Fileset: filesetOrder.names[fileset],
				SizeClass: s.tag.size(), AgeClass: s.tag.age(),
			},
			Measures: usage.Measures{
				Inodes:    s.tag.inodes(),
				Size:      usage.BytesFromWords(0, s.size),
				Allocated: usage.BytesFromWords(0, s.allocated),
				Slack:     usage.BytesFromWords(0, s.slack),
			},
		}
		if typeOrder.numbers[typ] < firstNotFile {
			rows[i].Files = s.tag.inodes()
		}
		if len(c.beyond) > 0 {
			kind := pair(typeOrder.numbers[typ], filesetOrder.numbers[fileset])
			rows[i].Add(c.beyond[cubeKey{s.owner, kind, s.tag & tagBits}])
		}
	}
	return rows
}

func distinctTypes(cells []cubeCell) []uint32 {
	seen := make(map[uint32]bool)
	for i := range cells {
		typ, _ := unpair(cells[i].kind)
		seen[typ] = true
	}
	return slices.Collect(maps.Keys(seen))
}

// typeName returns the name of a type that a cell has.
func typeName(types Types, number uint32) string {
	switch number {
	case typeDirectory:
		return usage.TypeDir
	case typeSymlink:
		return usage.TypeSymlink
	case typeSpecial:
		return usage.TypeSpecial
	default:
		return types.Name(number)
	}
}

// order is how numbers stand when they are sorted by what they mean.
type order struct {
	numbers []uint32 // by rank
	names   []string // by rank
	rank    map[uint32]uint32
}

func orderOf(numbers []uint32, name func(uint32) string) order {
	names := make(map[uint32]string, len(numbers))
	for _, n := range numbers {
		names[n] = name(n)
	}
	slices.SortFunc(numbers, func(a, b uint32) int { return cmp.Compare(names[a], names[b]) })
	o := order{numbers: numbers, names: make([]string, len(numbers)), rank: make(map[uint32]uint32, len(numbers))}
	for i, n := range numbers {
		o.names[i], o.rank[n] = names[n], uint32(i)
	}
	return o
}

// upTo returns 0 to n-1.
func upTo(n int) []uint32 {
	numbers := make([]uint32, n)
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	return numbers
}
