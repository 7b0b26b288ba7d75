//go:build linux

package walk_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fstally/internal/usage"
	"fstally/internal/walk"
	"fstally/test/tree"
)

func TestEntries(t *testing.T) {
	root := t.TempDir()
	old := time.Unix(-86400, 5e8)
	tree.Make(t, root, tree.Dir{
		"file":   tree.Timed{Node: tree.File{Size: 10}, Atime: time.Unix(77, 0), Mtime: old},
		"second": tree.HardLink{To: "file"},
		"sparse": tree.File{Size: 1 << 40, Data: tree.Sparse},
		"link":   tree.Symlink{To: "/etc"},
		"fifo":   tree.Fifo{},
		"socket": tree.Socket{},
		"dir":    tree.Dir{"sub": tree.Dir{"deep": tree.File{}}, "loop": tree.Symlink{To: ".."}},
	})
	c, report := doWalk(t, walk.Options{Root: root})
	wantPaths(t, c, "file", "second", "sparse", "link", "fifo", "socket", "dir", "dir/sub", "dir/sub/deep", "dir/loop")
	wantErrors(t, report)
	wantSkipped(t, report)

	for path, want := range map[string]usage.EntryType{
		"": usage.Directory, "file": usage.File, "link": usage.Symlink, "fifo": usage.Special, "socket": usage.Special,
	} {
		if got := c.entries[path].Type; got != want {
			t.Errorf("type of %q = %d, want %d", path, got, want)
		}
	}
	var st unix.Stat_t
	if err := unix.Lstat(root+"/file", &st); err != nil {
		t.Fatal(err)
	}
	want := seen{usage.File, 2, 10, st.Blocks, st.Uid, st.Gid, -86400, 77, st.Ino, ""}
	for _, path := range []string{"file", "second"} {
		if got := c.entries[path]; got != want {
			t.Errorf("%s = %+v, want %+v", path, got, want)
		}
	}
	if got := c.entries["sparse"]; got.Size != 1<<40 || got.Blocks != 0 {
		t.Errorf("sparse = %+v", got)
	}
	if got := c.dirs["dir/sub"]; got.Depth != 2 || got.Parent != c.dirs["dir"] || got.Parent.Parent != c.dirs[""] {
		t.Errorf("dir/sub = %+v, whose parent is not the Dir of dir", got)
	}
}

func TestHostileNames(t *testing.T) {
	root := t.TempDir()
	names := []string{
		"\xff\xfe", "a\nb", "-rf", "*", "\x1b[31m", "\u202egnp.exe", `back\slash`, `"quote"`, "...", " ",
		strings.Repeat("n", 255), "<script>alert(1)</script>"[:20],
	}
	d := tree.Dir{}
	var want []string
	for _, name := range names {
		name = strings.ReplaceAll(name, "/", "_")
		d[name] = tree.Dir{name: tree.File{Size: 1}}
		want = append(want, name, name+"/"+name)
	}
	tree.Make(t, root, d)
	c, report := doWalk(t, walk.Options{Root: root, Fileset: func(*usage.Dir, string) string { return "f" }})
	wantPaths(t, c, want...)
	wantErrors(t, report)
}

func TestFilesetOfEachDirectory(t *testing.T) {
	root := t.TempDir()
	tree.Make(t, root, tree.Dir{"a": tree.Dir{"b": tree.Dir{"f": tree.File{}}}, "g": tree.File{}})
	c, _ := doWalk(t, walk.Options{Root: root, Fileset: func(parent *usage.Dir, name string) string {
		return parent.Fileset + "/" + name
	}})
	got := make(map[string]string)
	for path, e := range c.entries {
		got[path] = e.Fileset
	}
	want := map[string]string{"": "", "a": "/a", "a/b": "/a/b", "a/b/f": "/a/b", "g": ""}
	if !maps.Equal(got, want) {
		t.Errorf("filesets = %q, want %q", got, want)
	}
}

func TestSnapshotNames(t *testing.T) {
	root := t.TempDir()
	data := tree.Dir{"data": tree.File{}}
	tree.Make(t, root, tree.Dir{
		".snapshots": data, // at the root of the scan
		".snapshot":  tree.File{},
		".zfs":       tree.Symlink{To: "/"},
		"fs": tree.Dir{ // a fileset
			".snapshot":   data,
			".snapshots":  data,
			".Snapshots":  data, // another name
			".snapshots2": data,
			"home":        tree.Dir{".snapshots": data}, // a user hides nothing here
		},
	})
	c, report := doWalk(t, walk.Options{
		Root: root, Snapshots: walk.DefaultSnapshots(),
		Fileset: func(parent *usage.Dir, name string) string {
			if parent.Depth == 0 {
				return name
			}
			return parent.Fileset
		},
	})
	wantPaths(t, c, ".snapshot", ".zfs", "fs", "fs/.Snapshots", "fs/.Snapshots/data",
		"fs/.snapshots2", "fs/.snapshots2/data", "fs/home", "fs/home/.snapshots", "fs/home/.snapshots/data")
	wantSkipped(t, report, skipped(usage.SkipSnapshot, ".snapshots", "fs/.snapshot", "fs/.snapshots"))

	c, report = doWalk(t, walk.Options{Root: root + "/fs"})
	wantSkipped(t, report)
	if !slices.Contains(c.paths(), ".snapshots/data") {
		t.Error("without names of snapshots everything is counted")
	}
}

