package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"fstally/internal/report"
	"fstally/internal/usage"
)

const (
	// chartPoints is how many scans a chart shows at most. One as wide as a page has
	// about as many pixels, and more points make the page slow to read and to send.
	chartPoints = 750
	// smallChartPoints is the same of a chart among others, or of many values.
	smallChartPoints = 400
)

// reading says which scans of a history a page needs.
type reading struct {
	from   string // first day of the chart; "" for all
	points int    // of the chart at most
	// until is the day of the scan that earlier ones are compared with; "" for the
	// newest.
	until string
	spans []int // over how many days it is compared
	// recent is of how many days before it all scans are read, beside the chart.
	recent int
}

// past is what was read of a history.
type past struct {
	series []usage.Row
	// points are those of the chart and those that are compared with, oldest first;
	// the first scan of all is among them.
	points  []usage.Point
	chart   []usage.Point
	excerpt *report.Excerpt // nil where the chart has all scans
}

// readHistory reads what a page needs of the history of a file system: q, without its
// days before the chart, which are read as far as r needs them.
func (s *site) readHistory(ctx context.Context, q usage.HistoryQuery, r reading) (past, error) {
	days, err := s.Reader.HistoryDays(ctx, Scope(ctx), q)
	if err != nil {
		return past{}, fmt.Errorf("days of the history: %w", err)
	}
	if len(days) == 0 {
		return past{}, nil
	}
	wanted, excerpt := r.choose(days)
	q.Scans = make([]int64, 0, len(days))
	charted := make(map[int64]bool, len(days))
	for i, chart := range wanted {
		if chart != unwanted {
			q.Scans = append(q.Scans, days[i].ScanID)
			charted[days[i].ScanID] = chart == inChart
		}
	}
	history, err := s.Reader.History(ctx, Scope(ctx), q)
	if err != nil {
		return past{}, fmt.Errorf("history: %w", err)
	}
	p := past{series: history.Series, points: history.Points, excerpt: excerpt}
	for i := range p.points {
		p.points[i].Scan = s.zoned(p.points[i].Scan)
		if charted[p.points[i].Scan.ID] {
			p.chart = append(p.chart, p.points[i])
		}
	}
	if excerpt != nil && len(p.chart) != len(excerpt.Kept) { // a scan was removed meanwhile
		p.excerpt = nil
	}
	return p, nil
}

// want says what a day of a history is read for.
type want int

const (
	unwanted want = iota
	compared
	inChart
)

// choose says which of the days, oldest first and at least one, are read, and how the
// chart was cut down.
func (r reading) choose(days []usage.HistoryDay) ([]want, *report.Excerpt) {
	wanted := make([]want, len(days))
	until := cmp.Or(r.until, days[len(days)-1].Day)
	wanted[0] = compared
	for _, n := range r.spans {
		if i := report.BaselineDay(days, until, n); i >= 0 {
			wanted[i] = compared
		}
	}
	if r.recent > 0 {
		since := daysBefore(until, r.recent)
		for i, d := range days {
			if d.Day >= since && d.Day <= until {
				wanted[i] = compared
			}
		}
	}
	first := slices.IndexFunc(days, func(d usage.HistoryDay) bool { return d.Day >= r.from })
	if first < 0 {
		return wanted, nil
	}
	excerpt := report.NewExcerpt(days[first:], r.points)
	if excerpt == nil {
		for i := first; i < len(days); i++ {
			wanted[i] = inChart
		}
		return wanted, nil
	}
	for _, i := range excerpt.Kept {
		wanted[first+i] = inChart
	}
	return wanted, excerpt
}

// daysBefore returns the day so many days before another; "" where that is none.
func daysBefore(day string, n int) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return ""
	}
	return at.AddDate(0, 0, -n).Format(time.DateOnly)
}
