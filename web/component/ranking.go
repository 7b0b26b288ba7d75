package component

import (
	"fstally/internal/report"
	"fstally/internal/usage"
)

// Ranking is a top-N list as a page shows it, with what became of it since
// earlier scans.
type Ranking struct {
	report.Top
	// Compared are the earlier scans that it is compared with, such as
	// yesterday's; none where there is nothing to compare with.
	Compared []Comparison
}

// Comparison is what a ranking was in an earlier scan.
type Comparison struct {
	Label string     // a span of time, short: "1 day", "7 days"
	Since usage.Scan // the earlier scan
	report.TopChanges
}

// Count returns how many values the dimension has in the scan.
func (r Ranking) Count() int64 {
	n := int64(len(r.Items))
	if r.Others != nil {
		n += r.Others.Count
	}
	return n
}
