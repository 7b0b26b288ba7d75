package walk

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"fstally/internal/usage"
)

// osFS is the operating system.
type osFS struct {
	// noStatx is set once statx(2) turned out to be missing (before Linux 4.11,
	// or forbidden by an old container runtime's filter).
	noStatx atomic.Bool
}

const (
	statxFlags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT | unix.AT_EMPTY_PATH
	statxMask  = unix.STATX_BASIC_STATS | unix.STATX_MNT_ID
)

// Stat implements FS.
func (f *osFS) Stat(path string, e *usage.Entry) (mount uint64, err error) {
	return f.stat(unix.AT_FDCWD, path, e)
}

// stat reads attributes with one statx(2); name is relative to the directory at,
// "" for that directory itself.
// Before Linux 5.8 statx knows no mount ids, and the device stands for the mount.
func (f *osFS) stat(at int, name string, e *usage.Entry) (mount uint64, err error) {
	if f.noStatx.Load() {
		return lstat(at, name, e)
	}
	var st unix.Statx_t
	err = retry(func() error { return unix.Statx(at, name, statxFlags, statxMask, &st) })
	if errors.Is(err, unix.ENOSYS) {
		f.noStatx.Store(true)
		return lstat(at, name, e)
	}
	if err != nil {
		return NoMount, err
	}
	e.Type = entryType(uint32(st.Mode))
	e.Nlink = st.Nlink
	e.UID, e.GID = st.Uid, st.Gid
	e.Dev, e.Ino = unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino
	e.Size, e.Blocks = int64(st.Size), int64(st.Blocks)
	e.Atime, e.Mtime = st.Atime.Sec, st.Mtime.Sec
	switch {
	case e.Type == usage.Directory && st.Attributes&unix.STATX_ATTR_AUTOMOUNT != 0:
		return NoMount, nil // reading it would mount what we would then skip
	case st.Mask&unix.STATX_MNT_ID != 0:
		return st.Mnt_id, nil
	default:
		return e.Dev, nil
	}
}

// OpenDir implements FS. What is longer than the kernel takes at once is opened
// in steps.
func (f *osFS) OpenDir(path string) (Directory, error) {
	at := unix.AT_FDCWD
	for rest := path; ; {
		step, flags := rest, unix.O_RDONLY
		if len(rest) >= unix.PathMax {
			step, flags = rest[:strings.LastIndexByte(rest[:unix.PathMax], '/')], unix.O_PATH
		}
		fd, err := openat(at, step, flags)
		if at != unix.AT_FDCWD {
			_ = unix.Close(at)
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		if step == rest {
			return &directory{os.NewFile(uintptr(fd), path), fd, f}, nil
		}
		at, rest = fd, rest[len(step)+1:]
	}
}

// openat opens a directory. What is none is refused before it is opened, so that
// a FIFO does not block and a device does not notice.
func openat(at int, path string, flags int) (fd int, err error) {
	flags |= unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	err = retry(func() error {
		fd, err = unix.Openat(at, path, flags, 0)
		return err
	})
	return fd, err
}

// directory is a Directory of the operating system.
type directory struct {
	*os.File
	fd int // of File, whose Fd has side effects
	fs *osFS
}

// Stat implements Directory. It needs no permission to search the directory.
func (d *directory) Stat(e *usage.Entry) (mount uint64, err error) { return d.StatAt("", e) }

// StatAt implements Directory.
func (d *directory) StatAt(name string, e *usage.Entry) (mount uint64, err error) {
	return d.fs.stat(d.fd, name, e)
}

// From linux/btrfs.h.
const (
	btrfsIocSubvolGetflags = 0x80089419 // _IOR(0x94, 25, __u64)
	btrfsSubvolRdonly      = 1 << 1
)

// ReadOnlySubvolume implements FS. Whatever goes wrong means no: the directory
// is then walked like any other, and what is wrong with it is found there.
func (*osFS) ReadOnlySubvolume(path string) bool {
	fd, err := openat(unix.AT_FDCWD, path, unix.O_RDONLY)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	var flags uint64
	//nolint:gosec // G103: the kernel fills flags in
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), btrfsIocSubvolGetflags, uintptr(unsafe.Pointer(&flags)))
	return errno == 0 && flags&btrfsSubvolRdonly != 0
}
