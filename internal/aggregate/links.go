package aggregate

import (
	"strings"
	"sync"

	"fstally/internal/usage"
)

// links holds the inodes that have several names, each under the smallest path that
// was met so far. They stay until the end of the walk, also when all names were
// seen: a directory that changes while it is read may give a name twice.
//
// The table is cut into stripes by inode number, so that shards seldom wait for one
// another.
type links struct{ stripes [64]linkStripe }

type linkStripe struct {
	mu    sync.Mutex
	index map[inode]uint32 // of links
	links []link
	_     [24]byte // a cache line for each stripe
}

// inode identifies an inode within one scan.
type inode struct{ dev, ino uint64 }

// link is an inode under the smallest of its paths: name in dir. The attributes are
// those that this name had.
type link struct {
	dir          *usage.Dir
	name         string
	size, blocks int64
	uid, gid     uint32
	nlink        uint32
	names        uint32 // seen so far
	typ          usage.EntryType
	mtime, atime usage.AgeClass
}

func (l *links) init() {
	for i := range l.stripes {
		l.stripes[i].index = make(map[inode]uint32)
	}
}

// add notes the name e of an inode in dir.
func (l *links) add(dir *usage.Dir, e *usage.Entry, mtime, atime usage.AgeClass) {
	id := inode{e.Dev, e.Ino}
	s := &l.stripes[hash(id.ino, 0, 0)>>58]
	s.mu.Lock()
	defer s.mu.Unlock()
	i, known := s.index[id]
	if !known {
		i = uint32(len(s.links))
		s.index[id] = i
		s.links = append(s.links, link{})
	}
	to := &s.links[i]
	to.names++
	if known && !before(dir, string(e.Name), to.dir, to.name) {
		return
	}
	*to = link{
		dir: dir, name: string(e.Name), size: e.Size, blocks: e.Blocks, uid: e.UID, gid: e.GID,
		nlink: e.Nlink, names: to.names, typ: e.Type, mtime: mtime, atime: atime,
	}
}

// entry returns the entry that l was made of, but for its times.
func (l *link) entry(id inode) usage.Entry {
	return usage.Entry{
		Name: []byte(l.name), Type: l.typ, Nlink: l.nlink, UID: l.uid, GID: l.gid, Dev: id.dev, Ino: id.ino,
		Size: l.size, Blocks: l.blocks,
	}
}

// before reports whether the path of name in dir is bytewise smaller than that of
// other in its directory. It makes no paths of them: it looks for the two names
// under the last directory that both have above them.
func before(dir *usage.Dir, name string, otherDir *usage.Dir, other string) bool {
	a, b := component{name, dir, false}, component{other, otherDir, false}
	for a.in.Depth > b.in.Depth {
		a.up()
	}
	for b.in.Depth > a.in.Depth {
		b.up()
	}
	for a.in != b.in && a.in.Parent != nil && b.in.Parent != nil {
		a.up()
		b.up()
	}
	if a.name == b.name && a.deeper == b.deeper && (dir != otherDir || name != other) {
		// A directory that was listed twice has two Dirs.
		return dir.Join([]byte(name)) < otherDir.Join([]byte(other))
	}
	return a.before(b)
}

// component is one of a path; deeper says that a slash and more follows.
type component struct {
	name   string
	in     *usage.Dir
	deeper bool
}

func (c *component) up() { *c = component{c.in.Name, c.in.Parent, true} }

// before compares components with what follows them.
func (c component) before(o component) bool {
	n := min(len(c.name), len(o.name))
	if order := strings.Compare(c.name[:n], o.name[:n]); order != 0 {
		return order < 0
	}
	return c.byteAt(n) < o.byteAt(n)
}

func (c component) byteAt(i int) int {
	switch {
	case i < len(c.name):
		return int(c.name[i])
	case c.deeper:
		return '/'
	default:
		return -1
	}
}
