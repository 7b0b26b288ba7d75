package page

import (
	"math/big"
	"slices"
	"time"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/component"
)

// historyData is what the history chart is drawn from, one value of each list
// per scan. Times are milliseconds of the wall clock in the site's zone, as if
// that were UTC: a viewer in another zone sees the same days.
type historyData struct {
	Bytes bool     `json:"bytes"` // whether the values are bytes or counts
	What  string   `json:"what"`  // the measure, for the legend
	Times []int64  `json:"times"`
	Found []string `json:"found"`
	// Used and Size are what the file system said; null where it did not.
	Used []*string `json:"used"`
	Size []*string `json:"size"`
	// Gaps are the indexes of points that no line leads to from the one before.
	Gaps     []int         `json:"gaps"`
	Forecast *forecastData `json:"forecast,omitempty"`
}

// forecastData carries the used space on from the last point. Values are bytes.
type forecastData struct {
	Line []chartPoint `json:"line"`
	// Band is a triangle from the last point to the early and the late end.
	Band []chartPoint `json:"band"`
	Text string       `json:"text"`
}

type chartPoint struct {
	Time  int64  `json:"t"`
	Value string `json:"v"`
}

// wallClock returns t as described at historyData.
func wallClock(t time.Time) int64 {
	_, offset := t.Zone()
	return (t.Unix() + int64(offset)) * 1000
}

// statfs returns what the file system said at a scan in the unit of the measure:
// bytes or inodes; ok is false where it said nothing or nothing that the measure
// can be held against.
func statfs(by usage.Measure, scan usage.Scan) (used, size usage.Bytes, ok bool) {
	switch by {
	case usage.Allocated:
		return scan.Capacity.Used(), scan.Capacity.Size, !scan.Capacity.Size.IsZero()
	case usage.Inodes:
		n, _, ok := report.InodesUsed(scan.Capacity)
		return usage.ByteCount(n), usage.ByteCount(scan.Capacity.InodesTotal), ok
	default:
		return usage.Bytes{}, usage.Bytes{}, false
	}
}

func (p Capacity) historyData() historyData {
	by, points := p.History.By, p.History.Points
	data := historyData{
		Bytes: by.IsBytes(), What: string(by), Gaps: p.History.gaps(),
		Times: []int64{}, Found: []string{}, Used: []*string{}, Size: []*string{},
	}
	for _, point := range points {
		data.Times = append(data.Times, wallClock(point.Scan.Started))
		data.Found = append(data.Found, by.Of(point.Total).String())
		var used, size *string
		if u, s, ok := statfs(by, point.Scan); ok {
			used, size = new(u.String()), new(s.String())
		}
		data.Used = append(data.Used, used)
		data.Size = append(data.Size, size)
	}
	if by == usage.Allocated {
		data.Forecast = p.forecastData()
	}
	return data
}

// gaps returns the indexes of points that no line leads to from the one before.
func (h History) gaps() []int {
	if h.Excerpt != nil {
		return h.Excerpt.Gaps
	}
	times := make([]time.Time, len(h.Points))
	for i := range h.Points {
		times[i] = h.Points[i].Scan.Started
	}
	return report.Gaps(times)
}

// forecastData draws the forecast up to a third more than the time that the
// history spans, and at least 60 days, so that the past keeps its room.
func (p Capacity) forecastData() *forecastData {
	f, points := p.Forecast, p.History.Points
	if f.Outlook != report.FullAt || len(points) == 0 {
		return nil
	}
	last := points[len(points)-1].Scan
	used, size := last.Capacity.Used(), last.Capacity.Size
	if size.IsZero() {
		return nil
	}
	reach := max(60*24*time.Hour, last.Started.Sub(points[0].Scan.Started)/3)
	end := last.Started.Add(reach)
	start := chartPoint{wallClock(last.Started), used.String()}
	toward := func(full time.Time) chartPoint {
		if full.IsZero() { // at the slow end it does not grow at all
			return chartPoint{wallClock(end), used.String()}
		}
		if !full.After(end) {
			return chartPoint{wallClock(full), size.String()}
		}
		share := float64(reach) / float64(full.Sub(last.Started))
		return chartPoint{wallClock(end), between(used, size, share)}
	}
	text := "full in " + component.Span(f.At.Sub(last.Started)) + " (" + band(f, last.Started) + ")"
	data := &forecastData{
		Line: []chartPoint{start, toward(f.At)},
		Band: []chartPoint{start, toward(f.Earliest)},
		Text: text,
	}
	late := toward(f.Latest)
	if !f.Earliest.After(end) && late.Value != size.String() {
		// The band is cut where the chart ends: its upper edge turns there.
		data.Band = append(data.Band, chartPoint{wallClock(end), size.String()})
	}
	data.Band = append(data.Band, late)
	return data
}

// between returns the digits of a + share*(b-a), for drawing only.
func between(a, b usage.Bytes, share float64) string {
	v, _ := big.NewFloat(a.Float64() + share*(b.Float64()-a.Float64())).Int(nil)
	return v.String()
}

// tableRows returns the points that the table beside the chart shows, newest
// first: all of a few, else the last of each month. The CSV has them all.
func (h History) tableRows() []usage.Point {
	const few = 40
	points := slices.Clone(h.Points)
	slices.Reverse(points)
	if len(points) <= few {
		return points
	}
	var rows []usage.Point
	month := ""
	for _, p := range points {
		if m := p.Scan.Started.Format("2006-01"); m != month {
			month = m
			rows = append(rows, p)
		}
	}
	return rows
}

// title heads the chart.
func (h History) title() string {
	switch h.By {
	case usage.Allocated:
		return "Used capacity over time"
	case usage.Size:
		return "Size of the content over time"
	default:
		return capitalise(string(h.By)) + " over time"
	}
}

// sub words what the chart shows, under its heading.
func (h History) sub() string {
	if len(h.Points) == 0 {
		return string(h.By)
	}
	since := component.Day(h.Points[0].Scan.Started)
	sub := string(h.By) + " in " + h.scans() + " since " + since
	if h.Excerpt != nil {
		sub += ", " + stepWords(h.Excerpt.Step)
	}
	return sub
}

// scans counts those of the chart.
func (h History) scans() string {
	n := int64(len(h.Points))
	if h.Excerpt != nil {
		return component.Count(n) + " of " + component.Plural(int64(h.Excerpt.Of), "scan", "scans")
	}
	return component.Plural(n, "scan", "scans")
}

// stepWords says what a point of an excerpt stands for.
func stepWords(days int) string {
	switch {
	case days == 7:
		return "one a week"
	case days%7 == 0:
		return "one every " + component.Count(int64(days/7)) + " weeks"
	default:
		return "one every " + component.Count(int64(days)) + " days"
	}
}

// tableNote says which scans the table beside the chart leaves out; "" for none.
func (h History) tableNote() string {
	rows, of := len(h.tableRows()), len(h.Points)
	note := "The last scan of each month"
	if h.Excerpt != nil {
		of = h.Excerpt.Of
		if rows < len(h.Points) {
			note = "The last scan of each month among those of the chart"
		} else {
			note = "Scans of the chart, " + stepWords(h.Excerpt.Step)
		}
	}
	if rows == of {
		return ""
	}
	return note + "; the CSV has all " + component.Count(int64(of)) + "."
}
