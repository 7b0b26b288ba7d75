package page

import (
	"strconv"

	"fstally/internal/usage"
	"fstally/web/component"
)

// Timeline is the view model of /fs/{fs}/history: one measure over time, of the
// whole or by the largest values of a dimension.
type Timeline struct {
	component.Frame // Scan is nil; Measures are those that were measured

	Course Course
	Top    int   // series at most
	Range  Range // "" where From or To say it
	From   string
	To     string // the first day that is left out
}

// TimelineDimensions are what the page can split by; "" is the whole.
func TimelineDimensions() []usage.Dimension {
	return []usage.Dimension{"", usage.User, usage.Type, usage.Fileset, usage.Group, usage.Category}
}

// splitWord names a choice of what the history is split by.
func splitWord(d usage.Dimension) string {
	if d == "" {
		return "total"
	}
	return component.DimensionWords(d)
}

func (p Timeline) title() string {
	c := p.Course
	measure := capitalise(string(c.By))
	if c.GroupBy == "" {
		return measure + " over time"
	}
	return measure + " by " + component.DimensionWord(c.GroupBy) + " over time"
}

func (p Timeline) csvURL() string {
	top := ""
	if p.Course.GroupBy != "" {
		top = strconv.Itoa(p.Top)
	}
	return p.API("history", "group_by", string(p.Course.GroupBy), "by", string(p.By),
		"from", p.From, "to", p.To, "top", top, "format", "csv")
}

// shows is the capacity of one of the scans.
func (p Timeline) shows(scan usage.Scan) string {
	return p.SectionURL(component.Capacity, "scan", scanParameter(scan), "by", capacityMeasure(p.By))
}

// capacityMeasure is the measure in addresses of the Capacity page that comes
// closest; "" for its default.
func capacityMeasure(m usage.Measure) string {
	if m == usage.Size || m == usage.Files {
		return string(m)
	}
	return ""
}

// entity leads to the page of a value of the dimension.
func (p Timeline) entity(row usage.Row) string { return p.EntityURL(p.Course.GroupBy, row.Key) }

// totals is the history of the whole, as the Capacity page draws it.
func (p Timeline) totals() Capacity {
	return Capacity{Frame: p.Frame, History: p.Course.history()}
}

// rangeURL leads to a range that ends now.
func (p Timeline) rangeURL(r Range) string {
	return p.Here("range", rangeParameter(r), "from", "", "to", "")
}

// changeLines are the lines of the table of changes, the total apart.
func (p Timeline) changeLines() []line { return p.Course.lines() }
