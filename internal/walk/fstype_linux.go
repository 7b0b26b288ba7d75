package walk

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// typeOf returns the name that belongs to a magic number of statfs(2), and
// whether a server is behind it. The numbers are from linux/magic.h, the sources
// of the file systems, and stat.c of GNU coreutils.
func typeOf(magic uint32) (name string, network bool) {
	switch magic {
	case unix.EXT4_SUPER_MAGIC: // ext2 and ext3 too
		return "ext4", false
	case unix.XFS_SUPER_MAGIC:
		return "xfs", false
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs", false
	case unix.TMPFS_MAGIC:
		return "tmpfs", false
	case unix.RAMFS_MAGIC:
		return "ramfs", false
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlay", false
	case unix.F2FS_SUPER_MAGIC:
		return "f2fs", false
	case unix.SQUASHFS_MAGIC:
		return "squashfs", false
	case unix.ISOFS_SUPER_MAGIC:
		return "iso9660", false
	case unix.MSDOS_SUPER_MAGIC:
		return "vfat", false
	case unix.EXFAT_SUPER_MAGIC:
		return "exfat", false
	case unix.PROC_SUPER_MAGIC:
		return "proc", false
	case unix.SYSFS_MAGIC:
		return "sysfs", false
	case 0x2fc12fc1:
		return "zfs", false
	case 0xca451a4e:
		return "bcachefs", false
	case 0x7366746e:
		return "ntfs3", false
	case 0xe0f5e1e2:
		return "erofs", false

	case unix.NFS_SUPER_MAGIC:
		return "nfs", true
	case unix.CIFS_SUPER_MAGIC:
		return "cifs", true
	case unix.SMB2_SUPER_MAGIC:
		return "smb2", true
	case unix.SMB_SUPER_MAGIC:
		return "smb", true
	case unix.CEPH_SUPER_MAGIC:
		return "ceph", true
	case unix.V9FS_MAGIC:
		return "9p", true
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "afs", true
	case unix.FUSE_SUPER_MAGIC: // most of them have a server
		return "fuse", true
	case 0x0bd00bd0:
		return "lustre", true
	case 0x47504653:
		return "gpfs", true
	case 0x19830326:
		return "beegfs", true
	case 0x20030528:
		return "orangefs", true
	case 0xaad7aaea:
		return "panfs", true
	case 0xbeefdead:
		return "snfs", true
	case unix.OCFS2_SUPER_MAGIC:
		return "ocfs2", true
	case 0x01161970:
		return "gfs2", true

	default:
		return fmt.Sprintf("0x%x", magic), false
	}
}
