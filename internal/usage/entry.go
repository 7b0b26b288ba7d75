package usage

// EntryType is what kind of inode an entry names.
type EntryType uint8

// The entry types.
const (
	File EntryType = iota
	Directory
	Symlink
	Special // FIFO, socket, device
)

// BlockSize is the unit of st_blocks, 512 bytes on Linux whatever the block
// size of the file system (stat(2)).
const BlockSize = 512

// Entry is one name in a directory with the attributes of its inode.
type Entry struct {
	Name   []byte // the last path component; empty for the root of the scan
	Type   EntryType
	Nlink  uint32
	UID    uint32
	GID    uint32
	Dev    uint64 // st_dev, comparable only within one scan
	Ino    uint64
	Size   int64 // st_size
	Blocks int64 // st_blocks, in units of BlockSize
	Atime  int64 // seconds since 1970, the floor for times before it
	Mtime  int64

	// Dir is the directory that the entry names; nil for other types.
	Dir *Dir
}

// Linked reports whether other names may lead to the same inode, so that it has
// to be counted once. Directories never are: their link count counts their
// subdirectories.
func (e *Entry) Linked() bool { return e.Nlink > 1 && e.Type != Directory }

// Measures returns what one inode adds to every sum.
func (e *Entry) Measures() Measures {
	m := Measures{Inodes: 1, Allocated: ByteCount(e.Blocks).times512()}
	switch e.Type {
	case File:
		m.Files = 1
		m.Size = ByteCount(e.Size)
		m.Slack = m.Allocated.Sub(m.Size)
	case Symlink:
		m.Size = ByteCount(e.Size)
	case Directory, Special:
	}
	return m
}

// times512 multiplies by BlockSize: st_blocks near 2^63 would wrap in 64 bits.
func (b Bytes) times512() Bytes { return Bytes{b.hi<<9 | b.lo>>55, b.lo << 9} }

// Dir is a directory of the tree under scan.
type Dir struct {
	Parent *Dir   // nil for the root
	Name   string // the last component, raw bytes; "" for the root
	Depth  int    // 0 for the root
	// Fileset is the key of the fileset that the directory belongs to: the raw
	// path of the fileset's own directory below the root, "" for none.
	Fileset string
}

// Path returns the raw path below the root of the scan, without a leading
// slash; "" for the root itself.
func (d *Dir) Path() string { return string(d.Append(nil)) }

// Append appends the path of d to buf.
func (d *Dir) Append(buf []byte) []byte {
	if d.Parent == nil {
		return buf
	}
	if d.Parent.Parent != nil {
		buf = append(d.Parent.Append(buf), '/')
	}
	return append(buf, d.Name...)
}

// Join returns the raw path of the entry called name in d.
func (d *Dir) Join(name []byte) string {
	buf := d.Append(make([]byte, 0, 128))
	if len(buf) > 0 && len(name) > 0 {
		buf = append(buf, '/')
	}
	return string(append(buf, name...))
}

// Counters count what a scan met, names and inodes apart.
type Counters struct {
	Entries     int64 // names read, the root included
	Links       int64 // names of regular files, however many inodes they have
	Directories int64
	Symlinks    int64 // inodes
	Specials    int64 // inodes
	Vanished    int64 // gone between listing and stat
	Errors      int64 // see ScanError
	Skipped     int64 // not entered, see Skipped
}

// Add adds d to c.
func (c *Counters) Add(d Counters) {
	c.Entries += d.Entries
	c.Links += d.Links
	c.Directories += d.Directories
	c.Symlinks += d.Symlinks
	c.Specials += d.Specials
	c.Vanished += d.Vanished
	c.Errors += d.Errors
	c.Skipped += d.Skipped
}

// ScanError counts the failures of one kind and samples where they happened.
type ScanError struct {
	Op      string   // open, readdir, stat
	Errno   string   // EACCES, EIO, ... or "unknown"
	Message string   // what the system says of it
	Count   int64    // failures of this kind
	Paths   []string // raw paths below the root, bytewise smallest first, at most MaxSamples
}

// MaxSamples is how many sample paths are kept for one kind of error or skip.
const MaxSamples = 100

// SkipReason says why a directory or entry was left out on purpose.
type SkipReason string

// The reasons.
const (
	SkipMount    SkipReason = "other mount"
	SkipSnapshot SkipReason = "snapshot directory"
)

// Skipped lists what was left out for one reason; its usage is unknown.
type Skipped struct {
	Reason SkipReason
	Count  int64
	Paths  []string // as in ScanError
}
