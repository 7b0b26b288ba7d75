package embeddedpg_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"fstally/internal/embeddedpg"
)

// smallDisk mounts a file system of that size.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	needRoot(t)
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=755,size="+size); err != nil {
		skip(t, "cannot mount a tmpfs: "+err.Error())
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

// bind mounts a directory at another place too.
func bind(t *testing.T, from, to string) {
	t.Helper()
	if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
		skip(t, "cannot bind a mount: "+err.Error())
	}
	t.Cleanup(func() {
		if err := unix.Unmount(to, 0); err != nil {
			t.Errorf("unmount %s: %v", to, err)
		}
	})
}

// fill leaves no byte free.
func fill(t *testing.T, disk string) (filler string) {
	t.Helper()
	f, err := os.Create(filepath.Join(disk, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for chunk := make([]byte, 1<<16); ; {
		if _, err := f.Write(chunk); errors.Is(err, syscall.ENOSPC) {
			return f.Name()
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestDiskFullDuringInitdb(t *testing.T) {
	disk := smallDisk(t, "20m")
	refused(t, config(t, disk), embeddedpg.ErrDiskFull)
	if _, err := os.Stat(dataDir(disk)); !os.IsNotExist(err) {
		t.Errorf("a data directory appeared: %v", err)
	}
	if err := unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT, "size=200m"); err != nil {
		t.Fatal(err)
	}
	stop(t, start(t, disk))
}

func TestDiskFullAtStart(t *testing.T) {
	disk := smallDisk(t, "100m")
	server := start(t, disk)
	keepRow(t, server.URL())
	stop(t, server)

	filler := fill(t, disk)
	refused(t, config(t, disk), embeddedpg.ErrDiskFull)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	server = start(t, disk)
	wantRow(t, server.URL())
	stop(t, server)
}

func TestDiskFullWhileRunning(t *testing.T) {
	disk := smallDisk(t, "100m")
	server := start(t, disk)
	keepRow(t, server.URL())
	filler := fill(t, disk)
	// Writes until there is no space for data or log. Postgres may refuse the
	// statement or may have to end; either way the row survives.
	_ = tryExecute(t, server.URL(), "CREATE TABLE big AS SELECT repeat('x', 1000) FROM generate_series(1, 100000)")
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	stopWhateverHappened(t, server)
	server = start(t, disk)
	wantRow(t, server.URL())
	stop(t, server)
}

func stopWhateverHappened(t *testing.T, server *embeddedpg.Server) {
	t.Helper()
	err := server.Stop(t.Context())
	if err != nil {
		t.Logf("Postgres had ended: %v", err)
	}
}
