package aggregate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"fstally/internal/usage"
)

// Partial is the sum of one scan or of a part of one. Its rows are sorted, so
// that equal trees give equal partials.
type Partial struct {
	Counters   usage.Counters
	Cells      []usage.Cell
	Sizes      []usage.SizeCell
	Ages       []usage.AgeCell
	Root       *Node
	Links      []Link // by Dev, Ino
	Errors     []usage.ScanError
	Skipped    []usage.Skipped
	Categories map[string]string // of the types in Cells
}

// Link is an inode of which names are missing, so that they may turn up in
// another part. It is contained in the sums, charged to Path.
type Link struct {
	Dev, Ino uint64
	Nlink    uint32
	Names    uint32 // seen in this part
	Path     string // raw, below the root: the bytewise smallest of them
	Type     usage.EntryType
	Key      usage.Key
	Atime    usage.AgeClass
	Measures usage.Measures
}

// Finish adds up the shards of one walk, which are used up, and what the walk
// reports beside entries. category tells which category a file type is in.
func Finish(
	shards []*Shard, vanished int64, errors []usage.ScanError, skipped []usage.Skipped, category func(string) string,
) *Partial {
	if len(shards) == 0 {
		return &Partial{Root: &Node{}}
	}
	all := shards[0]
	for _, s := range shards[1:] {
		all.absorb(s)
	}
	p := &Partial{Errors: errors, Skipped: skipped}
	for id, l := range all.links {
		all.addInode(l.dir, &l.entry)
		if l.names < l.entry.Nlink {
			p.Links = append(p.Links, Link{
				Dev: id.dev, Ino: id.ino, Nlink: l.entry.Nlink, Names: l.names, Path: l.path,
				Type: l.entry.Type, Key: all.classifier.Key(l.dir, &l.entry),
				Atime: usage.AgeOf(all.start, l.entry.Atime), Measures: l.entry.Measures(),
			})
		}
	}
	slices.SortFunc(p.Links, byInode)
	th := all.totals.thresholds()
	for _, l := range p.Links {
		// A merge may move the inode to another fileset; what is kept now must
		// include what would be kept then.
		th.filesets[l.Key.Fileset] = th.filesets[l.Key.Fileset].minus(ownedOf(l.Measures))
	}
	p.Root = buildTree(all.dirs, &th)
	c := &all.totals.counters
	c.Vanished = vanished
	for _, e := range errors {
		c.Errors += e.Count
	}
	for _, s := range skipped {
		c.Skipped += s.Count
	}
	p.set(&all.totals)
	p.Categories = make(map[string]string)
	for _, cell := range p.Cells {
		p.Categories[cell.Type] = category(cell.Type)
	}
	return p
}

// Merge returns what one scan of both parts gives. The parts must not overlap.
func (p *Partial) Merge(o *Partial) *Partial {
	sum := &Partial{Root: p.Root.clone(), Categories: make(map[string]string)}
	sum.Root.merge(o.Root.clone())
	t := p.tables()
	theirs := o.tables()
	t.merge(&theirs)

	links := make(map[inode]Link, len(p.Links))
	for _, l := range p.Links {
		links[inode{l.Dev, l.Ino}] = l
	}
	for _, l := range o.Links {
		id := inode{l.Dev, l.Ino}
		have, twice := links[id]
		if !twice {
			links[id] = l
			continue
		}
		keep, drop := have, l
		if drop.Path < keep.Path {
			keep, drop = drop, keep
		}
		t.remove(drop.Key, drop.Type, drop.Measures, drop.Atime)
		sum.Root.remove(drop.Path, drop.Key.UID, drop.Measures)
		keep.Names += drop.Names
		links[id] = keep
		if keep.Names >= keep.Nlink {
			delete(links, id)
		}
	}
	sum.Links = slices.SortedFunc(maps.Values(links), byInode)
	sum.Errors = mergeErrors(p.Errors, o.Errors)
	sum.Skipped = mergeSkipped(p.Skipped, o.Skipped)
	sum.set(&t)
	for _, c := range sum.Cells {
		sum.Categories[c.Type] = cmp.Or(p.Categories[c.Type], o.Categories[c.Type])
	}
	return sum
}

func byInode(a, b Link) int { return cmp.Or(cmp.Compare(a.Dev, b.Dev), cmp.Compare(a.Ino, b.Ino)) }

// tables returns the sums as tables again.
func (p *Partial) tables() tables {
	t := newTables()
	t.counters = p.Counters
	for _, c := range p.Cells {
		m := c.Measures
		t.cells[c.Key] = &m
	}
	for _, c := range p.Sizes {
		h := &t.breakdown(c.Dimension, c.Value).bySize
		if c.By == usage.Allocated {
			h = &t.breakdown(c.Dimension, c.Value).byAllocated
		}
		*h.bar(c.Bucket) = bar{c.Files, c.Size, c.Allocated}
	}
	for _, c := range p.Ages {
		*t.breakdown(c.Dimension, c.Value).age(clockIndex(c.Clock), c.Class) = c.Measures
	}
	return t
}

func (t *tables) breakdown(d usage.Dimension, v usage.Value) *breakdown {
	switch d {
	case usage.User:
		return at(t.users, v.ID)
	case usage.Type:
		return at(t.types, v.Text)
	default:
		return at(t.filesets, v.Text)
	}
}

func clockIndex(c usage.Clock) int {
	if c == usage.ByAtime {
		return 1
	}
	return 0
}

