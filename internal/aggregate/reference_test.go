package aggregate_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"fstally/internal/aggregate"
	"fstally/internal/classify"
	"fstally/internal/usage"
)

// named is an entry with its path.
type named struct {
	usage.Entry
	dir  *usage.Dir
	path string
}

// charged returns the entries of which each inode is counted: those with one name, and
// of several names the bytewise smallest.
func charged(all []listing) []named {
	var out []named
	links := make(map[[2]uint64]named)
	for _, l := range all {
		for _, e := range l.entries {
			n := named{e, l.dir, ""}
			if l.dir != nil {
				n.path = l.dir.Join(e.Name)
			}
			if !e.Linked() {
				out = append(out, n)
				continue
			}
			id := [2]uint64{e.Dev, e.Ino}
			if before, ok := links[id]; !ok || n.path < before.path {
				links[id] = n
			}
		}
	}
	for _, n := range links {
		out = append(out, n)
	}
	return out
}

func (n *named) key(types *classify.Types) usage.Key {
	k := usage.Key{UID: n.UID, GID: n.GID, SizeClass: usage.SizeNotFile, AgeClass: usage.AgeNotFile}
	if n.dir != nil {
		k.Fileset = n.dir.Fileset
	}
	switch n.Type {
	case usage.Directory:
		k.Type, k.Fileset = usage.TypeDir, n.Dir.Fileset
	case usage.Symlink:
		k.Type = usage.TypeSymlink
	case usage.Special:
		k.Type = usage.TypeSpecial
	case usage.File:
		k.Type = types.Name(types.Of(n.Name))
		k.SizeClass, k.AgeClass = usage.DefaultSizeClasses().Of(n.Size), usage.AgeOf(start, n.Mtime)
	}
	return k
}

// plainSums adds up the slow way, one map for each table, what a Tally should find.
func plainSums(all []listing) *usage.Summary {
	types := classify.NewTypes(0)
	cells := make(map[usage.Key]usage.Measures)
	sizes := make(map[usage.SizeCell]usage.SizeCell)
	ages := make(map[usage.AgeCell]usage.Measures)
	s := new(usage.Summary)
	for _, n := range charged(all) {
		k, m := n.key(types), n.Measures()
		s.Totals.Add(m)
		sum := cells[k]
		sum.Add(m)
		cells[k] = sum
		if n.Type != usage.File {
			continue
		}
		user, fileset := usage.Value{ID: k.UID}, usage.Value{Text: k.Fileset}
		for d, v := range map[usage.Dimension]usage.Value{usage.User: user, usage.Type: {Text: k.Type}, usage.Fileset: fileset} {
			for _, by := range []usage.Measure{usage.Size, usage.Allocated} {
				bar := usage.SizeCell{Dimension: d, Value: v, By: by, Bucket: usage.BucketOf(by.Of(m))}
				sum := cmp.Or(sizes[bar], bar)
				sum.Files, sum.Size, sum.Allocated = sum.Files+1, sum.Size.Add(m.Size), sum.Allocated.Add(m.Allocated)
				sizes[bar] = sum
			}
			if d == usage.Type {
				continue
			}
			for clock, at := range map[usage.Clock]int64{usage.ByMtime: n.Mtime, usage.ByAtime: n.Atime} {
				age := usage.AgeCell{Dimension: d, Value: v, Clock: clock, Class: usage.AgeOf(start, at)}
				sum := ages[age]
				sum.Add(m)
				ages[age] = sum
			}
		}
	}
	for k, m := range cells {
		s.Cells = append(s.Cells, usage.Cell{Key: k, Measures: m})
	}
	for _, bar := range sizes {
		s.Sizes = append(s.Sizes, bar)
	}
	for age, m := range ages {
		age.Measures = m
		s.Ages = append(s.Ages, age)
	}
	s.Directories = plainTree(all, s)
	return s
}

// subtree is what is below a directory.
type subtree struct {
	own      usage.Entry
	dir      *usage.Dir
	measures usage.Measures
	owners   map[uint32]usage.Measures
	newest   int64
	hasFile  bool
	kept     bool
}

