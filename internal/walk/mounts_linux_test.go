package walk_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"fstally/internal/usage"
	"fstally/internal/walk"
	"fstally/test/oracle"
	"fstally/test/tree"
)

// mounted returns a new tmpfs, so that what a test mounts stays below one mount.
func mounted(t *testing.T) string {
	t.Helper()
	tree.NeedRoot(t)
	root := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	tree.Mount(t, "tmpfs", root, "tmpfs", 0, "size=16m")
	return root
}

// wantOracle compares what is counted with a listing by find.
func wantOracle(t *testing.T, c *collection, o walk.Options) oracle.Skipped {
	t.Helper()
	want, skipped, err := oracle.Run(t.Context(), oracle.Options{
		Root: o.Root, Start: time.Now(), SizeClasses: usage.DefaultSizeClasses(), Snapshots: o.Snapshots,
	})
	if err != nil {
		t.Fatal(err)
	}
	var blocks, size int64
	inodes := make(map[uint64]bool)
	for _, e := range c.entries {
		if e.Links > 1 && e.Type != usage.Directory {
			if inodes[e.Inode] {
				continue
			}
			inodes[e.Inode] = true
		}
		blocks += e.Blocks
		if e.Type == usage.File || e.Type == usage.Symlink {
			size += e.Size
		}
	}
	if n := int64(len(c.paths())); n != want.Entries || blocks*512 != want.Allocated.Int64() || size != want.Size.Int64() {
		t.Errorf("%d entries, %d bytes, %d allocated; the oracle says %d, %s, %s",
			n, size, blocks*512, want.Entries, want.Size, want.Allocated)
	}
	return skipped
}

func TestNestedMounts(t *testing.T) {
	root := mounted(t)
	tree.Make(t, root, tree.Dir{
		"tmpfs": tree.Dir{}, "odd \t*\\name": tree.Dir{}, "self": tree.Dir{},
		"file": tree.File{Size: 1}, "bound": tree.File{Size: 2},
		"data": tree.Dir{"f": tree.File{Size: 3}, "sub": tree.Dir{"g": tree.File{Size: 4}}},
	})
	tree.Mount(t, "tmpfs", root+"/tmpfs", "tmpfs", 0, "")
	tree.Make(t, root+"/tmpfs", tree.Dir{"hidden": tree.File{Size: 99}})
	tree.Mount(t, "tmpfs", root+"/odd \t*\\name", "tmpfs", 0, "")
	tree.Bind(t, root+"/data", root+"/self")
	tree.Bind(t, root+"/file", root+"/bound")

	o := walk.Options{Root: root, Snapshots: walk.DefaultSnapshots()}
	c, report := doWalk(t, o)
	wantPaths(t, c, "file", "data", "data/f", "data/sub", "data/sub/g")
	mounts := []string{"bound", "odd \t*\\name", "self", "tmpfs"}
	wantSkipped(t, report, skipped(usage.SkipMount, mounts...))
	if got := wantOracle(t, c, o).Mounts; !slices.Equal(got, mounts) {
		t.Errorf("the oracle skips %q", got)
	}
}

func TestSnapshotsThatAreMounts(t *testing.T) {
	root := mounted(t)
	tree.Make(t, root, tree.Dir{"home": tree.Dir{".snapshot": tree.Dir{}, "f": tree.File{}}})
	tree.Mount(t, "tmpfs", root+"/home/.snapshot", "tmpfs", 0, "")
	c, report := doWalk(t, walk.Options{Root: root, Snapshots: walk.DefaultSnapshots()})
	wantPaths(t, c, "home", "home/f")
	wantSkipped(t, report, skipped(usage.SkipSnapshot, "home/.snapshot"))
}

func TestRootThatIsItselfABindMount(t *testing.T) {
	root := mounted(t)
	tree.Make(t, root, tree.Dir{"a": tree.Dir{"f": tree.File{}}, "b": tree.Dir{}})
	tree.Bind(t, root+"/a", root+"/b")
	c, report := doWalk(t, walk.Options{Root: root + "/b"})
	wantPaths(t, c, "f")
	wantSkipped(t, report)
}

