package aggregate

import "fstally/internal/usage"

// tables are the sums that have nothing to do with where in the tree an inode is.
type tables struct {
	counters usage.Counters
	cells    map[usage.Key]*usage.Measures
	users    map[uint32]*breakdown
	types    map[string]*breakdown // size histograms only
	filesets map[string]*breakdown
}

func newTables() tables {
	return tables{
		cells:    make(map[usage.Key]*usage.Measures),
		users:    make(map[uint32]*breakdown),
		types:    make(map[string]*breakdown),
		filesets: make(map[string]*breakdown),
	}
}

// add adds one inode; atime is the age class of its access time.
func (t *tables) add(key usage.Key, typ usage.EntryType, m usage.Measures, atime usage.AgeClass) {
	t.count(typ, 1)
	at(t.cells, key).Add(m)
	if typ != usage.File {
		return
	}
	user, fileset := at(t.users, key.UID), at(t.filesets, key.Fileset)
	user.addSize(m)
	fileset.addSize(m)
	at(t.types, key.Type).addSize(m)
	user.addAges(key.AgeClass, atime, m)
	fileset.addAges(key.AgeClass, atime, m)
}

// remove takes back what add added.
func (t *tables) remove(key usage.Key, typ usage.EntryType, m usage.Measures, atime usage.AgeClass) {
	t.count(typ, -1)
	cell := t.cells[key]
	if *cell = cell.Sub(m); cell.IsZero() {
		delete(t.cells, key)
	}
	if typ != usage.File {
		return
	}
	user, fileset := t.users[key.UID], t.filesets[key.Fileset]
	user.removeSize(m)
	fileset.removeSize(m)
	t.types[key.Type].removeSize(m)
	user.removeAges(key.AgeClass, atime, m)
	fileset.removeAges(key.AgeClass, atime, m)
}

func (t *tables) count(typ usage.EntryType, n int64) {
	switch typ {
	case usage.Directory:
		t.counters.Directories += n
	case usage.Symlink:
		t.counters.Symlinks += n
	case usage.Special:
		t.counters.Specials += n
	case usage.File:
	}
}

func (t *tables) merge(o *tables) {
	t.counters.Add(o.counters)
	for key, m := range o.cells {
		at(t.cells, key).Add(*m)
	}
	mergeBreakdowns(t.users, o.users)
	mergeBreakdowns(t.types, o.types)
	mergeBreakdowns(t.filesets, o.filesets)
}

// at returns the value of key, made when it is missing.
func at[K comparable, V any](m map[K]*V, key K) *V {
	v := m[key]
	if v == nil {
		v = new(V)
		m[key] = v
	}
	return v
}

func mergeBreakdowns[K comparable](to, from map[K]*breakdown) {
	for key, b := range from {
		if ours := to[key]; ours != nil {
			ours.merge(b)
		} else {
			to[key] = b
		}
	}
}
