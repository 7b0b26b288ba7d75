//go:build linux

// Package walktest lays faults under a walk, so that tests can see what a scan
// makes of a file system that fails.
package walktest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"fstally/internal/usage"
	"fstally/internal/walk"
)

// FS is the operating system with faults at some paths.
type FS struct {
	Root   string
	Faults map[string]*Fault // by path below Root, "" for Root itself

	// Pretend answers instead of walk.OS() where it is set.
	Pretend walk.FS
}

// Fault is what goes wrong at one path. The zero value is no fault.
type Fault struct {
	// BeforeStat runs before the attributes are read: it may block, panic or
	// change the tree.
	BeforeStat func()
	// Stat is the error of reading the attributes.
	Stat error
	// Change alters the attributes that were read.
	Change func(e *usage.Entry, mount *uint64)

	// Open is the error of opening the directory.
	Open error
	// Opened alters the attributes of the directory once it is open.
	Opened func(e *usage.Entry, mount *uint64)
	// Read is the error of listing the directory, once ReadAfter entries that
	// are no directories were read; it serves one walk.
	Read      error
	ReadAfter int64
	// Twice lists each entry of the directory two times.
	Twice bool

	read atomic.Int64
}

func (f *FS) below() walk.FS {
	if f.Pretend != nil {
		return f.Pretend
	}
	return walk.OS()
}

// at returns the fault of a full path, one without effect where there is none.
func (f *FS) at(path string) *Fault {
	if fault := f.Faults[strings.TrimPrefix(strings.TrimPrefix(path, f.Root), "/")]; fault != nil {
		return fault
	}
	return &Fault{}
}

// Walk implements walk.FS.
func (f *FS) Walk(root string, walkers int, fn fs.WalkDirFunc) error {
	return f.below().Walk(root, walkers, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fn(path, d, err)
		}
		in := &Fault{} // of the directory that path stands in
		if path != root {
			in = f.at(filepath.Dir(path))
		}
		if !d.IsDir() && in.Read != nil && in.read.Add(1) > in.ReadAfter {
			return os.NewSyscallError("readdirent", in.Read) // ends the directory
		}
		err = fn(path, d, nil)
		if in.Twice {
			if again := fn(path, d, nil); err == nil && !errors.Is(again, fs.SkipDir) {
				err = again
			}
		}
		if err != nil || !d.IsDir() {
			return err
		}
		return f.read(path, d, fn)
	})
}

// read fails to read the directory at path from its start, if it has to.
func (f *FS) read(path string, d fs.DirEntry, fn fs.WalkDirFunc) error {
	fault := f.at(path)
	var err error
	switch {
	case fault.Open != nil:
		err = &fs.PathError{Op: "open", Path: path, Err: fault.Open}
	case fault.Read != nil && fault.ReadAfter == 0:
		err = os.NewSyscallError("readdirent", fault.Read)
	default:
		return nil
	}
	if err := fn(path, d, err); err != nil { // as fastwalk reports it
		return err
	}
	return fs.SkipDir
}

// Stat implements walk.FS.
func (f *FS) Stat(path string, e *usage.Entry) (uint64, error) {
	return f.at(path).stat(e, func() (uint64, error) { return f.below().Stat(path, e) })
}

// stat reads attributes unless they cannot be read.
func (f *Fault) stat(e *usage.Entry, read func() (uint64, error)) (uint64, error) {
	if f.BeforeStat != nil {
		f.BeforeStat()
	}
	if f.Stat != nil {
		return walk.NoMount, f.Stat
	}
	mount, err := read()
	if err == nil && f.Change != nil {
		f.Change(e, &mount)
	}
	return mount, err
}

// OpenDir implements walk.FS.
func (f *FS) OpenDir(path string) (walk.Directory, error) {
	return f.open(path, func() (walk.Directory, error) { return f.below().OpenDir(path) })
}

func (f *FS) open(path string, open func() (walk.Directory, error)) (walk.Directory, error) {
	fault := f.at(path)
	if fault.Open != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fault.Open}
	}
	d, err := open()
	if err != nil {
		return nil, err
	}
	return &directory{Directory: d, fs: f, path: path, fault: fault}, nil
}

// directory is an open directory with its faults and those of its entries.
type directory struct {
	walk.Directory
	fs    *FS
	path  string
	fault *Fault
	read  int64 // entries that were listed, where listing is to fail
}

// Stat implements walk.Directory.
func (d *directory) Stat(e *usage.Entry) (uint64, error) {
	mount, err := d.Directory.Stat(e)
	if err == nil && d.fault.Opened != nil {
		d.fault.Opened(e, &mount)
	}
	return mount, err
}

// StatAll implements walk.Directory.
func (d *directory) StatAll(records []byte, f *walk.Found) {
	for len(records) > 0 {
		record := records[:walk.NextDirent(records)]
		records = records[len(record):]
		name := walk.DirentName(record)
		if walk.DotName(name) {
			continue
		}
		name = name[:len(name)-1]
		var one walk.Found
		e := f.Next()
		mount, err := d.fs.at(d.path+"/"+string(name)).stat(e, func() (uint64, error) {
			d.Directory.StatAll(record, &one)
			if len(one.Failed) > 0 {
				return walk.NoMount, one.Failed[0].Err
			}
			*e = one.Entries[0]
			return one.Mounts[0], nil
		})
		f.Add(name, mount, err)
	}
}

// OpenAt implements walk.Directory.
func (d *directory) OpenAt(name string) (walk.Directory, error) {
	path := d.path + "/" + name
	return d.fs.open(path, func() (walk.Directory, error) { return d.Directory.OpenAt(name) })
}

// List implements walk.Directory. Names of directories count as entries too for
// ReadAfter.
func (d *directory) List(buf []byte) (int, error) {
	switch {
	case d.fault.Read != nil && d.read >= d.fault.ReadAfter:
		return 0, os.NewSyscallError("readdirent", d.fault.Read)
	case d.fault.Read != nil:
		n, err := d.Directory.List(buf)
		return d.cut(buf[:n]), err
	case d.fault.Twice:
		n, err := d.Directory.List(buf[:len(buf)/2])
		return n + copy(buf[n:], buf[:n]), err
	default:
		return d.Directory.List(buf)
	}
}

// cut returns the length of those records that may be read before the fault.
func (d *directory) cut(records []byte) (length int) {
	for length < len(records) && d.read < d.fault.ReadAfter {
		next := walk.NextDirent(records[length:])
		if !walk.DotName(walk.DirentName(records[length : length+next])) {
			d.read++
		}
		length += next
	}
	return length
}

// ReadOnlySubvolume implements walk.FS.
func (f *FS) ReadOnlySubvolume(path string) bool { return f.below().ReadOnlySubvolume(path) }
