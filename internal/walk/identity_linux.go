package walk

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// identity returns what names the file system on every host and after every
// reboot. st_dev and f_fsid do not: they change with the device number.
func identity(m *Mount) string {
	switch m.FSType {
	case "nfs", "cifs", "smb2", "smb", "9p", "zfs", "orangefs", "panfs", "snfs":
		return m.Source // server:export, //server/share, pool/dataset
	case "lustre":
		return lustreName(m.Source)
	case "gpfs":
		return strings.TrimPrefix(m.Source, "/dev/")
	case "ceph":
		return cephName(m.Source)
	}
	if !strings.HasPrefix(m.Source, "/dev/") {
		return "" // tmpfs, overlay, FUSE: their UUIDs last as long as the mount
	}
	if uuid := uuidByIoctl(m.Root); uuid != "" {
		return uuid
	}
	return uuidByLink("/dev/disk/by-uuid", m.Source)
}

// lustreName returns fsname of "mgs1@tcp:mgs2@tcp:/fsname" and of
// "...:/fsname/subdirectory".
func lustreName(source string) string {
	_, name, _ := strings.Cut(source, ":/")
	name, _, _ = strings.Cut(name, "/")
	return name
}

var cephFSID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.[^=]+`)

// cephName returns fsid.fsname of "user@fsid.fsname=/path" (mount.ceph(8)). The
// older syntax lists monitors, which come and go.
func cephName(source string) string { return cephFSID.FindString(source) }

// From linux/fs.h and linux/btrfs.h.
const (
	fsIocGetfsuuid = 0x80111500 // _IOR(0x15, 0, struct fsuuid2): a length and 16 bytes
	btrfsIocFsInfo = 0x8400941f // _IOR(0x94, 31, struct btrfs_ioctl_fs_info_args): 16 bytes before the UUID
)

// uuidByIoctl asks the file system itself: btrfs, and from Linux 6.9 on others.
func uuidByIoctl(root string) string {
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer func() { _ = unix.Close(fd) }()
	ask := func(request uintptr, answer *[1024]byte) bool {
		//nolint:gosec // G103: the kernel fills answer in, which is larger than either structure
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(answer)))
		return errno == 0
	}
	var answer [1024]byte
	var uuid []byte
	switch {
	case ask(fsIocGetfsuuid, &answer) && answer[0] == 16:
		uuid = answer[1:17]
	case ask(btrfsIocFsInfo, &answer):
		uuid = answer[16:32]
	}
	text := hex.EncodeToString(uuid)
	if strings.Trim(text, "0") == "" { // no answer, or a file system without UUID
		return ""
	}
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// uuidByLink looks for the device among the links that udev makes in dir.
func uuidByLink(dir, device string) string {
	wanted, err := filepath.EvalSymlinks(device)
	if err != nil {
		return ""
	}
	links, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, link := range links {
		if target, err := filepath.EvalSymlinks(filepath.Join(dir, link.Name())); err == nil && target == wanted {
			return link.Name()
		}
	}
	return ""
}
