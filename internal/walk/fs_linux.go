package walk

import (
	"errors"
	"io/fs"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"fstally/internal/usage"
)

// osFS is the operating system.
type osFS struct {
	// cached takes attributes as the kernel has them, without asking a server
	// again for what came with the name.
	cached bool
	pace   pace
	// noStatx is set once statx(2) turned out to be missing (before Linux 4.11,
	// or forbidden by an old container runtime's filter).
	noStatx atomic.Bool
	// noNoatime is set once a directory could not be opened without a change of
	// its access time: that takes its owner, or CAP_FOWNER.
	noNoatime atomic.Bool
}

const (
	statxFlags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT | unix.AT_EMPTY_PATH
	statxMask  = unix.STATX_BASIC_STATS | unix.STATX_MNT_ID
)

// Stat implements FS.
func (f *osFS) Stat(path string, e *usage.Entry) (mount uint64, err error) {
	name, err := unix.ByteSliceFromString(path)
	if err != nil {
		return NoMount, err
	}
	return f.stat(unix.AT_FDCWD, name, e, false)
}

// stat reads attributes with one statx(2); name is relative to the directory at
// and ends in a zero byte, which alone is that directory itself.
// Before Linux 5.8 statx knows no mount ids, and the device stands for the mount.
func (f *osFS) stat(at int, name []byte, e *usage.Entry, quick bool) (mount uint64, err error) {
	if f.noStatx.Load() {
		return lstat(at, unix.ByteSliceToString(name), e)
	}
	var st unix.Statx_t
	switch errno := f.statx(at, name, &st, quick); errno {
	case 0:
		return attributes(&st, e), nil
	case unix.ENOSYS:
		f.noStatx.Store(true)
		return lstat(at, unix.ByteSliceToString(name), e)
	default:
		return NoMount, errno
	}
}

// statx calls statx(2). unix.Statx would copy the name for each entry.
//
// The runtime is not told of quick calls: telling it takes a tenth of the time of a
// call that finds all in memory, but lets it use the processor while others wait.
func (f *osFS) statx(at int, name []byte, st *unix.Statx_t, quick bool) (errno unix.Errno) {
	flags := uintptr(statxFlags)
	if f.cached {
		flags |= unix.AT_STATX_DONT_SYNC
	}
	for {
		//nolint:gosec // G103: the kernel reads the name up to its zero byte, and fills st
		if quick {
			_, _, errno = unix.RawSyscall6(unix.SYS_STATX, uintptr(at), uintptr(unsafe.Pointer(&name[0])), flags,
				statxMask, uintptr(unsafe.Pointer(st)), 0)
		} else {
			_, _, errno = unix.Syscall6(unix.SYS_STATX, uintptr(at), uintptr(unsafe.Pointer(&name[0])), flags,
				statxMask, uintptr(unsafe.Pointer(st)), 0)
		}
		if errno != unix.EINTR { // see retry
			return errno
		}
	}
}

// attributes fills in e and returns the mount.
func attributes(st *unix.Statx_t, e *usage.Entry) (mount uint64) {
	e.Type = entryType(uint32(st.Mode))
	e.Nlink = st.Nlink
	e.UID, e.GID = st.Uid, st.Gid
	e.Dev, e.Ino = unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino
	e.Size, e.Blocks = int64(st.Size), int64(st.Blocks)
	e.Atime, e.Mtime = st.Atime.Sec, st.Mtime.Sec
	switch {
	case e.Type == usage.Directory && st.Attributes&unix.STATX_ATTR_AUTOMOUNT != 0:
		return NoMount // reading it would mount what we would then skip
	case st.Mask&unix.STATX_MNT_ID != 0:
		return st.Mnt_id
	default:
		return e.Dev
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
		fd, err := f.open(at, step, flags)
		if at != unix.AT_FDCWD {
			_ = unix.Close(at)
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		if step == rest {
			return &directory{fd, f}, nil
		}
		at, rest = fd, rest[len(step)+1:]
	}
}

// open opens a directory, and leaves its access time alone where it may.
func (f *osFS) open(at int, path string, flags int) (fd int, err error) {
	if flags == unix.O_RDONLY && !f.noNoatime.Load() {
		fd, err = openat(at, path, flags|unix.O_NOATIME)
		if !errors.Is(err, unix.EPERM) {
			return fd, err
		}
		f.noNoatime.Store(true)
	}
	return openat(at, path, flags)
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
	fd int
	fs *osFS
}

// Stat implements Directory. It needs no permission to search the directory.
func (d *directory) Stat(e *usage.Entry) (mount uint64, err error) {
	return d.fs.stat(d.fd, []byte{0}, e, false)
}

// StatAll implements Directory.
func (d *directory) StatAll(records []byte, f *Found) {
	run := d.fs.pace.begin()
	for len(records) > 0 {
		length := NextDirent(records)
		name := DirentName(records[:length])
		records = records[length:]
		if !DotName(name) {
			mount, err := d.fs.stat(d.fd, name, f.Next(), run.quick)
			f.Add(name[:len(name)-1], mount, err)
		}
	}
	d.fs.pace.end(run, f.N+len(f.Failed))
}

// OpenAt implements Directory.
func (d *directory) OpenAt(name string) (Directory, error) {
	fd, err := d.fs.open(d.fd, name, unix.O_RDONLY)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &directory{fd, d.fs}, nil
}

// List implements Directory.
func (d *directory) List(buf []byte) (n int, err error) {
	err = retry(func() error {
		n, err = unix.Getdents(d.fd, buf)
		return err
	})
	return n, err
}

// Close implements Directory.
func (d *directory) Close() error { return unix.Close(d.fd) }

// From linux/btrfs.h.
const (
	btrfsIocSubvolGetflags = 0x80089419 // _IOR(0x94, 25, __u64)
	btrfsSubvolRdonly      = 1 << 1
)

// ReadOnlySubvolume implements FS. Whatever goes wrong means no: the directory
// is then walked like any other, and what is wrong with it is found there.
func (f *osFS) ReadOnlySubvolume(path string) bool {
	fd, err := f.open(unix.AT_FDCWD, path, unix.O_RDONLY)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	var flags uint64
	//nolint:gosec // G103: the kernel fills flags in
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), btrfsIocSubvolGetflags, uintptr(unsafe.Pointer(&flags)))
	return errno == 0 && flags&btrfsSubvolRdonly != 0
}
