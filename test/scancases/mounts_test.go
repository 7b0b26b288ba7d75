//go:build linux

package scancases_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"fstally/internal/usage"
	"fstally/test/tree"
)

// wantSkipped compares what was left out.
func wantSkipped(t *testing.T, c counted, want ...usage.Skipped) {
	t.Helper()
	if diff := cmp.Diff(want, c.Summary().Skipped); diff != "" {
		t.Errorf("skipped: %s", diff)
	}
}

// C066: what the kernel invents is not data.
func TestProcIsNotEntered(t *testing.T) {
	root := t.TempDir()
	tree.Make(t, root, tree.Dir{"proc": tree.Dir{}, "sys": tree.Dir{}, "home": tree.Dir{"f": tree.File{Size: 5}}})
	tree.Mount(t, "proc", root+"/proc", "proc", 0, "")
	tree.Mount(t, "sysfs", root+"/sys", "sysfs", 0, "")
	c := check(t, options(root))
	wantTotals(t, c, 1, 5)
	wantSkipped(t, c, usage.Skipped{Reason: usage.SkipMount, Count: 2, Paths: []string{"proc", "sys"}})
}

// C067: one file system, however the root is written.
func TestBindMountIsNotCountedTwice(t *testing.T) {
	root := tmpfs(t, "")
	tree.Make(t, root, tree.Dir{"a": tree.Dir{"f": tree.File{Size: 7 << 20, Data: 7 << 20}}, "b": tree.Dir{}, "c": tree.Dir{}})
	tree.Bind(t, root+"/a", root+"/b")
	tree.Mount(t, "none", root+"/c", "tmpfs", 0, "")
	tree.Make(t, root+"/c", tree.Dir{"g": tree.File{Size: 5 << 20, Data: 5 << 20}})
	t.Chdir(root)
	for _, written := range []string{".", root, root + "/", "../root/a/.."} {
		c := check(t, options(written))
		wantTotals(t, c, 1, 7<<20)
		wantSkipped(t, c, usage.Skipped{Reason: usage.SkipMount, Count: 2, Paths: []string{"b", "c"}})
		if c.Meta.Root != root {
			t.Errorf("%s is called %s", written, c.Meta.Root)
		}
	}
}

// C072: snapshots within snapshots are left out once, at their top.
func TestSnapshotsOfSnapper(t *testing.T) {
	root := t.TempDir()
	file := tree.Dir{"f": tree.File{Size: 64 << 10}}
	snapshots := tree.Dir{}
	for i := range 30 {
		snapshots[fmt.Sprint(i+1)] = tree.Dir{"snapshot": tree.Dir{"home": file}}
	}
	tree.Make(t, root, tree.Dir{".snapshots": snapshots, "home": file})
	c := check(t, options(root))
	wantTotals(t, c, 1, 64<<10)
	wantSkipped(t, c, usage.Skipped{Reason: usage.SkipSnapshot, Count: 1, Paths: []string{".snapshots"}})
}

// C063: a scan leaves no trace in access times.
func TestAccessTimesAreLeftAlone(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	tree.Mount(t, "none", root, "tmpfs", unix.MS_STRICTATIME, "")
	at := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	untouched := func(n tree.Node) tree.Node { return tree.Timed{Node: n, Atime: at, Mtime: at} }
	tree.Make(t, root, tree.Dir{
		"d": untouched(tree.Dir{"f": untouched(tree.File{Size: 1}), "sub": untouched(tree.Dir{"g": untouched(tree.File{})})}),
		"l": untouched(tree.Symlink{To: "d"}),
	})
	count(t, options(root), own()...)
	for _, path := range []string{"d", "d/f", "d/sub", "d/sub/g", "l"} {
		var st unix.Stat_t
		if err := unix.Lstat(filepath.Join(root, path), &st); err != nil {
			t.Fatal(err)
		}
		if st.Atim.Sec != at.Unix() {
			t.Errorf("%s was read %s", path, time.Unix(st.Atim.Unix()).UTC())
		}
	}
}
