package walk

import (
	"errors"
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
	statxFlags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	statxMask  = unix.STATX_BASIC_STATS | unix.STATX_MNT_ID
)

// Stat implements FS with one statx(2). Before Linux 5.8 that knows no mount
// ids, and the device stands for the mount.
func (f *osFS) Stat(path string, e *usage.Entry) (mount uint64, err error) {
	if f.noStatx.Load() {
		return lstat(path, e)
	}
	var st unix.Statx_t
	err = retry(func() error { return unix.Statx(unix.AT_FDCWD, path, statxFlags, statxMask, &st) })
	if errors.Is(err, unix.ENOSYS) {
		f.noStatx.Store(true)
		return lstat(path, e)
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

// From linux/btrfs.h.
const (
	btrfsIocSubvolGetflags = 0x80089419 // _IOR(0x94, 25, __u64)
	btrfsSubvolRdonly      = 1 << 1
)

// ReadOnlySubvolume implements FS. Whatever goes wrong means no: the directory
// is then walked like any other, and what is wrong with it is found there.
func (*osFS) ReadOnlySubvolume(path string) bool {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	var flags uint64
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), btrfsIocSubvolGetflags, uintptr(unsafe.Pointer(&flags)))
	return errno == 0 && flags&btrfsSubvolRdonly != 0
}
