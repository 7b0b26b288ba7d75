package aggregate

import (
	"sync"

	"fstally/internal/usage"
)

// Types numbers the types of regular files. Number 0 stands for usage.Rest. It is
// called concurrently.
type Types interface {
	Of(name []byte) uint32     // of a file with this name, raw bytes
	Name(number uint32) string // of the type
}

// MaxCells is how many cells of the cube a scan keeps, where Options do not say:
// with it a scan stays below a GiB, and its result can still be imported.
const MaxCells = 4_000_000

// Options say how a Tally counts.
type Options struct {
	Started     int64 // when the scan began, seconds since 1970: ages count from there
	SizeClasses usage.SizeClasses
	Types       Types
	// MaxCells is where the cube stops to tell file types apart: beyond so many
	// cells, what would make a new one goes to the type usage.Rest of the same
	// user, group, fileset and classes. Totals and all other dimensions stay exact.
	// 0 for the constant of this name.
	MaxCells int
}

// Tally holds the sums of one walk. NewShard and the shards may be used
// concurrently.
type Tally struct {
	options  Options
	ages     usage.Ages
	filesets filesets
	cube     cube
	bars     histograms
	dirs     directories
	links    links

	sharding sync.Mutex
	shards   []*Shard
}

// New returns an empty Tally.
func New(o Options) *Tally {
	if o.MaxCells <= 0 {
		o.MaxCells = MaxCells
	}
	t := &Tally{options: o, ages: usage.AgesFrom(o.Started)}
	t.cube.init(o.MaxCells, o.SizeClasses)
	t.bars.init()
	t.dirs.init()
	t.links.init()
	return t
}

// NewShard returns a shard for one walker.
func (t *Tally) NewShard() *Shard {
	s := &Shard{tally: t, types: t.options.Types, ages: t.ages}
	s.buffer.init()
	t.sharding.Lock()
	defer t.sharding.Unlock()
	t.shards = append(t.shards, s)
	return s
}

// filesets numbers the filesets. Shards ask once for each directory that is of
// another fileset than the one before.
type filesets struct {
	mu      sync.RWMutex
	numbers map[string]uint32
	names   []string
}

func (f *filesets) number(name string) uint32 {
	f.mu.RLock()
	n, known := f.numbers[name]
	f.mu.RUnlock()
	if known {
		return n
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if n, known = f.numbers[name]; known {
		return n
	}
	if f.numbers == nil {
		f.numbers = make(map[string]uint32)
	}
	n = uint32(len(f.names))
	f.numbers[name] = n
	f.names = append(f.names, name)
	return n
}
