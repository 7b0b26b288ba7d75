package aggregate

import (
	"bytes"

	"fstally/internal/usage"
)

// Classifier gives the key of an entry. It is called by one goroutine at a time.
type Classifier interface {
	Key(dir *usage.Dir, e *usage.Entry) usage.Key
}

// Shard adds up what one walker finds. It is not safe for concurrent use.
type Shard struct {
	classifier Classifier
	start      int64 // of the scan, seconds
	totals     tables
	dirs       map[*usage.Dir]*dirSums
	links      map[inode]*link
}

// NewShard returns an empty shard for a scan that started at start, in seconds
// since 1970: ages count from there.
func NewShard(c Classifier, start int64) *Shard {
	return &Shard{
		classifier: c,
		start:      start,
		totals:     newTables(),
		dirs:       make(map[*usage.Dir]*dirSums),
		links:      make(map[inode]*link),
	}
}

// inode identifies an inode within one scan.
type inode struct{ dev, ino uint64 }

// link is an inode that may have more names, under the smallest path so far.
type link struct {
	dir   *usage.Dir
	path  string // raw, below the root
	entry usage.Entry
	names uint32 // seen so far
}

// Add adds the entries of dir, or the root's own entry when dir is nil.
func (s *Shard) Add(dir *usage.Dir, entries []usage.Entry) {
	c := &s.totals.counters
	for i := range entries {
		e := &entries[i]
		c.Entries++
		if e.Type == usage.File {
			c.Links++
			s.dir(dir).seen(e.Mtime)
		}
		if e.Linked() {
			s.addLink(dir, e)
			continue
		}
		s.addInode(dir, e)
	}
}

// addInode adds an inode whose charged path is known.
func (s *Shard) addInode(dir *usage.Dir, e *usage.Entry) {
	m := e.Measures()
	s.totals.add(s.classifier.Key(dir, e), e.Type, m, usage.AgeOf(s.start, e.Atime))
	holder := dir
	if e.Type == usage.Directory {
		holder = e.Dir
	}
	d := s.dir(holder)
	d.add(e.UID, m)
	if e.Type == usage.Directory {
		d.self, d.uid, d.gid, d.mtime = true, e.UID, e.GID, e.Mtime
	}
}

func (s *Shard) dir(d *usage.Dir) *dirSums {
	sums := s.dirs[d]
	if sums == nil {
		sums = &dirSums{}
		s.dirs[d] = sums
	}
	return sums
}

func (s *Shard) addLink(dir *usage.Dir, e *usage.Entry) {
	id := inode{e.Dev, e.Ino}
	path := dir.Join(e.Name)
	l := s.links[id]
	if l == nil {
		l = &link{}
		s.links[id] = l
	}
	l.names++
	if l.dir == nil || path < l.path {
		l.dir, l.path, l.entry = dir, path, *e
		l.entry.Name = bytes.Clone(e.Name)
	}
}

// Leave says that no entry of dir or of what is below it will come any more.
func (s *Shard) Leave(*usage.Dir) {}

// absorb adds the links and directories of t to s; t must not be used again.
func (s *Shard) absorb(t *Shard) {
	s.totals.merge(&t.totals)
	for id, theirs := range t.links {
		ours := s.links[id]
		if ours == nil {
			s.links[id] = theirs
			continue
		}
		names := ours.names + theirs.names
		if theirs.path < ours.path {
			*ours = *theirs
		}
		ours.names = names
	}
	for d, theirs := range t.dirs {
		ours := s.dirs[d]
		if ours == nil {
			s.dirs[d] = theirs
			continue
		}
		if theirs.self {
			ours.self, ours.uid, ours.gid, ours.mtime = true, theirs.uid, theirs.gid, theirs.mtime
		}
		ours.merge(theirs)
	}
}
