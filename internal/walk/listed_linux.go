package walk

import (
	"hash/maphash"
	"sync"

	"fstally/internal/usage"
)

// listed is what was seen of a directory so far. File systems list an entry again
// when a directory changes while it is read, under the same name or, after a rename,
// under another: either way it is one inode, to be counted once. It holds 8 to 32
// bytes per entry while the directory is read.
type listed struct {
	mu     sync.Mutex
	inodes numbers // of entries with one name, on the device of the directory
	names  numbers // hashes of device, inode and name, of all others
}

// nameSeed is of the process: hashes are compared within one directory only.
var nameSeed = maphash.MakeSeed() //nolint:gochecknoglobals // never changed; a seed per directory would gain nothing

// again reports whether e, found in a directory on the device dev, was listed before.
// l.mu must be held.
func (l *listed) again(e *usage.Entry, dev uint64) bool {
	single := e.Nlink <= 1 || e.Type == usage.Directory
	if single && e.Dev == dev && e.Ino != 0 {
		return !l.inodes.add(e.Ino)
	}
	var h maphash.Hash
	h.SetSeed(nameSeed)
	_, _ = h.Write(e.Name)
	maphash.WriteComparable(&h, [2]uint64{e.Dev, e.Ino})
	return !l.names.add(h.Sum64() | 1)
}

// reserve makes room for so many more entries at once.
func (l *listed) reserve(entries int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inodes.reserve(entries)
}

// forget frees what was held.
func (l *listed) forget() { l.inodes, l.names = numbers{}, numbers{} }

// numbers is a set of numbers other than 0, with linear probing. The zero value is
// empty.
type numbers struct {
	slots []uint64 // a power of two, at most three quarters full; 0 is free
	count int
}

// add reports whether n is new.
func (s *numbers) add(n uint64) bool {
	s.reserve(1)
	return s.put(n)
}

func (s *numbers) reserve(more int) {
	size := max(32, len(s.slots))
	for (s.count+more)*4 > size*3 {
		size *= 2
	}
	if size > len(s.slots) {
		s.resize(size)
	}
}

func (s *numbers) put(n uint64) bool {
	mask := uint64(len(s.slots) - 1)
	// Numbers of neighbours stay near each other, as they come one after the other;
	// what is 4,096 apart, or a stride of that, goes anywhere.
	for i := n + n>>12*0x9E3779B97F4A7C15; ; i++ {
		switch slot := &s.slots[i&mask]; *slot {
		case n:
			return false
		case 0:
			*slot = n
			s.count++
			return true
		}
	}
}

func (s *numbers) resize(size int) {
	old := s.slots
	s.slots, s.count = make([]uint64, size), 0
	for _, n := range old {
		if n != 0 {
			s.put(n)
		}
	}
}