// plainTree returns the directories that are worth a row: they have, by inodes, size or
// allocated, a ten-thousandth of all or a hundredth of their fileset's or of an owner's,
// or one that does is below.
func plainTree(all []listing, s *usage.Summary) []usage.DirectoryRow {
	trees := make(map[*usage.Dir]*subtree)
	for _, l := range all {
		for _, e := range l.entries {
			if e.Dir != nil {
				trees[e.Dir] = &subtree{own: e, dir: e.Dir, owners: make(map[uint32]usage.Measures)}
			}
		}
	}
	for _, l := range all {
		for _, e := range l.entries {
			for d := l.dir; d != nil && e.Type == usage.File; d = d.Parent {
				if t := trees[d]; !t.hasFile || e.Mtime > t.newest {
					t.newest, t.hasFile = e.Mtime, true
				}
			}
		}
	}
	for _, n := range charged(all) {
		from := n.dir
		if n.Dir != nil {
			from = n.Dir
		}
		for d := from; d != nil; d = d.Parent {
			t := trees[d]
			t.measures.Add(n.Measures())
			sum := t.owners[n.UID]
			sum.Add(n.Measures())
			t.owners[n.UID] = sum
		}
	}
	part := func(n uint64, m, whole usage.Measures) bool {
		for _, by := range []usage.Measure{usage.Inodes, usage.Size, usage.Allocated} {
			var sum usage.Bytes
			for range n {
				sum = sum.Add(by.Of(m))
			}
			if !sum.IsZero() && sum.Cmp(by.Of(whole)) >= 0 {
				return true
			}
		}
		return false
	}
	users, filesets := s.Marginal(usage.User), s.Marginal(usage.Fileset)
	for _, t := range trees {
		worth := t.dir.Parent == nil || part(10_000, t.measures, s.Totals) ||
			part(100, t.measures, filesets[usage.Value{Text: t.dir.Fileset}])
		for uid, m := range t.owners {
			worth = worth || part(100, m, users[usage.Value{ID: uid}])
		}
		for d := t.dir; worth && d != nil; d = d.Parent {
			trees[d].kept = true
		}
	}
	var rows []usage.DirectoryRow
	var visit func(d *usage.Dir, parent int)
	visit = func(d *usage.Dir, parent int) {
		t, self := trees[d], len(rows)
		newest := t.newest
		if !t.hasFile {
			newest = t.own.Mtime
		}
		rows = append(rows, usage.DirectoryRow{
			Parent: parent, Name: d.Name, UID: t.own.UID, GID: t.own.GID, Fileset: d.Fileset, Newest: newest, Measures: t.measures,
		})
		var below []*usage.Dir
		for _, t := range trees {
			if t.dir.Parent == d && t.kept {
				below = append(below, t.dir)
			}
		}
		slices.SortFunc(below, func(a, b *usage.Dir) int { return strings.Compare(a.Name, b.Name) })
		for _, d := range below {
			visit(d, self)
		}
		rows[self].Last = len(rows) - 1
	}
	for _, t := range trees {
		if t.dir.Parent == nil {
			visit(t.dir, -1)
		}
	}
	return rows
}

// leaving adds all entries to random shards in a random order that a walk could have,
// and leaves each directory as soon as all of it was added.
func leaving(r *rand.Rand, all []listing, tally *aggregate.Tally, shards int) {
	each := make([]*aggregate.Shard, shards)
	for i := range each {
		each[i] = tally.NewShard()
	}
	shard := func() *aggregate.Shard { return each[r.IntN(len(each))] }
	of := make(map[*usage.Dir][]usage.Entry)
	for _, l := range all {
		of[l.dir] = append(of[l.dir], l.entries...)
	}
	left := make(map[*usage.Dir]int) // entries and directories that are still to come
	type chunk struct {
		dir     *usage.Dir
		entries []usage.Entry
	}
	ready := []chunk{{nil, of[nil]}}
	for len(ready) > 0 {
		i := r.IntN(len(ready))
		c := &ready[i]
		n := 1 + r.IntN(len(c.entries))
		now, dir := c.entries[:n], c.dir
		if c.entries = c.entries[n:]; len(c.entries) == 0 {
			ready = slices.Delete(ready, i, i+1)
		}
		shard().Add(dir, now)
		var done *usage.Dir
		if dir != nil {
			left[dir] -= len(now)
			done = dir
		}
		for _, e := range now {
			if e.Dir == nil {
				continue
			}
			if e.Dir.Parent != nil {
				left[e.Dir.Parent]++
			}
			if left[e.Dir] = len(of[e.Dir]); left[e.Dir] > 0 {
				ready = append(ready, chunk{e.Dir, of[e.Dir]})
				continue
			}
			shard().Leave(e.Dir)
			if e.Dir.Parent != nil {
				left[e.Dir.Parent]--
			}
		}
		for d := done; d != nil && left[d] == 0; d = d.Parent {
			shard().Leave(d)
			if d.Parent != nil {
				left[d.Parent]--
			}
		}
	}
}