func TestPart(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine walk.Engine) {
		root := t.TempDir()
		tree.Make(t, root, tree.Dir{
			"a": tree.Dir{"b": tree.Dir{"c": tree.Dir{"f": tree.File{}}}}, "l": tree.Symlink{To: "a"}, "g": tree.File{},
		})
		o := walk.Options{Root: root, Part: "a/b", Walkers: 2, Fileset: func(parent *usage.Dir, name string) string {
			return parent.Fileset + "/" + name
		}}
		c, _, err := tryWalk(t.Context(), t, engine, o)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"a/b", "a/b/c", "a/b/c/f"}
		if got := c.paths(); !slices.Equal(got, want) || c.entries["a/b/c/f"].Fileset != "/a/b/c" {
			t.Errorf("paths %q, want %q, as in a walk of the root", got, want)
		}
		for _, part := range []string{"none", "g", "l/b"} {
			o.Part = part
			if _, _, err := tryWalk(t.Context(), t, engine, o); err == nil {
				t.Errorf("part %q is walked", part)
			}
		}
	})
}

func TestDeeperThanPathMax(t *testing.T) {
	root := t.TempDir()
	name := strings.Repeat("d", 200)
	at, err := unix.Open(root, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 30 { // 6000 bytes; PATH_MAX is 4096
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
	_ = unix.Close(at)
	c, report := doWalkWith(t, walk.Options{Root: root}, walk.Linux{})
	if got := len(c.paths()); got != 31 {
		t.Errorf("linux counts %d directories, want 31", got)
	}
	wantErrors(t, report)

	c, report = doWalkWith(t, walk.Options{Root: root}, walk.Fastwalk{})
	fits := (unix.PathMax - 1 - len(root)) / (len(name) + 1)
	if got := len(c.paths()); got != 1+fits {
		t.Errorf("%d directories counted, want %d", got, 1+fits)
	}
	tooLong := strings.TrimSuffix(strings.Repeat(name+"/", fits+1), "/")
	wantErrors(t, report, failure("stat", "ENAMETOOLONG", "file name too long", tooLong))
}

func TestRootThatCannotBeWalked(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine walk.Engine) {
		dir := t.TempDir()
		tree.Make(t, dir, tree.Dir{"file": tree.File{}, "link": tree.Symlink{To: "."}})
		for _, name := range []string{"none", "file", "link"} {
			o := walk.Options{Root: filepath.Join(dir, name), Walkers: 3}
			if c, _, err := tryWalk(t.Context(), t, engine, o); err == nil || len(c.entries) != 0 {
				t.Errorf("%s is walked: %v", name, c.paths())
			}
		}
		o := walk.Options{Root: dir + "//"}
		if _, _, err := tryWalk(t.Context(), t, engine, o); err != nil {
			t.Errorf("slashes at the end of the root: %v", err)
		}
	})
}

func TestUnreadableDirectories(t *testing.T) {
	const inChild = "FSTALLY_TEST_WALK_ROOT"
	if root := os.Getenv(inChild); root != "" { // as nobody, see below
		c, report := doWalk(t, walk.Options{Root: root})
		wantPaths(t, c, "closed", "listed", "open", "open/f")
		wantErrors(t, report,
			failure("open", "EACCES", "permission denied", "closed"),
			failure("stat", "EACCES", "permission denied", "listed/a", "listed/b"))
		return
	}
	tree.NeedRoot(t)
	root := t.TempDir()
	two := tree.Dir{"a": tree.File{}, "b": tree.Dir{}}
	tree.Make(t, root, tree.Dir{
		"closed": tree.Moded{Node: two, Mode: 0o700},
		"listed": tree.Moded{Node: two, Mode: 0o744},
		"open":   tree.Dir{"f": tree.File{Mode: 0o600}},
	})
	for _, dir := range []string{root, filepath.Dir(root)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	runAsNobody(t, "^TestUnreadableDirectories$", inChild+"="+root)
}
