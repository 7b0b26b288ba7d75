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
	// Folded counts the regular files that are under usage.Rest, as there were more
	// types or cells than a Tally tells apart; 0 means that the cube is exact. Result
	// files do not have it.
	Folded int64
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

// Merge returns what one scan of both parts gives. The parts must not overlap.
func (p *Partial) Merge(o *Partial) *Partial {
	sum := &Partial{Root: p.Root.clone(), Categories: make(map[string]string), Folded: p.Folded + o.Folded}
	sum.Root.merge(o.Root.clone())
	r := p.rows(o)
	sum.Counters = p.Counters
	sum.Counters.Add(o.Counters)

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
		removeInode(&sum.Counters, drop.Type)
		r.remove(&drop)
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
	r.drop()
	sum.Cells, sum.Sizes, sum.Ages = r.cells, r.sizes, r.ages
	for _, c := range sum.Cells {
		sum.Categories[c.Type] = cmp.Or(p.Categories[c.Type], o.Categories[c.Type])
	}
	return sum
}

func byInode(a, b Link) int { return cmp.Or(cmp.Compare(a.Dev, b.Dev), cmp.Compare(a.Ino, b.Ino)) }

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

// fold joins neighbours for as long as join says that they are one, in place.
func fold[T any](rows []T, join func(a, b T) (T, bool)) []T {
	out := rows[:0]
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
