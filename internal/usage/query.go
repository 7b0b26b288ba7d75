package usage

import (
	"errors"
	"fmt"
	"time"
)

// ErrNotFound is returned by every reader for what does not exist or is outside
// the caller's scope; the two are not told apart.
var ErrNotFound = errors.New("not found")

// ErrThinned is returned by every reader of details that are no longer kept of
// the scan: they are unknown, not zero. It is an ErrNotFound.
var ErrThinned = fmt.Errorf("the details of this scan are no longer kept, only its sums are: %w", ErrNotFound)

// ErrUnavailable is returned by a store whose database is away; it may be back
// in a moment.
var ErrUnavailable = errors.New("the database does not answer")

// Scope is what a caller may see. The zero value sees nothing.
type Scope struct {
	all bool
	ids map[int64]bool
}

// Everything is the scope of an administrator.
func Everything() Scope { return Scope{all: true} }

// OnlyFileSystems is the scope of someone who may see these file systems.
func OnlyFileSystems(ids ...int64) Scope {
	s := Scope{ids: make(map[int64]bool, len(ids))}
	for _, id := range ids {
		s.ids[id] = true
	}
	return s
}

// Sees reports whether the file system is in the scope.
func (s Scope) Sees(fileSystemID int64) bool { return s.all || s.ids[fileSystemID] }

// Filter narrows usage; nil fields do not. The values are those of Key and
// Row.Key: escaped names, unsigned ids, keys of classes.
type Filter struct {
	User      *uint32
	Group     *uint32
	Type      *string
	Category  *string
	Fileset   *string
	Pool      *uint32
	SizeClass *SizeClass
	AgeClass  *AgeClass
}

// IsZero reports whether nothing is narrowed.
func (f Filter) IsZero() bool { return f == Filter{} }

// Query asks for the usage of one scan by one dimension.
type Query struct {
	ScanID  int64
	GroupBy Dimension
	By      Measure // the order
	Filter  Filter
	// GrownSince, if it is not 0, is an earlier scan of the same file system: the
	// order is then by growth since it, the largest first. It does not go with a
	// Filter.
	GrownSince int64
	Limit      int // rows wanted, at least 1
	Offset     int // rows passed over
}

// Table answers a Query.
type Table struct {
	Rows  []Row    // in the order of Measure.Compare
	Total Measures // of all rows, not only of those returned
	Count int64    // of all rows
}

// HistoryQuery asks for one measure over the published scans of a file system.
type HistoryQuery struct {
	FileSystemID int64
	// GroupBy splits into series; "" for the totals alone.
	GroupBy Dimension
	By      Measure
	From    string // first day, inclusive, 2006-01-02 in the site's zone; "" for all
	To      string // first day that is left out; "" for none
	Top     int    // series: those largest in the newest scan of the range
	Keys    []string
	// Scans narrows to some of the scans of the range, by id; nil for all. A page
	// chooses them out of HistoryDays, as a chart cannot show 5,000.
	Scans []int64
}

// HistoryDay is a point of a history without its numbers.
type HistoryDay struct {
	ScanID  int64
	Day     string // see Scan.Day
	Started time.Time
}

// Point is one scan of a history.
type Point struct {
	Scan  Scan
	Total Measures
	// Rows holds the measures of the series, in the order of History.Series;
	// a nil one is unknown in that scan.
	Rows []*Measures
}

// History answers a HistoryQuery: one point per published scan, oldest first,
// and at most one per day, the latest.
type History struct {
	Series []Row // the measures are those of the newest point
	Points []Point
}

// BucketRow is one bar of the fine histogram of regular files.
type BucketRow struct {
	Bucket    SizeBucket
	Files     int64
	Size      Bytes
	Allocated Bytes
}