// set writes the sums as sorted rows.
func (p *Partial) set(t *tables) {
	p.Counters = t.counters
	p.Cells = make([]usage.Cell, 0, len(t.cells))
	for key, m := range t.cells {
		p.Cells = append(p.Cells, usage.Cell{Key: key, Measures: *m})
	}
	slices.SortFunc(p.Cells, byKey)
	for _, uid := range slices.Sorted(maps.Keys(t.users)) {
		p.setBreakdown(usage.User, usage.Value{ID: uid}, t.users[uid])
	}
	for _, name := range slices.Sorted(maps.Keys(t.types)) {
		p.setBreakdown(usage.Type, usage.Value{Text: name}, t.types[name])
	}
	for _, name := range slices.Sorted(maps.Keys(t.filesets)) {
		p.setBreakdown(usage.Fileset, usage.Value{Text: name}, t.filesets[name])
	}
}

func (p *Partial) setBreakdown(d usage.Dimension, v usage.Value, b *breakdown) {
	sizes := func(by usage.Measure) func(usage.SizeBucket, bar) {
		return func(bucket usage.SizeBucket, n bar) {
			p.Sizes = append(p.Sizes, usage.SizeCell{
				Dimension: d, Value: v, By: by, Bucket: bucket, Files: n.files, Size: n.size, Allocated: n.allocated,
			})
		}
	}
	b.bySize.each(sizes(usage.Size))
	b.byAllocated.each(sizes(usage.Allocated))
	if b.ages == nil {
		return
	}
	for i, clock := range []usage.Clock{usage.ByMtime, usage.ByAtime} {
		for class, m := range b.ages[i] {
			if !m.IsZero() {
				p.Ages = append(p.Ages, usage.AgeCell{
					Dimension: d, Value: v, Clock: clock, Class: usage.AgeClass(class), Measures: m,
				})
			}
		}
	}
}

func byKey(a, b usage.Cell) int {
	return cmp.Or(
		cmp.Compare(a.UID, b.UID), cmp.Compare(a.GID, b.GID),
		cmp.Compare(a.Type, b.Type), cmp.Compare(a.Fileset, b.Fileset),
		cmp.Compare(a.Pool, b.Pool), cmp.Compare(a.SizeClass, b.SizeClass), cmp.Compare(a.AgeClass, b.AgeClass))
}

// mergeErrors joins the failures of two parts, by Op and Errno.
func mergeErrors(a, b []usage.ScanError) []usage.ScanError {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(x, y usage.ScanError) int {
		return cmp.Or(cmp.Compare(x.Op, y.Op), cmp.Compare(x.Errno, y.Errno))
	})
	return fold(all, func(x, y usage.ScanError) (usage.ScanError, bool) {
		if x.Op != y.Op || x.Errno != y.Errno {
			return x, false
		}
		x.Count, x.Paths = x.Count+y.Count, mergeSamples(x.Paths, y.Paths)
		return x, true
	})
}

// mergeSkipped joins what two parts left out, by Reason.
func mergeSkipped(a, b []usage.Skipped) []usage.Skipped {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(x, y usage.Skipped) int { return cmp.Compare(x.Reason, y.Reason) })
	return fold(all, func(x, y usage.Skipped) (usage.Skipped, bool) {
		if x.Reason != y.Reason {
			return x, false
		}
		x.Count, x.Paths = x.Count+y.Count, mergeSamples(x.Paths, y.Paths)
		return x, true
	})
}

// fold joins neighbours for as long as join says that they are one.
func fold[T any](rows []T, join func(a, b T) (T, bool)) []T {
	var out []T
	for _, row := range rows {
		if n := len(out); n > 0 {
			if both, ok := join(out[n-1], row); ok {
				out[n-1] = both
				continue
			}
		}
		out = append(out, row)
	}
	return out
}

func mergeSamples(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return all[:min(len(all), usage.MaxSamples)]
}

// Check reports rows that cannot have come from a scan: it is what stands
// between a damaged or invented result and the store.
func (p *Partial) Check() error {
	if p.Root == nil {
		return fmt.Errorf("the directory tree is missing")
	}
	var total usage.Measures
	for _, c := range p.Cells {
		known := c.SizeClass <= usage.SizeNotFile && int(c.AgeClass) < usage.AgeClasses && c.Type != ""
		if !known || c.Files < 0 || c.Inodes < 0 {
			return fmt.Errorf("a cell of the cube is out of range: %+v", c)
		}
		if _, ok := p.Categories[c.Type]; !ok {
			return fmt.Errorf("file type %q has no category", c.Type)
		}
		total.Add(c.Measures)
	}
	if total != p.Root.Measures {
		return fmt.Errorf("the directory tree holds %v, the cube %v", p.Root.Measures, total)
	}
	bySize := make(map[usage.Dimension]int64)
	for _, c := range p.Sizes {
		if c.Bucket >= usage.SizeBuckets || c.Files < 0 {
			return fmt.Errorf("a bar of the size histogram is out of range: %+v", c)
		}
		if c.By == usage.Size {
			bySize[c.Dimension] += c.Files
		}
	}
	for _, d := range []usage.Dimension{usage.User, usage.Type, usage.Fileset} {
		if bySize[d] != total.Files {
			return fmt.Errorf("the size histogram by %s holds %d files, the cube %d", d, bySize[d], total.Files)
		}
	}
	for _, c := range p.Ages {
		if int(c.Class) >= usage.AgeClasses {
			return fmt.Errorf("a row of the age histogram is out of range: %+v", c)
		}
	}
	return nil
}
