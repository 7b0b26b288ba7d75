package usage

import "time"

// Meta says what a result is a result of: everything that is known of a scan
// beside its numbers.
type Meta struct {
	ResultID    string   // UUID, made once per result: what makes an import idempotent
	Version     string   // of the program that scanned
	Root        string   // real path, raw bytes
	Parts       []string // raw paths below Root of the subtrees that were scanned; [""] is all
	Identity    string   // of the file system, see FileSystem
	FSType      string   // xfs, nfs4, ... or the magic number of statfs in hex
	Host        string   // that scanned, and resolved the names
	Engine      string
	Walkers     int
	OpsLimit    int // ceiling of operations per second, 0 for none
	Freshness   string
	Offline     bool // whether Offline was measured
	Started     time.Time
	Finished    time.Time
	SizeClasses SizeClasses
	Capacity    Capacity // at the start
	Filesets    []NamedFileset
	Identities  []Identity
}

// IdentityKind tells users from groups.
type IdentityKind string

// The kinds.
const (
	UserIdentity  IdentityKind = "user"
	GroupIdentity IdentityKind = "group"
)

// Identity is the name that a host knows for an id.
type Identity struct {
	Kind IdentityKind
	ID   uint32
	Name string // raw; "" when the host was asked and knows none
}

// Summary holds the numbers of a whole scan, ready to print or store: hard
// links are folded in, file types limited, rows sorted, so that equal trees
// give equal summaries.
type Summary struct {
	Totals      Measures
	Counters    Counters
	Cells       []Cell            // the cube, by Key
	Sizes       []SizeCell        // histogram of regular files
	Ages        []AgeCell         // histogram of regular files
	Directories []DirectoryRow    // preorder
	Errors      []ScanError       // by Op, Errno
	Skipped     []Skipped         // by Reason
	Categories  map[string]string // of each file type in Cells
}

// Cell is one row of the cube.
type Cell struct {
	Key
	Measures
}

// Value is one value of one dimension: ID for User, Group, Pool and the
// classes, Text (raw) for Type, Category and Fileset.
type Value struct {
	ID   uint32
	Text string
}

// Value returns the value that the cell has in the dimension. Categories are
// those of the summary.
func (s *Summary) Value(c *Cell, d Dimension) Value {
	switch d {
	case User:
		return Value{ID: c.UID}
	case Group:
		return Value{ID: c.GID}
	case Type:
		return Value{Text: c.Type}
	case Category:
		return Value{Text: s.Categories[c.Type]}
	case Fileset:
		return Value{Text: c.Fileset}
	case Pool:
		return Value{ID: c.Pool}
	case SizeClassDim:
		return Value{ID: uint32(c.SizeClass)}
	default:
		return Value{ID: uint32(c.AgeClass)}
	}
}

// Marginal sums the cube over everything but one dimension.
func (s *Summary) Marginal(d Dimension) map[Value]Measures {
	sums := make(map[Value]Measures)
	for i := range s.Cells {
		v := s.Value(&s.Cells[i], d)
		m := sums[v]
		m.Add(s.Cells[i].Measures)
		sums[v] = m
	}
	return sums
}

// SizeCell is one bar of the fine histogram of one user, type or fileset.
type SizeCell struct {
	Dimension Dimension // User, Type or Fileset
	Value     Value
	By        Measure // what the bucket is of: Size or Allocated
	Bucket    SizeBucket
	Files     int64
	Size      Bytes
	Allocated Bytes
}

// Clock tells which time an age is measured from.
type Clock string

// The clocks.
const (
	ByMtime Clock = "mtime"
	ByAtime Clock = "atime"
)

// AgeCell is one age class of one user or fileset.
type AgeCell struct {
	Dimension Dimension // User or Fileset
	Value     Value
	Clock     Clock
	Class     AgeClass
	Measures
}

// DirectoryRow is a directory that holds enough to be kept, with the totals of
// its whole subtree, its own inode included.
type DirectoryRow struct {
	Parent  int    // index of the parent's row; -1 for the root
	Last    int    // index of the last row of its subtree; its own where it has no kept child
	Name    string // raw last component, "" for the root
	UID     uint32 // of the directory
	GID     uint32
	Fileset string
	Newest  int64 // latest mtime of a regular file below, seconds; that of the directory where it has none
	Measures
}
