package component

import (
	"strconv"
	"strings"

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
	// All is the address of the whole list; "" where there is none.
	All string
}

// Comparison is what a ranking was in an earlier scan.
type Comparison struct {
	Days  int        // how far back it was looked for: 1, 7
	Label string     // how far back it is: "1 day", "8 days"
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

// totalWords names the row of the total.
func (r Ranking) totalWords() string {
	if r.Count() < 2 {
		return "total"
	}
	return "total of " + Count(r.Count())
}

// unsigned shows a change beside an arrow, which tells its sign.
func unsigned(c *report.Change) string { return strings.TrimLeft(c.Format(), "+−") }

// Item returns the change of the i-th item; nil where it is unknown.
func (c Comparison) Item(i int) *report.Change {
	if i >= len(c.Items) {
		return nil
	}
	return c.Items[i]
}

// largest is what the bars of the table are drawn in relation to: the longest
// of its rows, the others included, so that all are on one scale.
func (r Ranking) largest() usage.Measures {
	var most usage.Measures
	for _, item := range r.Items {
		most = larger(r.By, most, item.Measures)
	}
	if r.Others != nil {
		most = larger(r.By, most, r.Others.Measures)
	}
	return most
}

func larger(by usage.Measure, a, b usage.Measures) usage.Measures {
	if by.Of(a).Cmp(by.Of(b)) >= 0 {
		return a
	}
	return b
}

// Percent writes a share in 0..1 as a length of SVG, such as "41.37%".
func Percent(share float64) string {
	return strconv.FormatFloat(100*min(max(share, 0), 1), 'f', 2, 64) + "%"
}
