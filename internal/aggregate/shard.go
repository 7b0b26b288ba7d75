package aggregate

import "fstally/internal/usage"

// Shard adds up what one walker finds. It is not safe for concurrent use; the
// shards of one Tally are, beside each other.
type Shard struct {
	tally    *Tally
	types    Types
	ages     usage.Ages
	buffer   buffer
	batch    batch
	counters usage.Counters
	folded   int64 // files of usage.Rest, as there are too many types

	fileset       string // the last that was asked for
	filesetNumber uint32
	filesetKnown  bool
}

// Add adds entries of dir, or the root's own entry when dir is nil. Entries of one
// directory may go to several shards.
func (s *Shard) Add(dir *usage.Dir, entries []usage.Entry) {
	for len(entries) > batchMost {
		s.Add(dir, entries[:batchMost])
		entries = entries[batchMost:]
	}
	s.counters.Entries += int64(len(entries))
	var fileset uint32
	if dir != nil {
		fileset = s.filesetOf(dir)
	}
	s.batch.reset()
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Type == usage.Directory:
			s.addDirectory(e)
		case e.Nlink > 1:
			s.batch.seen(e)
			s.batch.addLinked(e)
			s.tally.links.add(dir, e, s.ages.Of(e.Mtime), s.ages.Of(e.Atime))
		default:
			s.batch.seen(e)
			if !s.addInode(fileset, e, s.ages.Of(e.Mtime), s.ages.Of(e.Atime)) {
				s.tally.dirs.charge(dir, e.UID, e.Measures())
			}
		}
	}
	s.counters.Links += s.batch.names
	if s.batch.any {
		s.tally.dirs.add(dir, &s.batch)
	}
}

// Leave says that no entry of dir or of what is below it will be added to any shard
// any more. It is called once for each directory that was given as the Dir of an
// entry, for children before their parent, or for none at all.
func (s *Shard) Leave(dir *usage.Dir) { s.tally.dirs.leave(dir) }

// addInode adds an inode whose charged path is known and which is no directory. It
// reports false when its sums are not in the batch, as they are too large.
func (s *Shard) addInode(fileset uint32, e *usage.Entry, mtime, atime usage.AgeClass) bool {
	size, allocated := uint64(e.Size), uint64(e.Blocks)*usage.BlockSize
	if size >= ordinary || uint64(e.Blocks) >= ordinary/usage.BlockSize { // negative ones too
		s.addBeyond(fileset, e, mtime, atime)
		return false
	}
	var (
		slack uint64
		files int64
		typ   uint32
		class class
	)
	switch e.Type {
	case usage.File:
		files = 1
		if typ = s.types.Of(e.Name); typ == 0 {
			s.folded++
		}
		class = classOf(bucketOf(size), bucketOf(allocated), mtime, atime)
		if allocated > size {
			slack = allocated - size
		}
	case usage.Symlink:
		typ = typeSymlink
		s.counters.Symlinks++
	default:
		typ, size = typeSpecial, 0
		s.counters.Specials++
	}
	s.count(pair(e.UID, e.GID), pair(typ, fileset), class, size, allocated, slack)
	s.batch.add(e.UID, files, size, allocated, slack)
	return true
}

// count adds an inode to the buffer.
func (s *Shard) count(owner, kind uint64, class class, size, allocated, slack uint64) {
	c := s.buffer.at(owner, kind, class)
	c.count++
	c.size += size
	c.allocated += allocated
	c.slack += slack
	if c.count >= cellMost || s.buffer.full() {
		s.pour()
	}
}

// pour empties the buffer into the tally.
func (s *Shard) pour() {
	s.tally.cube.pour(s.buffer.cells) // first, as it may change types
	s.tally.bars.pour(s.buffer.cells)
	s.buffer.clear()
}

// addBeyond adds an inode of 2^48 bytes or more, or with numbers that only a broken
// file system gives.
func (s *Shard) addBeyond(fileset uint32, e *usage.Entry, mtime, atime usage.AgeClass) {
	switch e.Type {
	case usage.Symlink:
		s.counters.Symlinks++
	case usage.Special:
		s.counters.Specials++
	case usage.File, usage.Directory:
	}
	c := s.cellOf(fileset, e, mtime, atime)
	if typ, _ := unpair(c.kind); typ == 0 {
		s.folded++
	}
	c.count = 1
	m := e.Measures()
	s.tally.cube.pourBeyond(&c, m)
	s.tally.bars.pourBeyond(&c, m)
}

// cellOf returns the empty cell that an inode belongs to.
func (s *Shard) cellOf(fileset uint32, e *usage.Entry, mtime, atime usage.AgeClass) cell {
	c := cell{owner: pair(e.UID, e.GID)}
	switch e.Type {
	case usage.File:
		m := e.Measures()
		c.kind = pair(s.types.Of(e.Name), fileset)
		c.class = classOf(usage.BucketOf(m.Size), usage.BucketOf(m.Allocated), mtime, atime)
	case usage.Directory:
		c.kind = pair(typeDirectory, fileset)
	case usage.Symlink:
		c.kind = pair(typeSymlink, fileset)
	case usage.Special:
		c.kind = pair(typeSpecial, fileset)
	}
	return c
}

// addDirectory adds a directory's own inode, which belongs to the fileset that the
// directory opens.
func (s *Shard) addDirectory(e *usage.Entry) {
	s.counters.Directories++
	fileset := s.filesetOf(e.Dir)
	if uint64(e.Blocks) >= ordinary/usage.BlockSize {
		s.addBeyond(fileset, e, 0, 0)
	} else {
		s.count(pair(e.UID, e.GID), pair(typeDirectory, fileset), 0, 0, uint64(e.Blocks)*usage.BlockSize, 0)
	}
	s.tally.dirs.own(e)
}

func (s *Shard) filesetOf(dir *usage.Dir) uint32 {
	if !s.filesetKnown || dir.Fileset != s.fileset {
		s.fileset, s.filesetNumber, s.filesetKnown = dir.Fileset, s.tally.filesets.number(dir.Fileset), true
	}
	return s.filesetNumber
}

// bucketOf is usage.BucketOf for what fits into 64 bits.
func bucketOf(n uint64) usage.SizeBucket { return usage.BucketOf(usage.BytesFromWords(0, n)) }
