package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/component"
)

const (
	sparkWidth  = 104
	sparkHeight = 28
)

// SparkDays is how many days a spark shows.
const SparkDays = 90

// spark is a small chart of one measure over the last weeks.
type spark struct {
	by     usage.Measure
	points []sparkPoint
}

type sparkPoint struct {
	at   time.Time
	what usage.Measures
}

// newSpark takes from a history, oldest first, what is known of its last weeks.
func newSpark(by usage.Measure, points []usage.Point, of func(usage.Point) *usage.Measures) spark {
	s := spark{by: by}
	for _, p := range points {
		if points[len(points)-1].Scan.Started.Sub(p.Scan.Started) > SparkDays*24*time.Hour {
			continue
		}
		if m := of(p); m != nil {
			s.points = append(s.points, sparkPoint{p.Scan.Started, *m})
		}
	}
	return s
}

// lines are points of SVG: one line for each stretch of time that was measured
// without a gap; none where there is only a point.
func (s spark) lines() []string {
	if len(s.points) < 2 {
		return nil
	}
	value := func(p sparkPoint) float64 { return s.by.Of(p.what).Float64() }
	times := make([]time.Time, len(s.points))
	least, most := value(s.points[0]), 0.0
	for i, p := range s.points {
		times[i] = p.at
		least, most = min(least, value(p)), max(most, value(p))
	}
	span := times[len(times)-1].Sub(times[0]).Seconds()
	gaps := report.Gaps(times)
	var lines, line []string
	for i, p := range s.points {
		if slices.Contains(gaps, i) {
			lines, line = append(lines, strings.Join(line, " ")), nil
		}
		x := p.at.Sub(times[0]).Seconds() / max(1, span) * sparkWidth
		y := 0.5 // a value that never changes
		if most > least {
			y = (value(p) - least) / (most - least)
		}
		line = append(line, coordinate(x)+","+coordinate(2+(1-y)*(sparkHeight-4)))
	}
	return append(lines, strings.Join(line, " "))
}

// label tells the chart to those who do not see it.
func (s spark) label() string {
	first, last := s.points[0], s.points[len(s.points)-1]
	return fmt.Sprintf("%s went from %s on %s to %s on %s", capitalise(string(s.by)),
		s.by.Format(first.what), component.Day(first.at), s.by.Format(last.what), component.Day(last.at))
}

func coordinate(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
