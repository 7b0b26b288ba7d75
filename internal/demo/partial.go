package demo

import (
	"slices"

	"fstally/internal/aggregate"
	"fstally/internal/usage"
)

// tally is usage.Measures in numbers that do not grow beyond an exabyte.
type tally struct{ entries, size, allocated, slack int64 }

func (t *tally) add(o tally) {
	t.entries += o.entries
	t.size += o.size
	t.allocated += o.allocated
	t.slack += o.slack
}

// times returns the sums of n entries of the unit.
func (u *unit) times(n int64) tally {
	t := tally{entries: n, size: n * u.size, allocated: n * u.allocated}
	if u.entry == usage.File {
		t.slack = n * max(0, u.allocated-u.size)
	}
	return t
}

// measures returns the sums of files, or of other entries.
func (t tally) measures(files bool) usage.Measures {
	m := usage.Measures{
		Inodes: t.entries, Size: usage.ByteCount(t.size), Allocated: usage.ByteCount(t.allocated),
		Slack: usage.ByteCount(t.slack),
	}
	if files {
		m.Files = t.entries
	}
	return m
}

// clocks are the ages of files by mtime and by atime.
type clocks [2][usage.AgeClasses]tally

// view adds up what a scan sees.
type view struct {
	*layout
	bars            []tally
	users, filesets []clocks
	dirs            []struct{ files, others tally }
	newest          []int64 // mtime of the newest file of each directory, -1 for none
}

// partial returns what a scan finds that cannot look into the areas for which
// hidden is true. All sums are of the same numbers: no file is rounded away.
func (l *layout) partial(start int64, hidden func(*area) bool) *aggregate.Partial {
	p := &aggregate.Partial{Cells: make([]usage.Cell, 0, l.cellsBefore+l.cellsBefore/50)}
	v := view{
		layout: l,
		bars:   make([]tally, len(l.bars)),
		users:  make([]clocks, len(l.users)), filesets: make([]clocks, len(l.sets)),
		dirs: make([]struct{ files, others tally }, len(l.dirs)), newest: make([]int64, len(l.dirs)),
	}
	for i := range v.newest {
		v.newest[i] = -1
	}
	for _, g := range l.cells {
		first := &l.units[g.from]
		if first.area != nil && hidden(first.area) {
			continue
		}
		var byAge [usage.AgeClasses]tally
		for i := g.from; i < g.to; i++ {
			v.count(&l.units[i], &byAge, start)
		}
		for class, t := range byAge {
			if t.entries > 0 {
				p.Cells = append(p.Cells, usage.Cell{Key: first.key, Measures: t.measures(first.entry == usage.File)})
				p.Cells[len(p.Cells)-1].AgeClass = usage.AgeClass(class)
			}
		}
	}
	l.cellsBefore = len(p.Cells)
	p.Sizes, p.Ages = v.sizes(), v.ages()
	p.Root = v.tree(start)
	return p
}

// count counts one unit.
func (v *view) count(u *unit, byAge *[usage.AgeClasses]tally, start int64) {
	if u.entry != usage.File {
		t := u.times(u.stock[0])
		byAge[usage.AgeNotFile].add(t)
		v.dirs[u.dir].others.add(t)
		return
	}
	var total int64
	for age, n := range u.stock {
		if n == 0 {
			continue
		}
		class := usage.AgeClass(age)
		if u.future {
			class = usage.AgeFuture
		}
		if total == 0 {
			v.newest[u.dir] = max(v.newest[u.dir], v.mtime(class, start, int64(u.dir)))
		}
		total += n
		t := u.times(n)
		byAge[class].add(t)
		// Some were read since they were written: they are younger by atime.
		read := n * u.read / 256
		reread, rest := u.times(read), u.times(n-read)
		for _, c := range [...]*clocks{&v.users[u.user], &v.filesets[u.fileset]} {
			c[0][class].add(t)
			c[1][class/2].add(reread)
			c[1][class].add(rest)
		}
	}
	if total == 0 {
		return
	}
	t := u.times(total)
	v.dirs[u.dir].files.add(t)
	for _, bar := range u.bars {
		v.bars[bar].add(t)
	}
}

