package page

import (
	"math/big"
	"time"

	"fstally/internal/usage"
	"fstally/web/component"
)

// Capacity is the view model of /fs/{fs}/capacity?scan=&by=&range=: who holds
// the space and how it grows.
type Capacity struct {
	component.Frame // Scan is set; Measures are allocated, size and files

	Users    component.Ranking // with Compared of about 1 and 7 days before
	Types    component.Ranking
	Filesets component.Ranking // with Compared of about 1 day before

	// Growth compares the shown scan with earlier ones by Frame.By: the first is
	// the headline (30 days, or the longest span that there is), the second
	// stands beside it (yesterday). None before there is a scan to compare with.
	Growth []Growth
	// Forecast is nil where nothing can be said, and NoForecast says why.
	Forecast   *Forecast
	NoForecast string

	History History
	// Errors and Skipped explain what lies between used and found.
	Errors  []usage.ScanError
	Skipped []usage.Skipped
}

// Growth is the change of the file system's total between two scans.
type Growth struct {
	Span    string     // "30 days", "1 day"
	Since   usage.Scan // the earlier one
	Change  *big.Int   // of Frame.By, in bytes or counts
	Percent float64    // of the earlier value; meaningless where that was 0
}

// Forecast says when the file system will be full if it grows as it did.
type Forecast struct {
	PerDay   *big.Int  // growth of the used space, bytes per day
	Basis    string    // what it was taken from: "the last 90 days, 88 scans"
	Full     time.Time // when Size is reached
	Earliest time.Time // the band that holds it with ConfidencePercent
	Latest   time.Time // zero where the slow end never fills it
	// ConfidencePercent is how sure the band is, such as 80.
	ConfidencePercent int
}

// Range is how far back the history goes; its text is the one of addresses.
type Range string

// The ranges; RangeAll is the default.
const (
	RangeYear  Range = "1y"
	RangeThree Range = "3y"
	RangeAll   Range = "all"
)

// Ranges lists the ranges in the order of the switch.
func Ranges() []Range { return []Range{RangeYear, RangeThree, RangeAll} }

// History is a measure of the whole file system over its published scans.
type History struct {
	By     usage.Measure
	Range  Range
	Points []HistoryPoint // oldest first
}

// HistoryPoint is one scan of the history.
type HistoryPoint struct {
	ScanID  int64
	Started time.Time
	Found   usage.Bytes // By, summed over the scan; counts included
	// Used and Size are what statfs said: bytes of the file system or, where By
	// counts, inodes. Nil where it told nothing.
	Used, Size *usage.Bytes
}

// Files is the view model of /fs/{fs}/files?scan=&type=&histogram=: who creates
// the files, of which kind, and how small they are.
type Files struct {
	component.Frame // Scan is set; By is files

	Users    component.Ranking // all by files
	Types    component.Ranking
	Filesets component.Ranking

	Sizes Sizes
	// Median is a bound of the fine histogram: half of the files of the whole
	// scan are at most this large. Nil where there are no files.
	Median *usage.Bytes
	// Empty is how many files hold nothing.
	Empty int64
}

// Sizes is the histogram of regular files by their size.
type Sizes struct {
	Type  string   // key of the file type that it is narrowed to; "" for all
	Types []string // keys that can be picked, by files descending
	Fine  bool     // half-octave buckets instead of the five classes
	// Bars are in the order of size. Classes are always five; buckets go from
	// the first to the last that holds a file, empty ones between included.
	Bars  []SizeBar
	Total usage.Measures // of the bars
}

// SizeBar is one class or bucket of sizes.
type SizeBar struct {
	Label          string // "3 KiB to 32 KiB"
	Words          string // what the class means on this file system; "" where unknown
	usage.Measures        // Files, Size and Allocated
}

// Scan is the view model of /scans/{id}: one scan under way or ended.
type Scan struct {
	component.Frame // FileSystem is that of the scan; Frame.Scan is nil

	Of       usage.Scan
	Before   *usage.Scan // the published one before, for percent and time left
	Errors   []usage.ScanError
	Skipped  []usage.Skipped
	Problems string // why Errors or Skipped could not be read; "" when they were
}

// FirstRun is the view model of / while there is nothing to show yet.
type FirstRun struct {
	component.Frame
	// Waiting are the file systems without a published scan, with their latest
	// scan; none where no file system is registered at all.
	Waiting []Waiting
}

// Waiting is a file system whose first scan is not published yet.
type Waiting struct {
	FileSystem usage.FileSystem
	Scan       *usage.Scan // nil when none was ever queued
}

// Login is the view model of /login, where a token is changed for a cookie.
type Login struct {
	component.Frame
	Refused bool   // the token that was sent is not valid
	Next    string // path and query to go to, below Base
}

// Error is the view model of every page that could not be shown.
type Error struct {
	component.Frame
	Status    int    // of HTTP
	Message   string // what happened, with the thing by its name
	Remedy    string // what to do
	RequestID string // to be found in the log; "" for errors of the viewer's
}
