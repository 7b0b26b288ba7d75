package aggregate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/aggregate"
	"fstally/internal/classify"
	"fstally/internal/usage"
)

const start = int64(1_800_000_000)

// invent makes a tree of two parts, x and y, below a root, as batches in
// preorder: batch 0 is the root's own entry.
func invent(seed uint64, dirs int) []listing {
	r := rand.New(rand.NewPCG(seed, 1))
	root := &usage.Dir{}
	own := func(d *usage.Dir) usage.Entry {
		return usage.Entry{
			Name: []byte(d.Name), Type: usage.Directory, Nlink: 2, Dev: 1, Ino: r.Uint64(), UID: uint32(r.IntN(4)),
			Blocks: 8, Mtime: start - int64(r.IntN(1000)), Dir: d,
		}
	}
	batches := []listing{{nil, []usage.Entry{own(root)}}}
	all := []*usage.Dir{root}
	var top []usage.Entry
	for _, name := range []string{"x", "y"} {
		d := &usage.Dir{Parent: root, Name: name, Depth: 1, Fileset: name}
		all = append(all, d)
		top = append(top, own(d))
	}
	batches = append(batches, listing{root, top})
	for i := range dirs {
		parent := all[1+r.IntN(len(all)-1)]
		d := &usage.Dir{Parent: parent, Name: fmt.Sprintf("d%d", i), Depth: parent.Depth + 1, Fileset: parent.Fileset}
		all = append(all, d)
		batches = append(batches, listing{parent, []usage.Entry{own(d)}})
		var files []usage.Entry
		for j := range r.IntN(12) {
			e := usage.Entry{
				Name: fmt.Appendf(nil, "f%d.%c", j, 'a'+r.IntN(8)), Nlink: 1, Dev: 1, Ino: 1000 + uint64(i*100+j), UID: uint32(r.IntN(4)),
				GID: uint32(r.IntN(2)), Size: r.Int64N(1 << r.IntN(40)), Mtime: start - r.Int64N(1<<30), Atime: start - r.Int64N(1<<30),
			}
			e.Blocks = (e.Size + 4095) / 4096 * 8
			switch r.IntN(6) {
			case 0: // one of a few inodes with several names, which all agree in their attributes
				n := r.IntN(10)
				e = usage.Entry{
					Name: e.Name, Nlink: 60, Dev: 1, Ino: uint64(n), UID: uint32(n % 3), Size: int64(n) << 20, Blocks: int64(n) << 11,
					Mtime: start - int64(n)*1e6, Atime: start,
				}
			case 1:
				e.Type, e.Size = usage.Symlink, 9
			case 2:
				e.Type = usage.Special
			}
			files = append(files, e)
		}
		batches = append(batches, listing{d, files})
	}
	return batches
}

func finish(batches []listing, shards int) *aggregate.Partial {
	tally := newTally(0, 0)
	all := make([]*aggregate.Shard, shards)
	for i := range all {
		all[i] = tally.NewShard()
	}
	for i, b := range batches {
		for j := range b.entries { // one entry at a time, to mix the shards as much as can be
			all[(i*7+j)%shards].Add(b.dir, b.entries[j:j+1])
		}
	}
	return tally.Finish(1, nil, nil, func(typ string) string { return "c" + typ })
}

// newTally returns a tally with these limits, 0 for the usual ones.
func newTally(types, cells int) *aggregate.Tally {
	return aggregate.New(aggregate.Options{
		Started: start, SizeClasses: usage.DefaultSizeClasses(), Types: classify.NewTypes(types), MaxCells: cells,
	})
}

func TestShardsChangeNothing(t *testing.T) {
	for seed := range uint64(6) {
		batches := invent(seed, 60)
		want := finish(batches, 1)
		if err := want.Check(); err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{2, 7, 64} {
			if diff := cmp.Diff(want, finish(batches, n)); diff != "" {
				t.Fatalf("seed %d: %d shards differ from one: %s", seed, n, diff)
			}
		}
	}
}

