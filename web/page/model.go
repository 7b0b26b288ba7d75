package page

import (
	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/component"
)

// Capacity is the view model of /fs/{fs}/capacity?scan=&by=&range=: who holds
// the space and how it grows.
type Capacity struct {
	component.Frame // Scan is set; Measures are allocated, size and files

	Users    component.Ranking // by Frame.By, compared with about 1 and 7 days before
	Types    component.Ranking // by Frame.By, compared with about 1 day before
	Filesets component.Ranking // the same

	// Growth compares the totals of the shown scan with earlier ones: the first
	// is the headline (about 30 days, or the longest span that there is), the
	// second stands beside it (yesterday). None where there is no earlier scan.
	Growth []Growth
	// Forecast is of the used space of the file system, whatever By is.
	Forecast report.Forecast
	History  History
	// Errors and Skipped explain what lies between used and found.
	Errors  []usage.ScanError
	Skipped []usage.Skipped
}

// Growth is the change of the file system's total since an earlier scan.
type Growth struct {
	Label string // "30 days", "1 day"
	Since usage.Scan
	report.Change
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
	From   string        // first day of the range, 2006-01-02; "" for all
	Points []usage.Point // oldest first; Rows are not needed
	// Excerpt says which of the scans Points are; nil where they are all.
	Excerpt *report.Excerpt
}

// Files is the view model of /fs/{fs}/files?scan=&type=&histogram=: who creates
// the files, of which kind, and how small they are.
type Files struct {
	component.Frame // Scan is set; By is files, Measures is empty

	Users    component.Ranking // all by files
	Types    component.Ranking
	Filesets component.Ranking

	// AllSizes is the fine histogram of the whole scan by size, whatever the
	// type filter is: median, mean and empty files come from it.
	AllSizes []usage.BucketRow
	Sizes    Sizes
}

// Sizes is the histogram of regular files by their size.
type Sizes struct {
	Type  string            // key of the file type that it is narrowed to; "" for all
	Types []string          // keys that can be picked, by files descending
	Fine  bool              // the buckets themselves instead of the five classes
	Rows  []usage.BucketRow // by size, narrowed to Type
	// Words say what each of the five classes means on this file system, such as
	// "data can live in the inode"; "" or absent where that is not known.
	Words []string
}

// Scan is the view model of /scans/{id}: one scan under way or ended.
type Scan struct {
	component.Frame // FileSystem is that of the scan; Frame.Scan is nil

	Of      usage.Scan
	Before  *usage.Scan // the published one before, for percent and time left
	Next    int64       // id of the published one after; 0 for none
	Errors  []usage.ScanError
	Skipped []usage.Skipped
	// Attempts are the others at the same occurrence, as far as they are known, oldest
	// first.
	Attempts []usage.Scan
	Waits    []string // file systems whose scans hold up this one, which is queued
}

// FirstRun is the view model of / while there is nothing to show yet, and of a
// page of a file system that has no published scan.
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
	Again     bool   // the page loads itself anew once the store is back
}
