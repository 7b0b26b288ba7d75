package aggregate

import (
	"cmp"
	"slices"

	"fstally/internal/usage"
)

// rows are the sums of a Partial while they change: in the order of its rows, each
// key once.
type rows struct {
	cells []usage.Cell
	sizes []usage.SizeCell
	ages  []usage.AgeCell
}

// rows returns the sums of p and o in rows of their own. Those of p and o may come
// from a file, in any order.
func (p *Partial) rows(o *Partial) *rows {
	r := &rows{
		slices.Concat(p.Cells, o.Cells), slices.Concat(p.Sizes, o.Sizes), slices.Concat(p.Ages, o.Ages),
	}
	r.sum()
	return r
}

// sum sorts the rows and adds up those of one key.
func (r *rows) sum() {
	slices.SortFunc(r.cells, byKey)
	r.cells = fold(r.cells, func(a, b usage.Cell) (usage.Cell, bool) {
		same := a.Key == b.Key
		if same {
			a.Add(b.Measures)
		}
		return a, same
	})
	slices.SortFunc(r.sizes, byBar)
	r.sizes = fold(r.sizes, func(a, b usage.SizeCell) (usage.SizeCell, bool) {
		same := byBar(a, b) == 0
		if same {
			a.Files, a.Size, a.Allocated = a.Files+b.Files, a.Size.Add(b.Size), a.Allocated.Add(b.Allocated)
		}
		return a, same
	})
	slices.SortFunc(r.ages, byAge)
	r.ages = fold(r.ages, func(a, b usage.AgeCell) (usage.AgeCell, bool) {
		same := byAge(a, b) == 0
		if same {
			a.Add(b.Measures)
		}
		return a, same
	})
}

// remove takes one inode back.
func (r *rows) remove(l *Link) {
	if i, ok := slices.BinarySearchFunc(r.cells, usage.Cell{Key: l.Key}, byKey); ok {
		r.cells[i].Measures = r.cells[i].Sub(l.Measures)
	}
	if l.Type != usage.File {
		return
	}
	user, typ, fileset := usage.Value{ID: l.Key.UID}, usage.Value{Text: l.Key.Type}, usage.Value{Text: l.Key.Fileset}
	r.removeBars(usage.User, user, l.Measures)
	r.removeBars(usage.Type, typ, l.Measures)
	r.removeBars(usage.Fileset, fileset, l.Measures)
	r.removeAges(usage.User, user, l)
	r.removeAges(usage.Fileset, fileset, l)
}

func (r *rows) removeBars(d usage.Dimension, v usage.Value, m usage.Measures) {
	for _, by := range [2]usage.Measure{usage.Size, usage.Allocated} {
		bar := usage.SizeCell{Dimension: d, Value: v, By: by, Bucket: usage.BucketOf(by.Of(m))}
		if i, ok := slices.BinarySearchFunc(r.sizes, bar, byBar); ok {
			b := &r.sizes[i]
			b.Files, b.Size, b.Allocated = b.Files-m.Files, b.Size.Sub(m.Size), b.Allocated.Sub(m.Allocated)
		}
	}
}

func (r *rows) removeAges(d usage.Dimension, v usage.Value, l *Link) {
	for clock, class := range map[usage.Clock]usage.AgeClass{usage.ByMtime: l.Key.AgeClass, usage.ByAtime: l.Atime} {
		age := usage.AgeCell{Dimension: d, Value: v, Clock: clock, Class: class}
		if i, ok := slices.BinarySearchFunc(r.ages, age, byAge); ok {
			r.ages[i].Measures = r.ages[i].Sub(l.Measures)
		}
	}
}

// drop takes out what holds nothing any more.
func (r *rows) drop() {
	r.cells = slices.DeleteFunc(r.cells, func(c usage.Cell) bool { return c.IsZero() })
	r.sizes = slices.DeleteFunc(r.sizes, func(c usage.SizeCell) bool { return c.Files == 0 })
	r.ages = slices.DeleteFunc(r.ages, func(c usage.AgeCell) bool { return c.IsZero() })
}

// limitTypes moves what is of any other type than those kept to usage.Rest.
func (r *rows) limitTypes(kept map[string]bool) {
	stays := func(typ string) bool { return typ[0] == '(' || kept[typ] }
	for i := range r.cells {
		if c := &r.cells[i]; !stays(c.Type) {
			c.Type = usage.Rest
		}
	}
	for i := range r.sizes {
		if c := &r.sizes[i]; c.Dimension == usage.Type && !stays(c.Value.Text) {
			c.Value.Text = usage.Rest
		}
	}
	r.sum()
}

// removeInode takes back what an inode was counted as, beside its names.
func removeInode(c *usage.Counters, typ usage.EntryType) {
	switch typ {
	case usage.Symlink:
		c.Symlinks--
	case usage.Special:
		c.Specials--
	case usage.File, usage.Directory:
	}
}

// byKey is the order of Partial.Cells.
func byKey(a, b usage.Cell) int {
	return cmp.Or(
		cmp.Compare(a.UID, b.UID), cmp.Compare(a.GID, b.GID),
		cmp.Compare(a.Type, b.Type), cmp.Compare(a.Fileset, b.Fileset),
		cmp.Compare(a.Pool, b.Pool), cmp.Compare(a.SizeClass, b.SizeClass), cmp.Compare(a.AgeClass, b.AgeClass))
}

// byBar is the order of Partial.Sizes.
func byBar(a, b usage.SizeCell) int {
	return cmp.Or(
		cmp.Compare(rank(a.Dimension), rank(b.Dimension)),
		cmp.Compare(a.Value.ID, b.Value.ID), cmp.Compare(a.Value.Text, b.Value.Text),
		-cmp.Compare(a.By, b.By), // size before allocated
		cmp.Compare(a.Bucket, b.Bucket))
}

// byAge is the order of Partial.Ages.
func byAge(a, b usage.AgeCell) int {
	return cmp.Or(
		cmp.Compare(rank(a.Dimension), rank(b.Dimension)),
		cmp.Compare(a.Value.ID, b.Value.ID), cmp.Compare(a.Value.Text, b.Value.Text),
		-cmp.Compare(a.Clock, b.Clock), // mtime before atime
		cmp.Compare(a.Class, b.Class))
}

// rank is the order of the dimensions that have histograms.
func rank(d usage.Dimension) int {
	return slices.Index([]usage.Dimension{usage.User, usage.Type, usage.Fileset}, d)
}
