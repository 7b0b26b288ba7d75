//go:build linux

package tree

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Need skips the test unless ok, saying what it needs. With FSTALLY_TEST_ALL=1,
// as in CI, what is missing is a failure.
func Need(t testing.TB, ok bool, what string) {
	t.Helper()
	switch {
	case ok:
	case os.Getenv("FSTALLY_TEST_ALL") == "1":
		t.Fatalf("needs %s, and FSTALLY_TEST_ALL=1 forbids to skip", what)
	default:
		t.Skipf("needs %s", what)
	}
}

// NeedRoot skips the test unless it may mount and give files away.
func NeedRoot(t testing.TB) {
	t.Helper()
	Need(t, os.Geteuid() == 0, "root")
}

// Mount mounts for the time of the test, see mount(2).
func Mount(t testing.TB, source, target, fstype string, flags uintptr, data string) {
	t.Helper()
	NeedRoot(t)
	if err := unix.Mount(source, target, fstype, flags, data); err != nil {
		t.Fatalf("mount %s at %s: %v", source, target, err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(target, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", target, err)
		}
	})
}

// Bind makes source visible at target too, both of them files or directories.
func Bind(t testing.TB, source, target string) {
	t.Helper()
	Mount(t, source, target, "", unix.MS_BIND, "")
}

// Loop makes a file system of 512 MiB in a file, mounts it for the time of the
// test and returns where; fstype is that of a mkfs program, such as xfs.
func Loop(t testing.TB, fstype string) string {
	t.Helper()
	NeedRoot(t)
	mkfs, err := exec.LookPath("mkfs." + fstype)
	Need(t, err == nil, "mkfs."+fstype)
	dir := t.TempDir()
	image, target := filepath.Join(dir, "image"), filepath.Join(dir, "mount")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 512<<20); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(target, 0o755); err != nil {
		t.Fatal(err)
	}
	Run(t, mkfs, "-q", image)
	Run(t, "mount", "-o", "loop", image, target)
	t.Cleanup(func() { Run(t, "umount", target) })
	return target
}

// Run runs a command that must succeed.
func Run(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil { //nolint:gosec,noctx // a test's own commands, short
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}
