package aggregate

import (
	"math/bits"

	"fstally/internal/usage"
)

// buffer sums what one shard finds in cells of the finest grain: all that any table
// of a scan tells apart. One entry then costs one update of a table that fits into
// the cache of a core, where it would cost the cube, six bars of histograms and four
// ages. A tree as in life has a few thousand such cells, and many files for each.
// When the buffer is full it is poured into the tables that the shards share, so
// they are locked once for thousands of files even where every file is a new cell.
//
// It is an open-addressing table of a power of two of cells.
type buffer struct {
	cells []cell
	used  int
}

const (
	bufferFirst = 1 << 10 // cells
	bufferMost  = 1 << 13 // cells; 48 bytes each
)

// cell holds sums of 64 bits, which cannot wrap: a cell is poured out when it holds
// cellMost entries, and entries with a size of ordinary or more do not come here.
type cell struct {
	owner                  uint64 // uid, gid
	kind                   uint64 // number of the type, number of the fileset
	class                  class
	count                  uint32 // 0 for an empty slot
	size, allocated, slack uint64
}

const (
	ordinary = 1 << 48 // bytes: 256 TiB
	cellMost = 1 << 14
)

// Types of what is no regular file have the highest numbers.
const (
	typeDirectory uint32 = 1<<32 - 1 - iota
	typeSymlink
	typeSpecial
	firstNotFile = typeSpecial
)

// isFile reports a cell of regular files.
func (c *cell) isFile() bool {
	typ, _ := unpair(c.kind)
	return typ < firstNotFile
}

// pair packs two numbers so that pairs have the order of their first, then of their
// second.
func pair(a, b uint32) uint64 { return uint64(a)<<32 | uint64(b) }

func unpair(p uint64) (a, b uint32) { return uint32(p >> 32), uint32(p) }

// class packs the buckets and ages of a file: size, allocated, mtime, atime.
type class uint32

func classOf(size, allocated usage.SizeBucket, mtime, atime usage.AgeClass) class {
	return class(size) | class(allocated)<<7 | class(mtime)<<14 | class(atime)<<18
}

func (c class) size() usage.SizeBucket      { return usage.SizeBucket(c & 127) }
func (c class) allocated() usage.SizeBucket { return usage.SizeBucket(c >> 7 & 127) }
func (c class) mtime() usage.AgeClass       { return usage.AgeClass(c >> 14 & 15) }
func (c class) atime() usage.AgeClass       { return usage.AgeClass(c >> 18 & 15) }

func (b *buffer) init() { b.cells = make([]cell, bufferFirst) }

// full reports that there may be no room for another cell.
func (b *buffer) full() bool { return b.used >= 3*bufferMost/4 }

// at returns the cell of this key, which is new where its count is 0. There must be
// room.
func (b *buffer) at(owner, kind uint64, class class) *cell {
	cells := b.cells
	mask := uint64(len(cells) - 1)
	for i := hash(owner, kind, uint64(class)); ; i++ {
		c := &cells[i&mask]
		if c.count == 0 {
			return b.claim(c, owner, kind, class)
		}
		if c.owner == owner && c.kind == kind && c.class == class {
			return c
		}
	}
}

// claim makes an empty slot the cell of this key, and the table wider when it gets
// too full for short searches.
func (b *buffer) claim(c *cell, owner, kind uint64, class class) *cell {
	if 4*b.used >= 3*len(b.cells) {
		b.grow()
		return b.at(owner, kind, class)
	}
	b.used++
	c.owner, c.kind, c.class = owner, kind, class
	return c
}

func (b *buffer) grow() {
	old := b.cells
	b.cells, b.used = make([]cell, 4*len(old)), 0
	for i := range old {
		if c := &old[i]; c.count > 0 {
			*b.at(c.owner, c.kind, c.class) = *c
		}
	}
}

// hash mixes a key by multiplication, as wyhash does.
func hash(owner, kind, class uint64) uint64 {
	hi, lo := bits.Mul64(owner^0x9e3779b97f4a7c15, kind^class<<40^class^0xd6e8feb86659fd93)
	return hi ^ lo
}

func (b *buffer) clear() {
	clear(b.cells)
	b.used = 0
}
