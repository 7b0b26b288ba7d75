//go:build unix

package walk

import (
	"golang.org/x/sys/unix"

	"fstally/internal/usage"
)

// lstat reads the attributes of name, relative to the directory at and "" for
// that itself, with calls that every system has. It takes the device for the mount.
func lstat(at int, name string, e *usage.Entry) (mount uint64, err error) {
	var st unix.Stat_t
	call := func() error { return unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW) }
	if name == "" {
		call = func() error { return unix.Fstat(at, &st) }
	}
	if err := retry(call); err != nil {
		return NoMount, err
	}
	// The widths of these fields differ between systems.
	e.Type = entryType(uint32(st.Mode)) //nolint:unconvert // uint16 on darwin
	e.Nlink = uint32(st.Nlink)
	e.UID, e.GID = st.Uid, st.Gid
	e.Dev, e.Ino = uint64(st.Dev), uint64(st.Ino) //nolint:unconvert // int32 on darwin
	e.Size, e.Blocks = st.Size, st.Blocks
	e.Atime, _ = st.Atim.Unix()
	e.Mtime, _ = st.Mtim.Unix()
	return e.Dev, nil
}

// entryType returns the type that the format bits of a st_mode stand for.
func entryType(mode uint32) usage.EntryType {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return usage.File
	case unix.S_IFDIR:
		return usage.Directory
	case unix.S_IFLNK:
		return usage.Symlink
	default:
		return usage.Special
	}
}

// retry repeats a system call that a signal interrupted, as FUSE and NFS do
// although stat(2) knows no EINTR.
func retry(call func() error) error {
	for {
		if err := call(); err != unix.EINTR { //nolint:errorlint // a bare errno
			return err
		}
	}
}