func TestBtrfs(t *testing.T) {
	root := tree.Loop(t, "btrfs")
	home := root + "/home"
	tree.Run(t, "btrfs", "subvolume", "create", home)
	tree.Make(t, home, tree.Dir{
		"f": tree.File{Size: 1 << 20}, ".snapshots": tree.Dir{},
		"user": tree.Dir{".snapshots": tree.Dir{"data": tree.File{Size: 7}}},
	})
	tree.Run(t, "btrfs", "subvolume", "create", root+"/writable")
	tree.Make(t, root+"/writable", tree.Dir{"w": tree.File{Size: 5000}})
	snapshot := func(args ...string) {
		t.Helper()
		tree.Run(t, "btrfs", append([]string{"subvolume", "snapshot"}, args...)...)
	}
	snapshot("-r", root+"/writable", home+"/user/.snapshot") // a snapshot by name and nature
	snapshot("-r", root+"/writable", home+"/user/frozen")    // by nature only: a user's own, counted
	snapshot(root+"/writable", home+"/user/.zfs")            // by name only

	o := walk.Options{Root: root, Snapshots: walk.DefaultSnapshots()}
	c, report := doWalk(t, o)
	wantPaths(t, c, "home", "home/f", "home/.snapshots", "home/user", "home/user/.snapshots", "home/user/.snapshots/data",
		"home/user/frozen", "home/user/frozen/w", "home/user/.zfs", "home/user/.zfs/w", "writable", "writable/w")
	wantSkipped(t, report, skipped(usage.SkipSnapshot, "home/user/.snapshot"))
	wantErrors(t, report)
	if got := wantOracle(t, c, o).Snapshots; !slices.Equal(got, []string{"home/user/.snapshot"}) {
		t.Errorf("the oracle prunes %q", got)
	}

	m, err := walk.Inspect(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	if m.FSType != "btrfs" || m.Network || m.MountPoint != root || m.Identity != blkid(t, m.Source) ||
		m.Capacity.InodesTotal != 0 {
		t.Errorf("mount = %+v", m)
	}
}

func TestXFS(t *testing.T) {
	root := tree.Loop(t, "xfs")
	tree.Make(t, root, tree.Dir{
		"a": tree.Owned{Node: tree.File{Size: 10}, UID: 4294967294, GID: 3000000000}, "b": tree.HardLink{To: "a"},
		"d": tree.Dir{"s": tree.Symlink{To: strings.Repeat("t", 1000)}, "c": tree.Device{}, "big": tree.File{Size: 1 << 40}},
	})
	o := walk.Options{Root: root}
	c, report := doWalk(t, o)
	wantPaths(t, c, "a", "b", "d", "d/s", "d/c", "d/big")
	wantErrors(t, report)
	wantOracle(t, c, o)
	if got := c.entries["a"]; got.UID != 4294967294 || got.GID != 3000000000 || got.Links != 2 {
		t.Errorf("a = %+v", got)
	}

	m, err := walk.Inspect(t.Context(), root+"/d/..")
	if err != nil {
		t.Fatal(err)
	}
	if m.Root != root || m.FSType != "xfs" || m.Network || m.MountPoint != root || m.Identity != blkid(t, m.Source) {
		t.Errorf("mount = %+v", m)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(root, &st); err != nil {
		t.Fatal(err)
	}
	if got, want := m.Capacity.Size.String(), usage.ByteCount(int64(st.Blocks)*st.Bsize).String(); got != want ||
		m.Capacity.BlockSize != 4096 || m.Capacity.InodesTotal <= 0 || m.Capacity.Source == "" {
		t.Errorf("capacity = %+v, want a size of %s", m.Capacity, want)
	}
}

// blkid returns the UUID that the superblock of a device holds.
func blkid(t *testing.T, device string) string {
	t.Helper()
	link := filepath.Join(t.TempDir(), "uuid")
	tree.Run(t, "sh", "-c", `blkid -p -o value -s UUID "$1" > "$2"`, "sh", device, link)
	uuid, err := os.ReadFile(link)
	if err != nil || len(uuid) < 36 {
		t.Fatalf("blkid %s: %q, %v", device, uuid, err)
	}
	return strings.TrimSpace(string(uuid))
}

func TestInspectRefuses(t *testing.T) {
	dir := t.TempDir()
	tree.Make(t, dir, tree.Dir{
		"file": tree.File{}, "fifo": tree.Fifo{}, "bad\x1bname": tree.File{},
		"to-file": tree.Symlink{To: "file"}, "loop": tree.Symlink{To: "loop"},
	})
	for path, want := range map[string]struct {
		problem walk.Problem
		text    string
	}{
		"none":        {walk.Missing, "/none does not exist"},
		"file":        {walk.NotDirectory, "/file is not a directory"},
		"to-file":     {walk.NotDirectory, "name the directory"},
		"file/x":      {walk.NotDirectory, "not a directory"},
		"fifo":        {walk.NotDirectory, "not a directory"},
		"bad\x1bname": {walk.NotDirectory, `/bad\x1bname is`},
		"loop":        {walk.Unusable, "too many links"},
	} {
		_, err := walk.Inspect(t.Context(), filepath.Join(dir, path))
		got, ok := err.(*walk.RootError) //nolint:errorlint // callers get it unwrapped
		if !ok || got.Problem != want.problem || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%q: %v, want %q", path, err, want.text)
		}
	}
	_, err := walk.Inspect(t.Context(), "")
	if got, ok := err.(*walk.RootError); !ok || got.Problem != walk.Missing { //nolint:errorlint // as above
		t.Errorf("no path: %v, not the working directory", err)
	}
}

func TestInspectUnreadable(t *testing.T) {
	const inChild = "FSTALLY_TEST_INSPECT_ROOT"
	if root := os.Getenv(inChild); root != "" { // as nobody, see below
		for _, name := range []string{"closed", "listed"} {
			_, err := walk.Inspect(t.Context(), root+"/"+name)
			got, ok := err.(*walk.RootError) //nolint:errorlint // as above
			if !ok || got.Problem != walk.Unreadable || !strings.Contains(err.Error(), "65534") {
				t.Errorf("%s: %v", name, err)
			}
		}
		return
	}
	root := mounted(t)
	tree.Make(t, root, tree.Dir{
		"closed": tree.Moded{Node: tree.Dir{}, Mode: 0o700}, "listed": tree.Moded{Node: tree.Dir{}, Mode: 0o744},
	})
	if err := os.Chmod(filepath.Dir(filepath.Dir(root)), 0o755); err != nil {
		t.Fatal(err)
	}
	runAsNobody(t, "^TestInspectUnreadable$", inChild+"="+root)
}

func TestInspectResolvesTheRootOnce(t *testing.T) {
	root := mounted(t)
	tree.Make(t, root, tree.Dir{"d": tree.Dir{}, "l": tree.Symlink{To: "d"}})
	m, err := walk.Inspect(t.Context(), root+"/l")
	if err != nil {
		t.Fatal(err)
	}
	m.Capacity = usage.Capacity{}
	want := walk.Mount{Root: root + "/d", FSType: "tmpfs", MountPoint: root, Source: "tmpfs"}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
}
