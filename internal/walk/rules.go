package walk

import (
	"fmt"
	"slices"
	"strings"

	"fstally/internal/usage"
)

// rules decide what belongs to a scan. They are fixed once the root was seen.
type rules struct {
	fs        FS
	root      string // without a slash at its end
	mount     uint64 // that the root is on
	snapshots []string
	fileset   func(parent *usage.Dir, name string) string
}

// newRules reads the attributes of the directory where the walk begins into e
// and returns the rules for what is below, and the directory that e stands in,
// nil for the root. An error means that there is nothing to walk.
func newRules(o *Options, e *usage.Entry) (*rules, *usage.Dir, error) {
	mount, err := o.FS.Stat(o.Root, e)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("stat the root %s: %w", usage.Escape(o.Root), err)
	case e.Type != usage.Directory:
		return nil, nil, fmt.Errorf("the root %s is not a directory", usage.Escape(o.Root))
	case mount == NoMount:
		return nil, nil, fmt.Errorf("the root %s is not mounted", usage.Escape(o.Root))
	}
	e.Name, e.Dir = nil, &usage.Dir{}
	r := &rules{fs: o.FS, root: dirKey(o.Root), mount: mount, snapshots: o.Snapshots, fileset: o.Fileset}
	if o.Part == "" {
		return r, nil, nil
	}
	parent, err := r.descend(o, e)
	return r, parent, err
}

// descend leads e from the root to the part. A part behind a symbolic link or on
// another mount does not belong to the tree.
func (r *rules) descend(o *Options, e *usage.Entry) (parent *usage.Dir, err error) {
	for name := range strings.SplitSeq(o.Part, "/") {
		parent = e.Dir
		path := r.root + "/" + parent.Join([]byte(name))
		mount, err := r.fs.Stat(path, e)
		switch {
		case err != nil:
			return nil, fmt.Errorf("stat %s: %w", usage.Escape(path), err)
		case e.Type != usage.Directory || mount != r.mount:
			return nil, fmt.Errorf("%s is not a directory of the file system at %s", usage.Escape(path), usage.Escape(o.Root))
		}
		e.Name, e.Dir = []byte(name), r.dir(parent, name)
	}
	return parent, nil
}

// btrfsSubvolumeIno is the inode number of the root of every btrfs subvolume
// (BTRFS_FIRST_FREE_OBJECTID): a cheap test before the directory is opened.
const btrfsSubvolumeIno = 256

// skip returns why an entry of parent is left out; "" where it is counted.
//
// Users must not be able to hide data in a directory of a snapshot's name, so
// the name alone counts only where storage systems put it: at the root of the
// scan and of filesets. Elsewhere the file system has to say so too.
func (r *rules) skip(parent *usage.Dir, e *usage.Entry, mount uint64) usage.SkipReason {
	snapshot := e.Type == usage.Directory && slices.Contains(r.snapshots, string(e.Name))
	switch {
	case snapshot && (mount != r.mount || top(parent)):
		return usage.SkipSnapshot
	case mount != r.mount:
		return usage.SkipMount
	case snapshot && e.Ino == btrfsSubvolumeIno && r.fs.ReadOnlySubvolume(r.root+"/"+parent.Join(e.Name)):
		return usage.SkipSnapshot
	default:
		return ""
	}
}

// top reports the root of the scan or of a fileset.
func top(d *usage.Dir) bool { return d.Parent == nil || d.Fileset != d.Parent.Fileset }

// dir makes the one Dir of the directory called name in parent.
func (r *rules) dir(parent *usage.Dir, name string) *usage.Dir {
	d := &usage.Dir{Parent: parent, Name: name, Depth: parent.Depth + 1}
	if r.fileset != nil {
		d.Fileset = r.fileset(parent, name)
	}
	return d
}
