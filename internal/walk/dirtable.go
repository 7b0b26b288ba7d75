package walk

import (
	"hash/maphash"
	"strings"
	"sync"

	"fstally/internal/usage"
)

// dirTable finds the Dir of a directory by its full path. The zero value is an
// empty table. Methods are safe for concurrent use.
type dirTable struct {
	once   sync.Once
	seed   maphash.Seed
	shards [64]struct { // so that walkers seldom wait for each other
		sync.RWMutex
		dirs map[string]*usage.Dir
	}
}

// dirKey returns the key of a directory: the path that stands before the slash
// in the paths of its entries.
func dirKey(path string) string { return strings.TrimSuffix(path, "/") }

func (t *dirTable) shard(key string) int {
	t.once.Do(func() { t.seed = maphash.MakeSeed() })
	return int(maphash.String(t.seed, key) % uint64(len(t.shards)))
}

// add stores d, or reports false when the directory has a Dir already.
func (t *dirTable) add(key string, d *usage.Dir) bool {
	s := &t.shards[t.shard(key)]
	s.Lock()
	defer s.Unlock()
	if _, found := s.dirs[key]; found {
		return false
	}
	if s.dirs == nil {
		s.dirs = make(map[string]*usage.Dir)
	}
	s.dirs[key] = d
	return true
}

// get returns the Dir; nil where none was added.
func (t *dirTable) get(key string) *usage.Dir {
	s := &t.shards[t.shard(key)]
	s.RLock()
	defer s.RUnlock()
	return s.dirs[key]
}