// rowsOf returns the rows of all tables, each as often as it is there.
func rowsOf(s *usage.Summary) map[any]int {
	rows := map[any]int{s.Totals: 1}
	for _, c := range s.Cells {
		rows[c]++
	}
	for _, c := range s.Sizes {
		rows[c]++
	}
	for _, c := range s.Ages {
		rows[c]++
	}
	return rows
}

func TestTallyAddsUpAsPlainSumsDo(t *testing.T) {
	unkept := 0
	for seed := range uint64(9) {
		all := invent(seed, 120)
		if seed%8 == 0 {
			all = withBulk(all, seed)
		}
		want := plainSums(all)
		for _, left := range []bool{false, true} {
			r := rand.New(rand.NewPCG(seed, 7))
			tally := newTally(0, 0)
			if left {
				aggregate.PruneOften(tally)
				leaving(r, all, tally, 1+r.IntN(5))
			} else {
				s := tally.NewShard()
				for _, l := range all {
					s.Add(l.dir, l.entries)
				}
			}
			got := tally.Finish(0, nil, nil, func(typ string) string { return typ }).Summary()
			if diff := gocmp.Diff(rowsOf(want), rowsOf(got)); diff != "" {
				t.Fatalf("seed %d, directories left %v: %s", seed, left, diff)
			}
			if diff := gocmp.Diff(want.Directories, got.Directories); diff != "" {
				t.Fatalf("seed %d, directories left %v: %s", seed, left, diff)
			}
			unkept += int(got.Counters.Directories) - len(got.Directories)
		}
	}
	if unkept < 100 {
		t.Errorf("only %d directories were not worth a row: pruning was not tested", unkept)
	}
}

// withBulk adds so much to each fileset that most other directories are not worth a
// row.
func withBulk(all []listing, seed uint64) []listing {
	for _, top := range all[1].entries {
		d := &usage.Dir{Parent: top.Dir, Name: "bulk", Depth: 2, Fileset: top.Dir.Fileset}
		own := usage.Entry{Name: []byte(d.Name), Type: usage.Directory, Nlink: 2, Dir: d}
		files := make([]usage.Entry, 40_000)
		for i := range files {
			files[i] = usage.Entry{
				Name: fmt.Appendf(nil, "%d.bulk", i), Nlink: 1, UID: uint32(i % 4), Mtime: start, Size: 1 << (30 + seed/2), Blocks: 1 << (21 + seed/2),
			}
		}
		all = append(all, listing{top.Dir, []usage.Entry{own}}, listing{d, files})
	}
	return all
}

// TestCeilings holds what a Tally with too many cells or types tells to what one
// without limits does: only the types may differ.
func TestCeilings(t *testing.T) {
	for _, limit := range []struct{ types, cells int }{{3, 0}, {0, 100}, {2, 50}, {0, 1}} {
		all := invent(11, 150)
		free, tight := newTally(0, 0), newTally(limit.types, limit.cells)
		for _, tally := range []*aggregate.Tally{free, tight} {
			leaving(rand.New(rand.NewPCG(1, 1)), all, tally, 3)
		}
		category := func(typ string) string { return typ }
		want, p := free.Finish(0, nil, nil, category), tight.Finish(0, nil, nil, category)
		if err := p.Check(); err != nil {
			t.Errorf("%+v: %v", limit, err)
		}
		got := p.Summary()
		if rest := got.Marginal(usage.Type)[usage.Value{Text: usage.Rest}]; rest.Files != p.Folded || p.Folded == 0 {
			t.Errorf("%+v: %d files are told to be of no type, %d are", limit, p.Folded, rest.Files)
		}
		if got.Categories[usage.Rest] != usage.Rest {
			t.Errorf("%+v: the category of (rest) is %q", limit, got.Categories[usage.Rest])
		}
		whole := want.Summary()
		for _, d := range []usage.Dimension{usage.User, usage.Group, usage.Fileset, usage.SizeClassDim, usage.AgeClassDim} {
			if diff := gocmp.Diff(whole.Marginal(d), got.Marginal(d)); diff != "" {
				t.Errorf("%+v: %s differs: %s", limit, d, diff)
			}
		}
		if diff := gocmp.Diff(whole.Directories, got.Directories); diff != "" {
			t.Errorf("%+v: directories differ: %s", limit, diff)
		}
		ofType := func(c usage.SizeCell) bool { return c.Dimension == usage.Type }
		if diff := gocmp.Diff(slices.DeleteFunc(whole.Sizes, ofType), slices.DeleteFunc(got.Sizes, ofType)); diff != "" {
			t.Errorf("%+v: histograms differ: %s", limit, diff)
		}
	}
}
