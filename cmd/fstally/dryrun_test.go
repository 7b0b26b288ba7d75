package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/usage"
	"fstally/test/oracle"
	"fstally/test/tree"
)

// dryRunOf runs `fstally scan --dry-run --format json` and returns what it prints.
func dryRunOf(t *testing.T, args ...string) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args = append([]string{"", "scan", "--dry-run", "--format", "json"}, args...)
	if err := run(t.Context(), args, os.Getenv, strings.NewReader(""), &stdout, &stderr); err != nil {
		t.Fatalf("fstally %q: %v\n%s", args, err, stderr.Bytes())
	}
	return stdout.Bytes()
}

// checkAgainstOracle holds a dry run of root, with filesets at depth 1, to the
// oracle, dimension by dimension, and returns what the oracle counted.
func checkAgainstOracle(t *testing.T, root string, args ...string) oracle.Result {
	t.Helper()
	return checkFilesets(t, root, 1, nil, args...)
}

// checkFilesets does so under a rule of filesets that args set.
func checkFilesets(t *testing.T, root string, depth int, named []string, args ...string) oracle.Result {
	t.Helper()
	printed := dryRunOf(t, append(args, root)...)
	got, err := oracle.Parse(printed)
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	want, _, err := oracle.Run(t.Context(), oracle.Options{
		Root: root, Start: got.Started, SizeClasses: usage.DefaultSizeClasses(), Depth: depth, Named: named,
		Snapshots: []string{".snapshots", ".snapshot", ".zfs", "~snapshot"}, // not the scanner's list: it may have forgotten one
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := oracle.Diff(want, got); diff != "" {
		t.Errorf("%s %q: the scan is not what find lists: %s", root, args, diff)
	}
	return want
}

// torture is the tree of case C019: everything that tools of this kind have
// been reported to count wrongly. It is made on a tmpfs, which takes any time
// and sizes up to 2^63-1 without a disk.
func torture(t *testing.T) (root string) {
	t.Helper()
	top := t.TempDir()
	tree.Mount(t, "none", top, "tmpfs", 0, "size=64m,mode=0755")
	root = filepath.Join(top, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	odd := tree.Dir{}
	for _, name := range []string{
		"report\x96final.rtf", "a.b\xfe", `a"b.x"y`, `c\x2dd.sw\ap`, "new\nline.txt", "\x1b[31mred.log", "exe.\u202egnp.jpg",
		"<script>alert(1)<script>.html", "'; DROP TABLE scan; --.sql", "=HYPERLINK(1).csv", "\u2028.md", strings.Repeat("n", 251) + ".txt",
		// case C038
		".bashrc", ".gitignore", ".hidden.txt", "a.tar.gz", "foo.", "..file.txt", "a..b", "...", ".a.b", "x.", "noext", "v1.2.3", "Makefile",
		"UPPER.TXT", "x.fastq.gz", "only.gz", "core.1234", "a.seventeenletterss", "a.c++", "a.b c",
	} {
		odd[name] = tree.File{Size: int64(len(name)) * 100}
	}
	sizes := tree.Dir{"max1": tree.File{Size: 1<<63 - 1, Data: tree.Sparse}, "max2": tree.File{Size: 1<<63 - 1, Data: tree.Sparse}}
	for i, n := range []int64{0, 1, 2, 3, 3071, 3072, 3073, 32 << 10, 32<<10 + 1, 8 << 20, 8<<20 + 1, 1 << 30, 1<<30 + 1, 1<<53 + 1} {
		sizes["s"+strconv.Itoa(i)+".dat"] = tree.File{Size: n, Data: tree.Sparse}
	}
	times := tree.Dir{}
	now := time.Now()
	for i, at := range []time.Time{
		time.Unix(-2, 500_000_000), time.Unix(-1, 0), time.Unix(0, 0), time.Date(1989, 3, 13, 0, 0, 0, 0, time.UTC),
		time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(1<<62, 0), now.AddDate(0, 0, -8), now.AddDate(0, 0, -100),
		now.AddDate(-1, 0, -30), now.AddDate(-3, 0, 0), now.AddDate(-9, 0, 0), now.Add(48 * time.Hour),
	} {
		times["t"+strconv.Itoa(i)+".log"] = tree.Timed{Node: tree.File{Size: 10}, Atime: now.AddDate(0, 0, -i*100), Mtime: at}
	}
	tree.Make(t, root, tree.Dir{
		"odd": odd, "sizes": sizes, "times": times,
		"(none)": tree.Dir{"in-a-fileset-called-none": tree.File{Size: 1}},
		"d\xff":  tree.Dir{"f": tree.File{Size: 5}},
		"links": tree.Dir{
			"z.bin": tree.File{Size: 1 << 20}, "sub": tree.Dir{"m.txt": tree.HardLink{To: "links/z.bin"}},
			"sym": tree.Symlink{To: "z.bin"}, "sym2": tree.HardLink{To: "links/sym"}, "dangling": tree.Symlink{To: "/nowhere"},
			"loop": tree.Symlink{To: ".."},
		},
		"alpha":    tree.Dir{"a.txt": tree.HardLink{To: "links/z.bin"}, "one": tree.HardLink{To: "alpha/two"}, "two": tree.File{Size: 7}},
		"specials": tree.Dir{"fifo": tree.Fifo{}, "socket": tree.Socket{}, "null": tree.Device{}, "fifo2": tree.HardLink{To: "specials/fifo"}},
		"owners": tree.Dir{
			"nobody":  tree.Owned{Node: tree.File{Size: 100}, UID: 4294967294, GID: 4294967294},
			"big":     tree.Owned{Node: tree.File{Size: 200}, UID: 3000000000, GID: 2147483648},
			"sub":     tree.Owned{Node: tree.Dir{"x": tree.Owned{Node: tree.File{Size: 1}, UID: 1234, GID: 5}}, UID: 1234, GID: 5},
			"symlink": tree.Owned{Node: tree.Symlink{To: "x"}, UID: 77, GID: 77},
		},
		".snapshots": tree.Dir{"pruned": tree.File{Size: 1 << 20}},
		"deep":       tree.Dir{"er": tree.Dir{".snapshots": tree.Dir{"hidden-by-a-user": tree.File{Size: 1 << 20}}}},
		"proj":       tree.Dir{".snapshot": tree.Dir{"pruned-in-a-fileset": tree.File{Size: 1 << 20}}},
		"nested":     tree.Dir{}, "bound": tree.Dir{}, "empty": tree.Dir{}, "file": tree.File{Size: 12}, "boundfile": tree.File{Size: 3},
	})
	outside := filepath.Join(top, "outside")
	if err := os.Link(filepath.Join(root, "owners", "big"), outside); err != nil {
		t.Fatal(err)
	}
	tree.Mount(t, "none", filepath.Join(root, "nested"), "tmpfs", 0, "size=1m")
	tree.Make(t, filepath.Join(root, "nested"), tree.Dir{"elsewhere": tree.File{Size: 1000}})
	tree.Bind(t, filepath.Join(root, "links"), filepath.Join(root, "bound"))
	tree.Bind(t, outside, filepath.Join(root, "boundfile"))
	return root
}

// TestDryRunEqualsOracle is case C019, and with its tree C029, C033, C038, C085,
// C118 and C124.
func TestDryRunEqualsOracle(t *testing.T) {
	root := torture(t)
	var first []byte
	for _, walkers := range []string{"1", "2", "7", "64"} {
		want := checkAgainstOracle(t, root, "--walkers", walkers)
		if want.Files < 60 || want.Specials != 3 {
			t.Fatalf("the tree is not what it should be: %+v", want)
		}
		printed := withoutTimes(t, dryRunOf(t, "--walkers", walkers, root))
		if first == nil {
			first = printed
		}
		if diff := cmp.Diff(string(first), string(printed)); diff != "" {
			t.Errorf("%s walkers print something else than 1: %s", walkers, diff)
		}
	}
	checkAgainstOracle(t, root, "--engine=fastwalk")
	checkFilesets(t, root, 0, nil, "--fileset-depth=0")
	checkFilesets(t, root, 2, []string{"deep", "links/sub"}, "--fileset-depth=2", "--fileset=One=deep", "--fileset=links/sub")
	for _, text := range []string{
		`"key":"4294967294"`, `"key":"3000000000"`, `"key":"d\\xff"`, `"key":"\\x28none)"`, `"key":"(none)"`, `"key":"tar.gz"`,
	} {
		if !bytes.Contains(first, []byte(text)) {
			t.Errorf("%s is missing in %s", text, first)
		}
	}
	if bytes.Contains(first, []byte("e+")) || !bytes.Contains(first, []byte(`"size":1845575`)) && !bytes.Contains(first, []byte(`"size":184`)) {
		t.Errorf("sums beyond 2^63 are not exact: %s", first)
	}
}

// withoutTimes drops what differs from run to run.
func withoutTimes(t *testing.T, printed []byte) []byte {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(printed, &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "started")
	delete(fields, "elapsed_seconds")
	out, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDryRunOfRealTrees holds scans of /usr and of the Go module cache to the
// oracle and to du.
func TestDryRunOfRealTrees(t *testing.T) {
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{"/usr", strings.TrimSpace(string(cache))} {
		want := checkAgainstOracle(t, root)
		du, err := oracle.Du(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		if du.Cmp(want.Allocated) != 0 {
			t.Errorf("%s: du says %d, the scan %d", root, du, want.Allocated)
		}
	}
}

// TestUnreadableDirectories runs as an ordinary user, whom rights bind.
func TestUnreadableDirectories(t *testing.T) {
	if os.Geteuid() == 0 {
		asNobody(t)
		return
	}
	root := t.TempDir()
	tree.Make(t, root, tree.Dir{
		"open":   tree.Dir{"f.txt": tree.File{Size: 10}},
		"closed": tree.Moded{Node: tree.Dir{"g.txt": tree.File{Size: 10}, "sub": tree.Dir{"h": tree.File{Size: 1}}}, Mode: 0},
		"listed": tree.Moded{Node: tree.Dir{"i.txt": tree.File{Size: 10}}, Mode: 0o400}, // names, but no attributes
	})
	t.Cleanup(func() {
		for _, d := range []string{"closed", "listed"} {
			_ = os.Chmod(filepath.Join(root, d), 0o700)
		}
	})
	want := checkAgainstOracle(t, root)
	if want.Errors != 2 || want.Files != 1 || want.Directories != 4 {
		t.Errorf("the oracle counts %+v, want 2 errors, 1 file, 4 directories", want)
	}
}

// asNobody runs the same test again as an ordinary user. The test binary stands
// in a directory that only root may enter: /proc/self/exe leads to it all the same.
func asNobody(t *testing.T) {
	t.Helper()
	const nobody = 65534
	home := t.TempDir()
	for _, dir := range []string{filepath.Dir(home), home} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(home, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+home)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("as user nobody: %v\n%s", err, out)
	}
}
