//go:build linux

package scancases_test

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"fstally/internal/usage"
	"fstally/internal/walk/walktest"
	"fstally/test/oracle"
	"fstally/test/tree"
)

// C009: the histograms say which size they are of.
func TestHistogramsOfBothSizes(t *testing.T) {
	root := t.TempDir()
	tree.Make(t, root, tree.Dir{
		"file.img": tree.File{Size: 512 << 20, Data: tree.Sparse}, "real.bin": tree.File{Size: 2 << 20, Data: 2 << 20},
	})
	c := check(t, options(root))
	for _, tc := range []struct {
		typ  string
		by   usage.Measure
		want int64
	}{
		{"img", usage.Size, 512 << 20}, {"img", usage.Allocated, 0},
		{"bin", usage.Size, 2 << 20}, {"bin", usage.Allocated, 2 << 20},
	} {
		found := false
		for _, cell := range c.Summary().Sizes {
			if cell.Dimension == usage.Type && cell.Value.Text == tc.typ && cell.By == tc.by {
				found = cell.Files == 1 && cell.Bucket == usage.BucketOf(usage.ByteCount(tc.want))
			}
		}
		if !found {
			t.Errorf("the file of type %s is not in the bucket of %d by %s", tc.typ, tc.want, tc.by)
		}
	}
}

// C010: what is allocated is blocks of 512 bytes, whatever the file says of its size.
func TestImageOfAVirtualMachine(t *testing.T) {
	root := t.TempDir()
	file, err := os.Create(filepath.Join(root, "Docker.raw"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt(make([]byte, 30<<20), 500<<20); err != nil {
		t.Fatal(err)
	}
	if err := file.Truncate(1 << 40); err != nil {
		t.Fatal(err)
	}
	if err := file.Sync(); err != nil { // allocates
		t.Fatal(err)
	}
	c := check(t, options(root))
	wantTotals(t, c, 1, 1<<40)
	raw := c.told.Types[0]
	const metadata = 1 << 20
	if low := int64(30 << 20); raw.Key != "raw" || raw.Allocated.Int64() < low || raw.Allocated.Int64() > low+metadata {
		t.Errorf("%s bytes are allocated for %s, want %d and some metadata", raw.Allocated, raw.Key, low)
	}
}

// C012: what directories take is no file's.
func TestDirectoriesAreATypeOfTheirOwn(t *testing.T) {
	root := t.TempDir()
	d := tree.Dir{}
	for i := range 1000 {
		d[fmt.Sprintf("d%03d", i)] = tree.Dir{"x.csv": tree.File{Size: 10}}
	}
	tree.Make(t, root, d)
	c := check(t, options(root))
	wantTotals(t, c, 1000, 10000)
	wantRow(t, c.told.Types, "csv", 1000, 10000)
	wantRow(t, c.told.Types, "(directory)", 0, 0)
	for what, rows := range map[string][]oracle.Row{
		"users": c.told.Users, "groups": c.told.Groups, "types": c.told.Types, "filesets": c.told.Filesets,
		"size classes": c.told.SizeClasses, "age classes": c.told.AgeClasses,
	} {
		inodes, allocated := int64(0), new(big.Int)
		for _, row := range rows {
			inodes += row.Inodes
			allocated.Add(allocated, row.Allocated)
		}
		if inodes != 2001 || allocated.Cmp(c.told.Allocated) != 0 {
			t.Errorf("%s sum to %d inodes, %s allocated; all are 2001 and %s", what, inodes, allocated, c.told.Allocated)
		}
	}
}

// C015: neither of size and allocated bounds the other.
func TestSizesThatLookWrong(t *testing.T) {
	root := t.TempDir()
	tree.Make(t, root, tree.Dir{"sparse": tree.File{}, "replicated": tree.File{}, "on-tape": tree.File{}})
	sized := func(size, blocks int64) *walktest.Fault {
		return &walktest.Fault{Change: func(e *usage.Entry, _ *uint64) { e.Size, e.Blocks = size, blocks }}
	}
	o := options(root)
	o.FS = &walktest.FS{Root: root, Faults: map[string]*walktest.Fault{
		"":       {Change: func(e *usage.Entry, _ *uint64) { e.Blocks = 0 }},
		"sparse": sized(1<<30, 100), "replicated": sized(1, 24), "on-tape": sized(10<<30, 0),
	}}
	c := count(t, o, engines()...)
	wantTotals(t, c, 3, 11811160065)
	if c.told.Allocated.Int64() != 63488 || c.told.Slack.Int64() != 24*512-1 {
		t.Errorf("%s allocated, %s slack", c.told.Allocated, c.told.Slack)
	}
}

// C051: what directories say of their own size has no meaning that is shared.
func TestSizeOfDirectories(t *testing.T) {
	d := tree.Dir{}
	for i := range 100 {
		sub := tree.Dir{}
		for j := range 10 {
			sub[fmt.Sprint(j)] = tree.File{Size: 100}
		}
		d[fmt.Sprintf("d%02d", i)] = sub
	}
	disk, memory := t.TempDir(), tmpfs(t, "")
	for _, root := range []string{disk, memory} {
		tree.Make(t, root, d)
		c := check(t, options(root))
		wantTotals(t, c, 1000, 100000)
		wantRow(t, c.told.Types, "(directory)", 0, 0)
	}

	// As CephFS has it: a directory's size is that of all that is below.
	recursive := &walktest.Fault{Change: func(e *usage.Entry, _ *uint64) { e.Size = 1 << 40 }}
	faults := map[string]*walktest.Fault{"": recursive}
	for name := range d {
		faults[name] = recursive
	}
	o := options(disk)
	o.FS = &walktest.FS{Root: disk, Faults: faults}
	wantTotals(t, count(t, o, engines()...), 1000, 100000)
}

// tmpfs mounts one that takes any size and time.
func tmpfs(t *testing.T, data string) (root string) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	tree.Mount(t, "none", root, "tmpfs", 0, data)
	return root
}
