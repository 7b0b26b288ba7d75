package page

import (
	"fmt"
	"slices"
	"strings"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/component"
)

// Course is one measure over the published scans of a file system, of the whole
// or of some values of a dimension.
type Course struct {
	By      usage.Measure
	GroupBy usage.Dimension // of the series; "" for the whole alone
	Series  []usage.Row     // see usage.History
	Points  []usage.Point   // those that are shown, oldest first
	// Excerpt says which of the scans Points are; nil where they are all.
	Excerpt *report.Excerpt
	// Past holds Points and the earlier ones that the newest is compared with.
	Past []usage.Point
	// Whole says that Series and the others are parts of the total.
	Whole bool
	Lines bool // lines of their own instead of areas that are stacked
}

// seriesData is what the chart of a Course is drawn from: one value of each list
// per scan. Times and gaps are those of historyData.
type seriesData struct {
	Bytes   bool         `json:"bytes"`
	Stacked bool         `json:"stacked"`
	Times   []int64      `json:"times"`
	Gaps    []int        `json:"gaps"`
	Totals  []string     `json:"totals"` // of the whole; empty where the series are no parts of it
	Series  []seriesLine `json:"series"`
}

type seriesLine struct {
	Name   string    `json:"name"`
	Values []*string `json:"values"` // null where unknown
	Others bool      `json:"others,omitempty"`
}

func (c Course) data() seriesData {
	data := seriesData{
		Bytes: c.By.IsBytes(), Stacked: c.Whole && !c.Lines, Gaps: c.history().gaps(),
		Times: []int64{}, Totals: []string{}, Series: []seriesLine{},
	}
	for _, p := range c.Points {
		data.Times = append(data.Times, wallClock(p.Scan.Started))
		if c.Whole {
			data.Totals = append(data.Totals, c.By.Of(p.Total).String())
		}
	}
	for _, line := range c.lines() {
		// Lines compare the series; the others would press them to the ground.
		if line.others && c.Lines {
			continue
		}
		out := seriesLine{Name: line.name, Others: line.others, Values: []*string{}}
		for _, p := range c.Points {
			var digits *string
			if m := line.of(p); m != nil {
				digits = new(c.By.Of(*m).String())
			}
			out.Values = append(out.Values, digits)
		}
		data.Series = append(data.Series, out)
	}
	return data
}

// line is one series of a Course: a value of the dimension, or the others.
type line struct {
	name   string
	row    usage.Row // of a value; zero for the others
	swatch string
	others bool
	of     func(usage.Point) *usage.Measures // nil where unknown
}

// lines returns the series and, where there are any, the others.
func (c Course) lines() []line {
	var lines []line
	for i, row := range c.Series {
		lines = append(lines, line{
			name: component.ShownName(c.GroupBy, row), row: row, swatch: fmt.Sprintf("c%d", i+1),
			of: func(p usage.Point) *usage.Measures {
				if i >= len(p.Rows) {
					return nil
				}
				return p.Rows[i]
			},
		})
	}
	if c.Whole && c.hasOthers() {
		lines = append(lines, line{name: "others", swatch: "others", others: true, of: rest})
	}
	return lines
}

func rest(p usage.Point) *usage.Measures {
	m, ok := report.Rest(p)
	if !ok {
		return nil
	}
	return &m
}

// hasOthers reports that in some scan the series are not all.
func (c Course) hasOthers() bool {
	return slices.ContainsFunc(c.Points, func(p usage.Point) bool {
		m, ok := report.Rest(p)
		return !ok || !m.IsZero()
	})
}

// whole is the line of the total.
func whole() line {
	return line{name: "total", of: func(p usage.Point) *usage.Measures { return &p.Total }}
}

// Spans are what a Course is compared over, in days.
func Spans() []int { return []int{7, 30, 365} }

func spanWord(days int) string {
	switch days {
	case 7:
		return "week"
	case 30:
		return "month"
	default:
		return "year"
	}
}

// latest returns the newest point that is shown.
func (c Course) latest() usage.Point { return c.Points[len(c.Points)-1] }

// baseline returns the point about as many days before the newest; nil for none.
func (c Course) baseline(days int) *usage.Point {
	scan := c.latest().Scan
	return report.Baseline(c.Past, &scan, days)
}

// change returns how a line went over a span; nil where either end is unknown.
func (c Course) change(l line, days int) *report.Change {
	base := c.baseline(days)
	if base == nil {
		return nil
	}
	from, to := l.of(*base), l.of(c.latest())
	if from == nil || to == nil {
		return nil
	}
	return &report.Change{By: c.By, From: *from, To: *to}
}

// spanTitle says which scan a span goes back to.
func (c Course) spanTitle(days int) string {
	if base := c.baseline(days); base != nil {
		return "Change since the scan of " + component.DayTime(base.Scan.Started)
	}
	return "No scan of about that time"
}

// label tells the chart to those who do not see it.
func (c Course) label(what string) string {
	first, last := c.Points[0], c.latest()
	return fmt.Sprintf("Chart of %s over %s, from %s to %s. All values are in the table.",
		what, c.history().scans(),
		component.Day(first.Scan.Started), component.Day(last.Scan.Started))
}

// history is the Course without its series.
func (c Course) history() History {
	return History{By: c.By, Points: c.Points, Excerpt: c.Excerpt}
}

func (c Course) sub() string { return c.history().sub() }

// rows are the points of the table, newest first.
func (c Course) rows() []usage.Point { return c.history().tableRows() }

// share is the part of a line in the newest total.
func (c Course) share(l line) string {
	m := l.of(c.latest())
	if m == nil {
		return "–"
	}
	return usage.FormatShare(c.By.Share(*m, c.latest().Total))
}

// spansNote says which scans the spans go back to.
func (c Course) spansNote() string {
	var since []string
	for _, days := range Spans() {
		if base := c.baseline(days); base != nil {
			since = append(since, spanWord(days)+": since "+component.Day(base.Scan.Started))
		}
	}
	if len(since) == 0 {
		return "There is no scan of a week before to compare with."
	}
	return capitalise(strings.Join(since, "; ")) + "."
}
