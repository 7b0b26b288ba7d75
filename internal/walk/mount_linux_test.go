package walk_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fstally/internal/usage"
	"fstally/internal/walk"
	"fstally/test/tree"
)

func TestInspectDoesNotWaitForADeadMount(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	hangs := func(string) (walk.Mount, error) {
		<-release
		return walk.Mount{}, nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), 1)
	defer cancel()
	_, err := walk.InspectWith(ctx, "/dead/mount", hangs)
	problem := new(walk.RootError)
	if !errors.As(err, &problem) || problem.Problem != walk.NotAnswering ||
		!strings.Contains(err.Error(), "/dead/mount does not answer") {
		t.Errorf("error = %v", err)
	}
	ctx, cancelled := context.WithCancel(t.Context())
	cancelled()
	if _, err = walk.InspectWith(ctx, "/dead/mount", hangs); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
}

const mountinfo = `22 28 0:21 / /sys rw,nosuid shared:7 - sysfs none rw
28 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 28 254:0 /home /srv rw master:1 propagate_from:2 - ext4 /dev/vda rw
40 28 0:50 / /mnt/nfs\040a\134b rw - nfs4 server:/export/a\040b rw,vers=4.2
nonsense
41 28 0:51 / /mnt/fuse rw - fuse.sshfs  rw
`

func TestFindMount(t *testing.T) {
	device := unix.Mkdev(254, 0)
	for _, tc := range []struct {
		name     string
		id, dev  uint64
		path     string
		want     [4]string
		notFound bool
	}{
		{"by id", 40, unix.Mkdev(0, 50), "/x", [4]string{"40", "0:50", `/mnt/nfs a\b`, "server:/export/a b"}, false},
		{"by id, no source", 41, unix.Mkdev(0, 51), "/x", [4]string{"41", "0:51", "/mnt/fuse", ""}, false},
		{"by device", device, device, "/home/x", [4]string{"28", "254:0", "/", "/dev/vda"}, false},
		{"by device, the nearest", device, device, "/srv/x", [4]string{"30", "254:0", "/srv", "/dev/vda"}, false},
		{"by device, whole components", device, device, "/srvx", [4]string{"28", "254:0", "/", "/dev/vda"}, false},
		{"unknown", 99, device, "/", [4]string{}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, found := walk.FindMount(mountinfo, tc.id, tc.dev, tc.path)
			if walk.MountFields(got) != tc.want || found == tc.notFound {
				t.Errorf("%q, %v, want %q", walk.MountFields(got), found, tc.want)
			}
		})
	}
}

func TestNamesOfClusters(t *testing.T) {
	for source, want := range map[string]string{
		"10.0.0.1@tcp:10.0.0.2@tcp:/scratch": "scratch", "mgs@o2ib:/scratch/sub/dir": "scratch", "odd": "",
	} {
		if got := walk.LustreName(source); got != want {
			t.Errorf("Lustre at %q is %q, want %q", source, got, want)
		}
	}
	for source, want := range map[string]string{
		"admin@b3acfc0d-575f-41d3-9c91-0e7ed3dbb3fa.cephfs=/a": "b3acfc0d-575f-41d3-9c91-0e7ed3dbb3fa.cephfs",
		"192.168.0.1:6789,192.168.0.2:6789:/":                  "",
	} {
		if got := walk.CephName(source); got != want {
			t.Errorf("Ceph at %q is %q, want %q", source, got, want)
		}
	}
}

func TestUUIDByLink(t *testing.T) {
	dir := t.TempDir()
	tree.Make(t, dir, tree.Dir{
		"dev": tree.Dir{
			"dm-0": tree.File{}, "sda1": tree.File{}, "mapper": tree.Dir{"vg-lv": tree.Symlink{To: "../dm-0"}},
		},
		"by-uuid": tree.Dir{
			"1111": tree.Symlink{To: "../dev/sda1"}, "2222": tree.Symlink{To: "../dev/dm-0"},
			"3333": tree.Symlink{To: "gone"},
		},
	})
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for device, want := range map[string]string{"mapper/vg-lv": "2222", "sda1": "1111", "none": ""} {
		if got := walk.UUIDByLink(dir+"/by-uuid", dir+"/dev/"+device); got != want {
			t.Errorf("UUID of %s = %q, want %q", device, got, want)
		}
	}
	if got := walk.UUIDByLink(dir+"/none", dir+"/dev/sda1"); got != "" {
		t.Errorf("without udev the UUID is %q", got)
	}
}

func TestTypesOfFileSystems(t *testing.T) {
	for magic, want := range map[uint32]struct {
		name    string
		network bool
	}{
		0x58465342: {"xfs", false}, 0xef53: {"ext4", false}, 0x9123683e: {"btrfs", false}, 0x01021994: {"tmpfs", false},
		0x794c7630: {"overlay", false}, 0x6969: {"nfs", true}, 0xfe534d42: {"smb2", true}, 0xff534d42: {"cifs", true},
		0x0bd00bd0: {"lustre", true}, 0x47504653: {"gpfs", true}, 0x00c36400: {"ceph", true}, 0x19830326: {"beegfs", true},
		0x65735546: {"fuse", true}, 0x2fc12fc1: {"zfs", false}, 0x01021997: {"9p", true}, 0x12345678: {"0x12345678", false},
	} {
		if name, network := walk.TypeOf(magic); name != want.name || network != want.network {
			t.Errorf("type of %#x = %s, %v, want %+v", magic, name, network, want)
		}
	}
}

func TestGentleOnNetworks(t *testing.T) {
	local, network := walk.Mount{FSType: "xfs"}, walk.Mount{FSType: "nfs", Network: true}
	if got := walk.DefaultWalkers(local); got != 2*runtime.NumCPU() {
		t.Errorf("%d walkers on a local disk", got)
	}
	if w, o := walk.DefaultWalkers(network), walk.DefaultOpsLimit(network); w != 4 || o <= 0 {
		t.Errorf("%d walkers, %d operations per second on a network", w, o)
	}
	if got := walk.DefaultOpsLimit(local); got != 0 {
		t.Errorf("%d operations per second on a local disk", got)
	}
}

// Where there is no statx(2), lstat(2) has to tell the same.
func TestLstatAgreesWithStatx(t *testing.T) {
	root := t.TempDir()
	tree.Make(t, root, tree.Dir{"f": tree.File{Size: 10}, "s": tree.Symlink{To: "f"}, "p": tree.Fifo{}})
	for _, name := range []string{"", "/f", "/s", "/p", "/none"} {
		var a, b usage.Entry
		_, errA := walk.OS().Stat(root+name, &a)
		mount, errB := walk.Lstat(unix.AT_FDCWD, root+name, &b)
		if errors.Is(errA, os.ErrNotExist) != errors.Is(errB, os.ErrNotExist) || a.Dev != b.Dev || a.Ino != b.Ino ||
			a.Type != b.Type || a.Size != b.Size || a.Blocks != b.Blocks || a.Nlink != b.Nlink || a.UID != b.UID ||
			a.GID != b.GID || a.Atime != b.Atime || a.Mtime != b.Mtime || mount != b.Dev {
			t.Errorf("%q: statx %+v, %v; lstat %+v, %v", name, a, errA, b, errB)
		}
	}
}
