//go:build linux

package oracle_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fstally/internal/usage"
	"fstally/test/oracle"
	"fstally/test/tree"
)

// program builds fstally for a test.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fstally")
	tree.Run(t, "go", "build", "-o", path, "fstally/cmd/fstally")
	return path
}

// dryRun returns what a dry run prints, without the times that it took.
func dryRun(t *testing.T, program string, args ...string) oracle.Result {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, append([]string{"scan", "--dry-run", "--format", "json"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, stderr.Bytes())
	}
	r, err := oracle.Parse(out)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// snapshotNames are written down again, or a name that the scanner forgot would not be missed.
func snapshotNames() []string { return []string{".snapshots", ".snapshot", ".zfs", "~snapshot"} }

// torture is a tree of what scans of this kind are known to stumble over.
func torture() tree.Dir {
	day := 24 * time.Hour
	at := func(ago time.Duration) time.Time { return time.Now().Add(-ago) }
	times := tree.Dir{
		"future":    tree.Timed{Node: tree.File{}, Mtime: at(-1000 * day)},
		"1969":      tree.Timed{Node: tree.File{}, Mtime: time.Unix(-1, 5e8)},
		"1901":      tree.Timed{Node: tree.File{}, Mtime: time.Unix(math.MinInt32, 0)},
		"year-2300": tree.Timed{Node: tree.File{}, Mtime: time.Unix(1<<33, 0)},
	}
	for _, days := range []int{1, 8, 31, 91, 181, 366, 731, 1826} {
		times[fmt.Sprintf("%d.days", days)] = tree.Timed{Node: tree.File{Size: 1}, Mtime: at(time.Duration(days) * day)}
	}
	sizes := tree.Dir{}
	for i, n := range []int64{0, 1, 3072, 3073, 32768, 32769, 1<<23 + 1, 1 << 30, 1<<30 + 1, 1 << 42} {
		sizes[fmt.Sprintf("s%d.dat", i)] = tree.File{Size: n}
	}
	names := tree.Dir{}
	for _, name := range []string{
		"a\nb.txt", "\xff\xfe.x\x96", "d\xff", `back\slash.sw\ap`, `a"b.x"y`, "\u202egnp.exe", "*?[.c", " ", "...",
		".bashrc", "v1.2.3", "a.tar.gz", ".tar.gz", "X.FASTQ.GZ", "a..b", "x.", strings.Repeat("n", 250) + ".long",
		"(none)", "a.12-4", "\u212a.\u212a",
	} {
		names[name] = tree.File{Size: 10}
	}
	many := tree.Dir{}
	for i := range 1200 {
		many[fmt.Sprintf("f.e%dx", i)] = tree.File{Size: int64(i % 7)}
	}
	return tree.Dir{
		"times": times, "sizes": sizes, "names": names, "(none)": tree.Dir{"f": tree.File{Size: 5}}, "many": many,
		"d\x1b\xff": tree.Dir{"sub": tree.Dir{"f.\xff": tree.File{Size: 1}}},
		"links": tree.Dir{
			"z": tree.File{Size: 70000}, "a.txt": tree.HardLink{To: "links/z"}, "p": tree.Fifo{}, "s": tree.Socket{},
			"symlink": tree.Symlink{To: "/"}, "dangling": tree.Symlink{To: strings.Repeat("x", 300)},
			"a.p": tree.HardLink{To: "links/p"},
		},
		"elsewhere":  tree.Dir{"0.bin": tree.HardLink{To: "links/z"}, "deep": tree.Dir{"a": tree.Dir{"b": tree.File{}}}},
		".snapshots": tree.Dir{"old": tree.File{Size: 999}},
		"p1": tree.Dir{
			".snapshot": tree.Dir{"old": tree.File{Size: 999}},
			"sub":       tree.Dir{".snapshots": tree.Dir{"kept": tree.File{Size: 9}}},
		},
	}
}

func TestDryRunEqualsTheOracle(t *testing.T) {
	bin := program(t)
	t.Run("a made tree", func(t *testing.T) { testMadeTree(t, bin) })
	t.Run("this machine", func(t *testing.T) { testThisMachine(t, bin) })
}

func testMadeTree(t *testing.T, bin string) {
	root := t.TempDir()
	d := torture()
	if os.Geteuid() == 0 { // the rest is worth a test without
		d["owners"] = tree.Dir{
			"a":      tree.Owned{Node: tree.File{Size: 1}, UID: 4294967294, GID: 4294967294},
			"b":      tree.Owned{Node: tree.File{Size: 2}, UID: 3000000000, GID: 2147483648},
			"c":      tree.Owned{Node: tree.Dir{"f": tree.File{}}, UID: 1000},
			"device": tree.Device{},
			"mount":  tree.Dir{}, "bind": tree.Dir{}, "file": tree.File{},
		}
	}
	tree.Make(t, root, d)
	if os.Geteuid() == 0 {
		tree.Mount(t, "tmpfs", root+"/owners/mount", "tmpfs", 0, "")
		tree.Make(t, root+"/owners/mount", tree.Dir{"f": tree.File{Size: 12345}})
		tree.Bind(t, root+"/links", root+"/owners/bind")
		tree.Bind(t, root+"/links/z", root+"/owners/file")
	}
	for _, tc := range []struct {
		args  []string
		depth int
		named []string
	}{
		{nil, 1, nil},
		{[]string{"--fileset-depth=2", "--fileset=One=elsewhere", "--fileset=p1/sub"}, 2, []string{"elsewhere", "p1/sub"}},
		{[]string{"--fileset-depth=0"}, 0, nil},
	} {
		for _, walkers := range []string{"1", "2", "7", "64"} {
			got := dryRun(t, bin, append(tc.args, "--walkers="+walkers, root)...)
			want, _, err := oracle.Run(t.Context(), oracle.Options{
				Root: root, Start: got.Started, SizeClasses: usage.DefaultSizeClasses(),
				Depth: tc.depth, Named: tc.named, Snapshots: snapshotNames(),
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := oracle.Diff(want, got); diff != "" {
				t.Errorf("%q with %s walkers: %s", tc.args, walkers, diff)
			}
		}
	}
}

// testThisMachine takes trees that nobody made for a test.
func testThisMachine(t *testing.T, bin string) {
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{"/usr/lib", filepath.Join(strings.TrimSpace(string(cache)), "golang.org")} {
		root, err := filepath.EvalSymlinks(root)
		if err != nil {
			t.Fatal(err)
		}
		got := dryRun(t, bin, root)
		want, _, err := oracle.Run(t.Context(), oracle.Options{
			Root: root, Start: got.Started, SizeClasses: usage.DefaultSizeClasses(), Depth: 1, Snapshots: snapshotNames(),
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := oracle.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", root, diff)
		}
		du, err := oracle.Du(t.Context(), root)
		if err != nil || du.Cmp(got.Allocated) != 0 {
			t.Errorf("du of %s says %s, %v; the scan %s", root, du, err, got.Allocated)
		}
	}
}