// mtime returns a time in an age class, some seconds into it.
func (v *view) mtime(class usage.AgeClass, start, some int64) int64 {
	if class == usage.AgeFuture {
		return start + 86400*400
	}
	ago := int64(600)
	for i, nights := range nightsIn() {
		if i < int(class) {
			ago += int64(nights) * 86400
		}
	}
	return start - ago - some*311%86000
}

func (v *view) sizes() []usage.SizeCell {
	rows := make([]usage.SizeCell, 0, len(v.bars))
	for i, t := range v.bars {
		if t.entries > 0 {
			row, m := v.layout.bars[i], t.measures(true)
			row.Files, row.Size, row.Allocated = m.Files, m.Size, m.Allocated
			rows = append(rows, row)
		}
	}
	return rows
}

func (v *view) ages() []usage.AgeCell {
	rows := make([]usage.AgeCell, 0, 10*(len(v.users)+len(v.filesets)))
	add := func(d usage.Dimension, value usage.Value, c *clocks) {
		for i, clock := range []usage.Clock{usage.ByMtime, usage.ByAtime} {
			for class, t := range c[i] {
				if t.entries > 0 {
					rows = append(rows, usage.AgeCell{
						Dimension: d, Value: value, Clock: clock, Class: usage.AgeClass(class), Measures: t.measures(true),
					})
				}
			}
		}
	}
	for i := range v.users {
		add(usage.User, usage.Value{ID: v.layout.users[i]}, &v.users[i])
	}
	for i := range v.filesets {
		add(usage.Fileset, usage.Value{Text: v.sets[i]}, &v.filesets[i])
	}
	return rows
}

// tree adds each directory to its parent, the last of the preorder first.
func (v *view) tree(start int64) *aggregate.Node {
	nodes := make([]aggregate.Node, len(v.dirs))
	for i := len(nodes) - 1; i >= 0; i-- {
		d, n := v.layout.dirs[i], &nodes[i]
		m := v.dirs[i].files.measures(true)
		m.Add(v.dirs[i].others.measures(false))
		n.Name, n.Fileset, n.UID, n.GID = d.name, d.fileset, d.uid, d.gid
		n.Measures.Add(m)
		own(n, d.uid, aggregate.Owned{Inodes: m.Inodes, Size: m.Size, Allocated: m.Allocated})
		if v.newest[i] >= 0 && (!n.HasFile || v.newest[i] > n.Newest) {
			n.Newest, n.HasFile = v.newest[i], true
		}
		if !n.HasFile {
			n.Newest = start - 86400*200
		}
		slices.Reverse(n.Children)
		if d.parent < 0 || n.Measures.IsZero() {
			continue
		}
		parent := &nodes[d.parent]
		parent.Measures.Add(n.Measures)
		for uid, o := range n.Owners {
			own(parent, uid, o)
		}
		if n.HasFile && (!parent.HasFile || n.Newest > parent.Newest) {
			parent.Newest, parent.HasFile = n.Newest, true
		}
		parent.Children = append(parent.Children, n)
	}
	return &nodes[0]
}

// own adds to what a user has in a directory.
func own(n *aggregate.Node, uid uint32, o aggregate.Owned) {
	if (o == aggregate.Owned{}) {
		return
	}
	if n.Owners == nil {
		n.Owners = make(map[uint32]aggregate.Owned)
	}
	sum := n.Owners[uid]
	n.Owners[uid] = aggregate.Owned{
		Inodes: sum.Inodes + o.Inodes, Size: sum.Size.Add(o.Size), Allocated: sum.Allocated.Add(o.Allocated),
	}
}
