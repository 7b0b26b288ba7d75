//go:build linux

package oracle_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/usage"
	"fstally/test/oracle"
	"fstally/test/tree"
)

var start = time.Unix(1_800_000_000, 0)

// small is a tree whose sums can be added up by hand.
func small() tree.Dir {
	old := start.Add(-1000 * 24 * time.Hour)
	return tree.Dir{
		"a.TXT": tree.Timed{Node: tree.File{Size: 10}, Mtime: start.Add(time.Second)},
		"p1": tree.Dir{
			"b.tar.gz": tree.Timed{Node: tree.File{Size: 5000}, Mtime: old},
			"hole":     tree.Timed{Node: tree.File{Size: 1 << 40, Data: tree.Sparse}, Mtime: time.Unix(-1, 5e8)},
			"link":     tree.Symlink{To: "/nonexistent"},
			"new\nl":   tree.Fifo{},
		},
		"p2": tree.Dir{
			".snapshots": tree.Dir{"x.dat": tree.File{Size: 1}},
			"deep":       tree.Dir{".snapshots": tree.Dir{"y.dat": tree.Timed{Node: tree.File{Size: 3}, Mtime: start}}},
			// The smallest path of this inode is in p1.
			"0": tree.HardLink{To: "p1/b.tar.gz"},
		},
	}
}

func TestRun(t *testing.T) {
	root := t.TempDir()
	tree.Make(t, root, small())
	got, skipped, err := oracle.Run(t.Context(), oracle.Options{
		Root: root, Start: start, SizeClasses: usage.DefaultSizeClasses(),
		Depth: 1, Named: []string{"p2/deep"}, Snapshots: []string{".snapshots"},
	})
	if err != nil {
		t.Fatal(err)
	}
	type counts struct{ entries, links, files, inodes, directories, symlinks, specials int64 }
	c := counts{got.Entries, got.Links, got.Files, got.Inodes, got.Directories, got.Symlinks, got.Specials}
	// p2/.snapshots and p2/deep/.snapshots stand at the roots of filesets.
	if want := (counts{10, 4, 3, 9, 4, 1, 1}); c != want {
		t.Errorf("counts = %+v, want %+v", c, want)
	}
	if want := []string{"p2/.snapshots", "p2/deep/.snapshots"}; !cmp.Equal(skipped.Snapshots, want) {
		t.Errorf("skipped %q, want %q", skipped.Snapshots, want)
	}
	if want := int64(10 + 5000 + 1<<40 + len("/nonexistent")); got.Size.Int64() != want {
		t.Errorf("size = %s, want %d", got.Size, want)
	}
	for _, tc := range []struct {
		what string
		rows []oracle.Row
		want string // key: files, inodes
	}{
		{"types", got.Types, "(directory): 0 4; (none): 1 1; (special): 0 1; (symlink): 0 1; tar.gz: 1 1; txt: 1 1"},
		{"filesets", got.Filesets, "(none): 1 2; p1: 2 5; p2: 0 1; p2/deep: 0 1"},
		{"size classes", got.SizeClasses, "(not files): 0 6; 3072: 1 1; 32768: 1 1; over: 1 1"},
		{"age classes", got.AgeClasses, "(not files): 0 6; 5y: 1 1; future: 1 1; older: 1 1"},
	} {
		var rows []string
		for _, r := range tc.rows {
			rows = append(rows, r.Key+": "+big.NewInt(r.Files).String()+" "+big.NewInt(r.Inodes).String())
		}
		if text := strings.Join(rows, "; "); text != tc.want {
			t.Errorf("%s = %s\nwant %s", tc.what, text, tc.want)
		}
	}
}

// flat counts everything in root, without filesets and snapshots.
func flat(root string) oracle.Options {
	return oracle.Options{Root: root, Start: start, SizeClasses: usage.DefaultSizeClasses()}
}

func TestAllocatedEqualsDu(t *testing.T) {
	root := t.TempDir()
	tree.Make(t, root, small())
	got, _, err := oracle.Run(t.Context(), flat(root))
	if err != nil {
		t.Fatal(err)
	}
	du, err := oracle.Du(t.Context(), root)
	if err != nil || du.Cmp(got.Allocated) != 0 {
		t.Errorf("du says %s, %v; the oracle %s", du, err, got.Allocated)
	}
}

func TestDiff(t *testing.T) {
	root := t.TempDir()
	tree.Make(t, root, small())
	want, _, err := oracle.Run(t.Context(), flat(root))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	parse := func(text string) oracle.Result {
		r, err := oracle.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if diff := oracle.Diff(want, parse(string(text))); diff != "" {
		t.Errorf("a result differs from itself: %s", diff)
	}
	for _, change := range [][2]string{
		{`"files":`, `"lost":`},
		{`"key":"txt"`, `"key":"TXT"`},
		{`"key":"tar.gz"`, `"key":"txt"`},
		{`"slack":`, `"lost":`},
		{`"users":[`, `"lost":[`},
	} {
		changed := strings.ReplaceAll(string(text), change[0], change[1])
		if changed == string(text) || oracle.Diff(want, parse(changed)) == "" {
			t.Errorf("no difference after %q became %q", change[0], change[1])
		}
	}
}
