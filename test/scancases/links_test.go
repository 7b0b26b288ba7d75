//go:build linux

package scancases_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/scan"
	"fstally/internal/usage"
	"fstally/internal/walk/walktest"
	"fstally/test/tree"
)

// C001: no scan remembers what another one saw, neither before nor beside it.
func TestScansForgetLinks(t *testing.T) {
	root := t.TempDir()
	tree.Make(t, root, tree.Dir{
		"d1": tree.Dir{"f": tree.File{Size: 10 << 30, Data: tree.Sparse}}, "d2": tree.Dir{"f": tree.HardLink{To: "d1/f"}},
	})
	o := options(root)
	for range 3 {
		wantTotals(t, check(t, o), 1, 10<<30)
	}
	for _, e := range engines() {
		o.Engine, o.Walkers = e, 2
		var beside sync.WaitGroup
		for range 4 {
			beside.Go(func() {
				r, err := scan.Run(t.Context(), o)
				if err != nil {
					t.Error(err)
					return
				}
				wantTotals(t, counted{r, told(r)}, 1, 10<<30)
			})
		}
		beside.Wait()
	}
}

// C002: two parts of one scan share an inode.
func TestLinkSharedByParts(t *testing.T) {
	root := t.TempDir()
	tree.Make(t, root, tree.Dir{"b1": tree.Dir{"f": tree.File{Size: 128 << 10}}, "b2": tree.Dir{"f": tree.HardLink{To: "b1/f"}}})
	o := options(root)
	o.Parts = []string{"b1", "b2"}
	c := count(t, o, engines()...)
	wantTotals(t, c, 1, 128<<10)
	if c.told.Links != 2 {
		t.Errorf("%d names of files, want 2", c.told.Links)
	}
}

// C004: the other name lies outside.
func TestLinkFromOutside(t *testing.T) {
	root := t.TempDir()
	tree.Make(t, root, tree.Dir{"a": tree.Dir{"f": tree.File{Size: 3 << 20}}, "b": tree.Dir{"f": tree.HardLink{To: "a/f"}}})
	wantTotals(t, check(t, options(root+"/b")), 1, 3<<20)
}

// C005: who is charged for an inode does not depend on who came first.
func TestChargeOfALinkDoesNotFlicker(t *testing.T) {
	root := t.TempDir()
	tree.Make(t, root, tree.Dir{
		"p1": tree.Dir{"x": tree.Dir{"f": tree.File{Size: 1 << 20}}}, "p2": tree.Dir{"x": tree.Dir{"f.bin": tree.HardLink{To: "p1/x/f"}}},
	})
	for range 12 { // of four numbers of walkers each
		c := count(t, options(root), engines()...)
		wantRow(t, c.told.Filesets, "p1", 1, 1<<20)
		wantRow(t, c.told.Filesets, "p2", 0, 0)
		wantRow(t, c.told.Types, "(none)", 1, 1<<20)
		wantRow(t, c.told.Types, "bin", 0, 0)
	}
}

// C007: backups that share what did not change.
func TestBackupsOfLinks(t *testing.T) {
	root := t.TempDir()
	first, second, third := tree.Dir{}, tree.Dir{}, tree.Dir{}
	for i := range 200 {
		name := fmt.Sprintf("f%03d.dat", i)
		first[name] = tree.File{Size: 8 << 10}
		second[name], third[name] = tree.HardLink{To: "s1/" + name}, tree.HardLink{To: "s1/" + name}
	}
	tree.Make(t, root, tree.Dir{"s1": first, "s2": second, "s3": third})
	c := check(t, options(root))
	wantTotals(t, c, 200, 1638400)
	wantRow(t, c.told.Filesets, "s1", 200, 1638400)
	wantRow(t, c.told.Filesets, "s3", 0, 0)
	if c.told.Links != 600 {
		t.Errorf("%d names of files, want 600", c.told.Links)
	}
}

// C008: all 64 bits of device and inode number tell inodes apart.
func TestLinksOf64Bits(t *testing.T) {
	root := t.TempDir()
	tree.Make(t, root, tree.Dir{"a": tree.File{Size: 10}, "b": tree.File{Size: 10}, "c": tree.File{Size: 10}, "d": tree.File{Size: 10}})
	inode := func(dev, ino uint64) *walktest.Fault {
		return &walktest.Fault{Change: func(e *usage.Entry, _ *uint64) { e.Dev, e.Ino, e.Nlink = dev, ino, 2 }}
	}
	o := options(root)
	o.FS = &walktest.FS{Root: root, Faults: map[string]*walktest.Fault{
		"a": inode(0, 1<<64-1), "b": inode(0, 1<<32-1), "c": inode(1<<40, 1<<64-1), "d": inode(0, 1<<64-1),
	}}
	c := count(t, o, engines()...)
	wantTotals(t, c, 3, 30) // d is a second name of a
	if diff := cmp.Diff(int64(4), c.told.Links); diff != "" {
		t.Errorf("names of files: %s", diff)
	}
}
