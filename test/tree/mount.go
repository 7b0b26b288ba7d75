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
func Need(tb testing.TB, ok bool, what string) {
	tb.Helper()
	switch {
	case ok:
	case os.Getenv("FSTALLY_TEST_ALL") == "1":
		tb.Fatalf("needs %s, and FSTALLY_TEST_ALL=1 forbids to skip", what)
	default:
		tb.Skipf("needs %s", what)
	}
}

// NeedRoot skips the test unless it may mount and give files away.
func NeedRoot(tb testing.TB) {
	tb.Helper()
	Need(tb, os.Geteuid() == 0, "root")
}

// Mount mounts for the time of the test, see mount(2).
func Mount(tb testing.TB, source, target, fstype string, flags uintptr, data string) {
	tb.Helper()
	NeedRoot(tb)
	if err := unix.Mount(source, target, fstype, flags, data); err != nil {
		tb.Fatalf("mount %s at %s: %v", source, target, err)
	}
	tb.Cleanup(func() {
		if err := unix.Unmount(target, unix.MNT_DETACH); err != nil {
			tb.Errorf("unmount %s: %v", target, err)
		}
	})
}

// Bind makes source visible at target too, both of them files or directories.
func Bind(tb testing.TB, source, target string) {
	tb.Helper()
	Mount(tb, source, target, "", unix.MS_BIND, "")
}

// Loop makes a file system of 512 MiB in a file, mounts it for the time of the
// test and returns where; fstype is that of a mkfs program, such as xfs.
func Loop(tb testing.TB, fstype string) string {
	tb.Helper()
	NeedRoot(tb)
	mkfs, err := exec.LookPath("mkfs." + fstype)
	Need(tb, err == nil, "mkfs."+fstype)
	dir := tb.TempDir()
	image, target := filepath.Join(dir, "image"), filepath.Join(dir, "mount")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		tb.Fatal(err)
	}
	if err := os.Truncate(image, 512<<20); err != nil {
		tb.Fatal(err)
	}
	if err := os.Mkdir(target, 0o755); err != nil {
		tb.Fatal(err)
	}
	Run(tb, mkfs, "-q", image)
	Run(tb, "mount", "-o", "loop", image, target)
	tb.Cleanup(func() { Run(tb, "umount", target) })
	return target
}

// Run runs a command that must succeed.
func Run(tb testing.TB, name string, args ...string) {
	tb.Helper()
	// Not under the test's context: it has ended when cleanups run.
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		tb.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}
