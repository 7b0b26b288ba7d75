//go:build linux

package scancases_test

import (
	"fmt"
	"strings"
	"testing"

	"fstally/internal/usage"
	"fstally/test/tree"
)

// C029, C030: names need not be UTF-8, and no walker ends for one.
func TestNamesThatAreNoText(t *testing.T) {
	root := t.TempDir()
	d := tree.Dir{"report\x96final.rtf": tree.File{Size: 1}, "d\xff": tree.Dir{"a.b\xfe": tree.File{Size: 1}}}
	for i := range 200 {
		d[fmt.Sprintf("%03d", i)] = tree.Dir{"\xc4bad": tree.File{Size: 1}}
	}
	tree.Make(t, root, d)
	c := check(t, options(root))
	wantTotals(t, c, 202, 202)
	wantRow(t, c.told.Filesets, `d\xff`, 1, 1)
	wantRow(t, c.told.Types, "rtf", 1, 1)
	wantRow(t, c.told.Types, "(none)", 201, 201)
}

// C033, C035: names that mean something to whatever shows them.
func TestNamesThatMeanSomething(t *testing.T) {
	root := t.TempDir()
	three := tree.Dir{"a\"b.x\"y": tree.File{Size: 1}, `c\x2dd.sw\ap`: tree.File{Size: 1}, "plain.txt": tree.File{Size: 1}}
	d := tree.Dir{}
	names := []string{"\n@proj", "a\tb", "hooks\x1b[2J", `fs"1`, `fs\2`, "<b>", "(none)"}
	for _, name := range names {
		d[name] = three
	}
	tree.Make(t, root, d)
	c := check(t, options(root))
	wantTotals(t, c, int64(3*len(names)), int64(3*len(names)))
	for _, name := range names {
		wantRow(t, c.told.Filesets, usage.EscapeKey(name), 3, 3)
	}
	for _, row := range c.told.Filesets {
		if strings.ContainsAny(row.Key, "\n\t\x1b") {
			t.Errorf("%q is shown as it is", row.Key)
		}
	}
}

// C039: extensions without end, of which those that matter are kept.
func TestMoreTypesThanAreKept(t *testing.T) {
	root := t.TempDir()
	d := tree.Dir{}
	for i := range 5000 {
		d[fmt.Sprintf("f.%d", i)] = tree.File{Size: 1}
		d[fmt.Sprintf("sample.%039xf", i)] = tree.File{Size: 1}
		d[fmt.Sprintf("log.2026-01-%05d", i)] = tree.File{Size: 1}
		d[fmt.Sprintf("notes%d. and then some words", i)] = tree.File{Size: 1}
	}
	for i := range 3000 {
		d[fmt.Sprintf("x.t%04d", i)] = tree.File{Size: int64(i), Data: tree.Sparse}
		if i < 10 { // more files than others of its type
			d[fmt.Sprintf("y.t%04d", i)] = tree.File{}
		}
	}
	tree.Make(t, root, tree.Dir{"d": d, "e": d})
	c := check(t, options(root))
	wantRow(t, c.told.Types, "(numbered)", 10000, 10000)
	wantRow(t, c.told.Types, "(none)", 30000, 30000)
	wantRow(t, c.told.Types, "t0009", 4, 18)
	if n := len(c.told.Types); n != usage.MaxTypes+4 { // (numbered), (none), (rest), (directory)
		t.Errorf("%d types are kept", n)
	}
}

// C041: what has no type, or looks as if it were called so.
func TestTypesThatLookReserved(t *testing.T) {
	root := t.TempDir()
	tree.Make(t, root, tree.Dir{
		"plain": tree.File{Size: 10 << 10}, "other": tree.File{Size: 10 << 10},
		"c.null": tree.File{Size: 1}, "d.none": tree.File{Size: 1}, "e.rest": tree.File{Size: 1},
		// A parenthesis is no part of a type, so that these have none.
		"a.(none)": tree.File{Size: 1}, "b.(other)": tree.File{Size: 1}, "f.(rest)": tree.File{Size: 1},
	})
	c := check(t, options(root))
	wantRow(t, c.told.Types, "(none)", 5, 20483)
	wantRow(t, c.told.Types, "(rest)", 0, 0)
	for _, name := range []string{"null", "none", "rest"} {
		wantRow(t, c.told.Types, name, 1, 1)
	}
}
