//go:build linux

// Package tree builds real directory trees for tests from a literal that looks
// like the tree:
//
//	tree.Make(t, root, tree.Dir{
//		"a.txt": tree.File{Size: 10},
//		"b":     tree.HardLink{To: "a.txt"},
//		"sub":   tree.Owned{Node: tree.Dir{"s": tree.Symlink{To: "../a.txt"}}, UID: 1000},
//	})
//
// Names are raw bytes and may be as hostile as the file system allows.
package tree

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Node is one thing in a tree.
type Node interface {
	// make creates the node at path; root is the top of the whole tree.
	make(root, path string) error
}

// Dir is a directory with its entries by name. Hard links are made last, so
// that they may lead anywhere in the tree.
type Dir map[string]Node

// File is a regular file.
type File struct {
	Size int64 // bytes, as st_size
	// Data is how many of them are written, from the start; the rest is a hole.
	// 0 writes all up to 1 MiB and makes a larger file sparse; Sparse writes none.
	Data int64
	Mode os.FileMode // 0 for 0644
}

// Sparse as File.Data writes nothing: the file is one hole.
const Sparse = -1

// Symlink leads to a path, whether that exists or not.
type Symlink struct{ To string }

// HardLink is one more name of what is at To, relative to the top of the tree.
type HardLink struct{ To string }

// Fifo is a named pipe.
type Fifo struct{}

// Socket is a Unix socket that nobody listens on.
type Socket struct{}

// Device is a character device, major 1 minor 3 (/dev/null): needs root.
type Device struct{}

// Owned gives a node an owner; needs root for an owner other than the caller.
type Owned struct {
	Node
	UID, GID uint32
}

// Timed sets the times of a node, for a directory after it was filled.
type Timed struct {
	Node
	Atime, Mtime time.Time
}

// Moded sets the permission bits of a node, for a directory after it was filled.
type Moded struct {
	Node
	Mode os.FileMode
}

// Make builds the tree in root, which must be a directory.
func Make(tb testing.TB, root string, d Dir) {
	tb.Helper()
	if err := d.make(root, root); err != nil {
		tb.Fatal(err)
	}
	if err := d.link(root, root); err != nil {
		tb.Fatal(err)
	}
	// Times and modes last: making links and entries changes them.
	if err := d.finish(root); err != nil {
		tb.Fatal(err)
	}
}

func (d Dir) make(root, path string) error {
	if err := os.Mkdir(path, 0o755); err != nil && !os.IsExist(err) {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(d)) {
		if err := d[name].make(root, path+"/"+name); err != nil {
			return err
		}
	}
	return nil
}

// link makes the hard links.
func (d Dir) link(root, path string) error {
	for _, name := range slices.Sorted(maps.Keys(d)) {
		switch node := bare(d[name]).(type) {
		case Dir:
			if err := node.link(root, path+"/"+name); err != nil {
				return err
			}
		case HardLink:
			if err := os.Link(filepath.Join(root, node.To), path+"/"+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish sets owners, times and modes from the leaves to the top.
func (d Dir) finish(path string) error {
	for _, name := range slices.Sorted(maps.Keys(d)) {
		at := path + "/" + name
		if sub, ok := bare(d[name]).(Dir); ok {
			if err := sub.finish(at); err != nil {
				return err
			}
		}
		for _, wrapped := range wraps(d[name]) {
			if err := wrapped(at); err != nil {
				return fmt.Errorf("%q: %w", at, err)
			}
		}
	}
	return nil
}

// bare returns the node without what Owned, Timed and Moded say of it.
func bare(n Node) Node {
	switch n := n.(type) {
	case Owned:
		return bare(n.Node)
	case Timed:
		return bare(n.Node)
	case Moded:
		return bare(n.Node)
	default:
		return n
	}
}

// wraps returns what is to be done to the node at a path, owners first.
func wraps(n Node) (todo []func(path string) error) {
	switch n := n.(type) {
	case Owned:
		return append([]func(string) error{func(path string) error {
			return unix.Lchown(path, int(n.UID), int(n.GID))
		}}, wraps(n.Node)...)
	case Moded:
		return append(wraps(n.Node), func(path string) error { return os.Chmod(path, n.Mode) })
	case Timed:
		return append(wraps(n.Node), func(path string) error {
			times := []unix.Timespec{unixTime(n.Atime), unixTime(n.Mtime)}
			return unix.UtimesNanoAt(unix.AT_FDCWD, path, times, unix.AT_SYMLINK_NOFOLLOW)
		})
	default:
		return nil
	}
}

// unixTime keeps every second that a time.Time holds; the zero time leaves the
// time of the file as it is.
func unixTime(t time.Time) unix.Timespec {
	if t.IsZero() {
		return unix.Timespec{Nsec: unix.UTIME_OMIT}
	}
	return unix.Timespec{Sec: t.Unix(), Nsec: int64(t.Nanosecond())}
}

func (f File) make(_, path string) error {
	mode := f.Mode
	if mode == 0 {
		mode = 0o644
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	data := f.Data
	if data == 0 && f.Size <= 1<<20 {
		data = f.Size
	}
	if data > 0 {
		if _, err := file.Write(make([]byte, data)); err != nil {
			return err
		}
	}
	return file.Truncate(f.Size)
}

func (s Symlink) make(_, path string) error { return os.Symlink(s.To, path) }

func (HardLink) make(_, _ string) error { return nil } // see Dir.link

func (Fifo) make(_, path string) error { return unix.Mkfifo(path, 0o644) }

func (Socket) make(_, path string) error {
	// mknod instead of bind, whose paths end at 108 bytes.
	return unix.Mknod(path, unix.S_IFSOCK|0o644, 0)
}

func (Device) make(_, path string) error {
	return unix.Mknod(path, unix.S_IFCHR|0o644, int(unix.Mkdev(1, 3)))
}

func (o Owned) make(root, path string) error { return o.Node.make(root, path) }
func (m Timed) make(root, path string) error { return m.Node.make(root, path) }
func (m Moded) make(root, path string) error { return m.Node.make(root, path) }
