package pagetest

import (
	"math"

	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// timelinePages is the history in all states.
func timelinePages(base string) []Page {
	of := func(p page.Timeline) page.Timeline {
		p.Frame = at(base, p.Frame)
		return p
	}
	return []Page{
		{"history", page.TimelinePage(of(timeline()))},
		{"history-users", page.TimelinePage(of(splitTimeline(usage.User, users(), 10)))},
		{"history-lines", page.TimelinePage(of(lines()))},
		{"history-unknown", page.TimelinePage(of(unknownTimeline()))},
		{"history-hostile", page.TimelinePage(of(hostileTimeline()))},
		{"history-one-point", page.TimelinePage(of(shortTimeline(1)))},
		{"history-two-points", page.TimelinePage(of(shortTimeline(2)))},
		{"history-empty", page.TimelinePage(of(shortTimeline(0)))},
		{"history-zero", page.TimelinePage(of(zeroTimeline()))},
		{"history-huge", page.TimelinePage(of(hugeTimeline()))},
	}
}

// timeline is the whole file system over all years.
func timeline() page.Timeline {
	f := bareFrame("History")
	f.Section, f.FileSystem = component.History, scratch()
	f.FileSystems = []usage.FileSystem{*scratch()}
	f.Measures = []usage.Measure{usage.Allocated, usage.Size, usage.Files, usage.Inodes, usage.Slack}
	f.By = usage.Allocated
	points := history()
	return page.Timeline{
		Frame: f, Top: 5, Range: page.RangeAll,
		Course: page.Course{By: f.By, Points: points, Past: points, Whole: true},
	}
}

// splitTimeline is by the largest of the shares, each with a growth of its own.
func splitTimeline(d usage.Dimension, shares []share, top int) page.Timeline {
	p := timeline()
	p.State.Set("group_by", string(d))
	p.Top, p.Course.GroupBy = top, d
	p.Course.Series, p.Course.Points = courseOf(p.Course.Points, shares[:top])
	p.Course.Past = p.Course.Points
	return p
}

// courseOf invents what the shares were in each point.
func courseOf(points []usage.Point, shares []share) ([]usage.Row, []usage.Point) {
	var series []usage.Row
	last := len(points) - 1
	for i := range points {
		points[i].Rows = nil
		part := points[i].Total.Allocated.Float64() / points[last].Total.Allocated.Float64()
		for k, s := range shares {
			m := s.measures()
			wave := part * (1 + 0.12*math.Sin(float64(i)/160+float64(k))) / (1 + 0.12*math.Sin(float64(last)/160+float64(k)))
			m.Allocated, m.Size = tib(s.tib*wave), tib(s.tib*wave*0.97)
			m.Files, m.Inodes = int64(float64(m.Files)*wave), int64(float64(m.Inodes)*wave)
			points[i].Rows = append(points[i].Rows, &m)
		}
	}
	for k, s := range shares {
		series = append(series, usage.Row{ID: s.id, Key: s.key, Name: s.name, Measures: *points[last].Rows[k]})
	}
	return series, points
}

func lines() page.Timeline {
	p := splitTimeline(usage.Type, types(), 5)
	p.Course.Lines, p.Range = true, page.RangeYear
	p.State.Set("as", "lines")
	p.State.Set("range", "1y")
	p.Course.Points = p.Course.Points[len(p.Course.Points)-360:]
	return p
}

// unknownTimeline has a type that older scans do not know.
func unknownTimeline() page.Timeline {
	p := splitTimeline(usage.Type, types(), 5)
	for i := range p.Course.Points[:2000] {
		p.Course.Points[i].Rows[4] = nil
	}
	for i := len(p.Course.Points) - 20; i < len(p.Course.Points)-3; i++ {
		p.Course.Points[i].Rows[1] = nil
	}
	return p
}

func hostileTimeline() page.Timeline {
	p := splitTimeline(usage.Fileset, filesets(), 10)
	for i := range p.Course.Series {
		p.Course.Series[i].Name = hostileNames()[i]
		p.Course.Series[i].Key = hostileNames()[i]
	}
	return p
}

func shortTimeline(points int) page.Timeline {
	p := splitTimeline(usage.User, users(), 5)
	p.Course.Points = p.Course.Points[len(p.Course.Points)-points:]
	p.Course.Past = p.Course.Points
	p.Range, p.From, p.To = "", "2026-11-01", "2026-12-01"
	p.State.Set("from", p.From)
	p.State.Set("to", p.To)
	return p
}

func zeroTimeline() page.Timeline {
	p := splitTimeline(usage.User, users(), 5)
	for i := range p.Course.Points {
		p.Course.Points[i].Total = usage.Measures{}
		for k := range p.Course.Points[i].Rows {
			p.Course.Points[i].Rows[k] = &usage.Measures{}
		}
	}
	return p
}

func hugeTimeline() page.Timeline {
	p := splitTimeline(usage.User, users(), 5)
	n := len(p.Course.Points)
	for i := n - 40; i < n; i++ {
		point := &p.Course.Points[i]
		point.Total.Allocated = usage.MaxBytes()
		point.Rows[0] = &usage.Measures{Allocated: usage.MaxBytes().Sub(usage.ByteCount(9007199254740993)), Files: 1 << 62}
		for k := 1; k < len(point.Rows); k++ {
			point.Rows[k] = &usage.Measures{Allocated: usage.ByteCount(int64(i))}
		}
	}
	p.Course.Points = p.Course.Points[n-40:]
	p.Course.Past = p.Course.Points
	return p
}