func TestMergeOfPartsIsTheWhole(t *testing.T) {
	part := func(batches []listing, name string) []listing {
		var out []listing
		for _, b := range batches {
			if b.dir == nil {
				continue
			}
			if b.dir.Parent == nil { // the entries of the root are those of the parts themselves
				for _, e := range b.entries {
					if string(e.Name) == name {
						out = append(out, listing{b.dir, []usage.Entry{e}})
					}
				}
				continue
			}
			if b.dir.Fileset == name {
				out = append(out, b)
			}
		}
		return out
	}
	shared := 0
	for seed := range uint64(15) {
		batches := invent(seed, 80)
		px, py := part(batches, "x"), part(batches, "y")
		x, y := finish(px, 3), finish(py, 2)
		both := finish(append(px, py...), 1)
		both.Counters.Vanished = 2
		shared += len(x.Links) + len(y.Links) - len(both.Links)
		want := both.Summary()
		if diff := cmp.Diff(want, x.Merge(y).Summary()); diff != "" {
			t.Fatalf("seed %d: x+y differs from one scan: %s", seed, diff)
		}
		if diff := cmp.Diff(want, y.Merge(x).Summary()); diff != "" {
			t.Fatalf("seed %d: y+x differs from one scan: %s", seed, diff)
		}
		if err := x.Merge(y).Check(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	if shared == 0 {
		t.Error("no inode had names in both parts: nothing was tested")
	}
}

// TestDimensionsAgree holds every dimension to the same totals (case C019).
func TestDimensionsAgree(t *testing.T) {
	s := finish(invent(1, 200), 2).Summary()
	for _, d := range usage.AllDimensions() {
		var sum usage.Measures
		for _, m := range s.Marginal(d) {
			sum.Add(m)
		}
		if sum != s.Totals {
			t.Errorf("%s sums to %v, the scan to %v", d, sum, s.Totals)
		}
	}
	if root := s.Directories[0]; root.Measures != s.Totals || root.Last != len(s.Directories)-1 {
		t.Errorf("the root's row holds %v up to row %d, want %v and %d", root.Measures, root.Last, s.Totals, len(s.Directories)-1)
	}
}

func TestHardLinkIsChargedToTheSmallestPath(t *testing.T) {
	root := &usage.Dir{}
	a := &usage.Dir{Parent: root, Name: "a", Depth: 1, Fileset: "a"}
	b := &usage.Dir{Parent: root, Name: "b", Depth: 1, Fileset: "b"}
	link := func(name string) usage.Entry {
		return usage.Entry{Name: []byte(name), Nlink: 3, Dev: 1, Ino: 7, Size: 100, Blocks: 8, Mtime: start, Atime: start}
	}
	// The third name is outside: the inode is counted all the same.
	p := finish([]listing{{b, []usage.Entry{link("z.bin")}}, {a, []usage.Entry{link("m.txt")}}}, 2)
	s := p.Summary()
	want := usage.Measures{Files: 1, Inodes: 1, Size: usage.ByteCount(100), Allocated: usage.ByteCount(4096), Slack: usage.ByteCount(3996)}
	if s.Totals != want || s.Counters.Links != 2 {
		t.Errorf("totals %+v with %d names, want %+v with 2", s.Totals, s.Counters.Links, want)
	}
	if got := s.Marginal(usage.Type)[usage.Value{Text: "txt"}]; got != want {
		t.Errorf("type txt holds %+v, want all", got)
	}
	if got := s.Marginal(usage.Fileset)[usage.Value{Text: "a"}]; got != want {
		t.Errorf("fileset a holds %+v, want all", got)
	}
	if len(p.Links) != 1 || p.Links[0].Path != "a/m.txt" || p.Links[0].Names != 2 {
		t.Errorf("open links: %+v", p.Links)
	}
}

// TestSumsBeyond64Bits is case C118.
func TestSumsBeyond64Bits(t *testing.T) {
	root := &usage.Dir{}
	huge := usage.Entry{Name: []byte("big.x"), Nlink: 1, Size: math.MaxInt64}
	s := finish([]listing{{root, []usage.Entry{huge, huge}}}, 1).Summary()
	if got := s.Totals.Size.String(); got != "18446744073709551614" {
		t.Errorf("two files of 2^63-1 bytes sum to %s", got)
	}
}

func TestTypesAreLimited(t *testing.T) {
	root := &usage.Dir{}
	var entries []usage.Entry
	for i := range 2 * usage.MaxTypes {
		entries = append(entries, usage.Entry{Name: fmt.Appendf(nil, "f.t%05d", i), Nlink: 1, Size: int64(i), Blocks: int64(i)})
	}
	entries = append(entries, usage.Entry{Name: []byte("plain"), Nlink: 1})
	s := finish([]listing{{root, entries}}, 1).Summary()
	types := s.Marginal(usage.Type)
	if len(types) != usage.MaxTypes+2 {
		t.Errorf("%d types are kept, want %d, (none) and (rest)", len(types), usage.MaxTypes)
	}
	if rest := types[usage.Value{Text: usage.Rest}]; rest.Files != usage.MaxTypes {
		t.Errorf("(rest) holds %d files, want %d", rest.Files, usage.MaxTypes)
	}
	if _, ok := types[usage.Value{Text: "t01999"}]; !ok {
		t.Error("the largest type is not kept")
	}
	if s.Categories[usage.Rest] != usage.Rest {
		t.Errorf("the category of (rest) is %q", s.Categories[usage.Rest])
	}
	var files int64
	for _, c := range s.Sizes {
		if c.Dimension == usage.Type && c.By == usage.Size {
			files += c.Files
		}
	}
	if files != s.Totals.Files {
		t.Errorf("the histogram by type holds %d files of %d", files, s.Totals.Files)
	}
}

func TestDirectoriesWorthKeeping(t *testing.T) {
	root := &usage.Dir{}
	batches := []listing{{nil, []usage.Entry{{Type: usage.Directory, Nlink: 2, Dir: root}}}}
	add := func(name string, files int, uid uint32, blocks int64) {
		d := &usage.Dir{Parent: root, Name: name, Depth: 1}
		b := listing{dir: d}
		for i := range files {
			b.entries = append(b.entries, usage.Entry{Name: fmt.Appendf(nil, "f%d", i), Nlink: 1, UID: uid, Size: blocks * 512, Blocks: blocks})
		}
		batches = append(batches, listing{root, []usage.Entry{{Name: []byte(name), Type: usage.Directory, Nlink: 2, UID: 1, Dir: d}}}, b)
	}
	add("bulk", 50_000, 1, 1000)
	add("small", 1, 1, 1) // 2 of 50,000 inodes: below a ten-thousandth, and nothing to its owner
	add("mine", 1, 2, 1)  // as small, but all that its owner has
	s := finish(batches, 1).Summary()
	var names []string
	for _, d := range s.Directories {
		names = append(names, d.Name)
	}
	if diff := cmp.Diff([]string{"", "bulk", "mine"}, names); diff != "" {
		t.Errorf("kept directories: %s", diff)
	}
}
