//go:build linux

package scancases_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fstally/internal/usage"
	"fstally/test/tree"
)

// dig makes a directory within a directory and so on, with a file in the last.
func dig(t *testing.T, root, name string, levels int) {
	t.Helper()
	at, err := unix.Open(root, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(at) }()
	for range levels {
		if err := unix.Mkdirat(at, name, 0o755); err != nil {
			t.Fatal(err)
		}
		next, err := unix.Openat(at, name, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		_ = unix.Close(at)
		at = next
	}
	leaf, err := unix.Openat(at, "leaf.dat", unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(leaf) }()
	if err := unix.Ftruncate(leaf, 4096); err != nil {
		t.Fatal(err)
	}
}

// C042: paths have no greatest length.
func TestLongerThanPathMax(t *testing.T) {
	root := t.TempDir()
	dig(t, root, strings.Repeat("d", 100), 60)
	o := options(root)
	c := count(t, o, own()...)
	checkOracle(t, o, c)
	wantTotals(t, c, 1, 4096)
	if c.told.Directories != 61 || c.told.Errors != 0 {
		t.Errorf("%d directories, %d errors", c.told.Directories, c.told.Errors)
	}
	for _, e := range engines() {
		if !e.byPath {
			continue
		}
		c := count(t, o, e)
		errors := c.Summary().Errors
		if len(errors) != 1 || errors[0].Errno != "ENAMETOOLONG" || errors[0].Count != 1 || len(errors[0].Paths[0]) < 3900 {
			t.Errorf("%s says %+v, want one path that is too long", e.Name(), errors)
		}
	}
}

// C043: depth costs neither descriptors nor stack.
func TestTwentyThousandLevels(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := unix.Rlimit{Cur: 1024, Max: limit.Max}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			t.Error(err)
		}
	})
	for _, tc := range []struct {
		levels int
		with   []engine
	}{
		{1900, engines()}, {20_000, own()},
	} {
		t.Run(fmt.Sprint(tc.levels), func(t *testing.T) {
			root := t.TempDir()
			t.Cleanup(func() { tree.Run(t, "rm", "-rf", root+"/q") }) // os.RemoveAll opens all levels at once
			dig(t, root, "q", tc.levels)
			c := count(t, options(root), tc.with...)
			wantTotals(t, c, 1, 4096)
			if c.told.Directories != int64(tc.levels)+1 || c.told.Errors != 0 {
				t.Errorf("%d directories, %d errors", c.told.Directories, c.told.Errors)
			}
		})
	}
}

// C046: the depth of filesets says how to group, not how far to go.
func TestDepthOfFilesetsCutsNothing(t *testing.T) {
	root := t.TempDir()
	tree.Make(t, root, tree.Dir{"g": tree.Dir{"a": tree.Dir{"b": tree.Dir{"c": tree.Dir{"d": tree.Dir{"e": tree.Dir{"f": tree.Dir{
		"big": tree.File{Size: 64 << 20, Data: tree.Sparse},
	}}}}}}}})
	for depth, name := range map[int]string{0: "(none)", 1: "g", 2: "g/a", 3: "g/a/b", 7: "g/a/b/c/d/e/f", 8: "(none)"} {
		o := options(root)
		o.Filesets = usage.FilesetRules{Depth: depth}
		wantRow(t, check(t, o).told.Filesets, name, 1, 64<<20)
	}
}

// C048: links that lead back are links.
func TestCyclesOfLinks(t *testing.T) {
	root := t.TempDir()
	tree.Make(t, root, tree.Dir{
		"real": tree.Dir{
			"a.txt": tree.File{Size: 3}, "s1": tree.Symlink{To: "."}, "s2": tree.Symlink{To: "."}, "up": tree.Symlink{To: "../real"},
		},
		"loopA": tree.Symlink{To: "loopB"}, "loopB": tree.Symlink{To: "loopA"},
	})
	c := check(t, options(root))
	wantRow(t, c.told.Types, "txt", 1, 3)
	if c.told.Files != 1 || c.told.Symlinks != 5 || c.told.Directories != 2 || c.told.Errors != 0 {
		t.Errorf("%+v", c.told)
	}
}

// C047: a link is as long as what it says, whatever it leads to.
func TestLinksToBigFiles(t *testing.T) {
	root := t.TempDir()
	tree.Make(t, root, tree.Dir{
		"out": tree.Dir{"big": tree.File{Size: 5 << 30, Data: tree.Sparse}, "real": tree.File{Size: 8 << 20, Data: tree.Sparse}},
		"r":   tree.Dir{"l1": tree.Symlink{To: "../out/big"}, "l2": tree.Symlink{To: "../out/real"}, "l3": tree.Symlink{To: "/nonexistent"}},
	})
	c := check(t, options(root+"/r"))
	wantTotals(t, c, 0, 33)
	wantRow(t, c.told.Types, "(symlink)", 0, 33)
	if c.told.Symlinks != 3 || c.told.Errors != 0 {
		t.Errorf("%+v", c.told)
	}
}
