package page

import (
	"fmt"
	"strconv"
	"strings"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/component"
)

// space says how the scan adds up with the file system.
func (p Capacity) space() report.Space {
	return report.NewSpace(p.Scan.Capacity, p.Scan.Totals.Allocated)
}

func (p Capacity) spaceSub() string { return "file system and scan, allocated · " + scanDay(p.Frame) }

// scanDay names the shown scan in the heading of a card.
func scanDay(f component.Frame) string { return component.Day(f.Scan.Started) }

func (p Capacity) spaceRows() []component.KeyRow {
	s := p.space()
	row := func(swatch, name string, b usage.Bytes) component.KeyRow {
		return component.KeyRow{
			Swatch: swatch, Name: name, Value: usage.FormatBytes(b), Exact: component.ExactBytes(b),
			Share: usage.FormatShare(s.ShareOf(b)),
		}
	}
	return []component.KeyRow{
		row("c1", "Found by the scan", s.Found),
		row("c2", "Used, not seen by the scan", s.Unseen),
		row("free", "Free", s.Free),
	}
}

func (p Capacity) spaceLabel() string {
	s := p.space()
	return fmt.Sprintf("Of %s, %s were found by the scan, %s are used but were not seen, %s are free.",
		usage.FormatBytes(s.Size), usage.FormatBytes(s.Found), usage.FormatBytes(s.Unseen), usage.FormatBytes(s.Free))
}

// spaceNote says what can lie between used and found, without a guess at how much.
func (p Capacity) spaceNote() string {
	s := p.space()
	var parts []string
	for _, skipped := range p.Skipped {
		switch skipped.Reason {
		case usage.SkipSnapshot:
			many := component.Plural(skipped.Count, "snapshot directory was", "snapshot directories were")
			parts = append(parts, many+" left out")
		case usage.SkipMount:
			parts = append(parts, component.Plural(skipped.Count, "other mount was", "other mounts were")+" not entered")
		default:
			parts = append(parts, component.Count(skipped.Count)+" left out ("+usage.Escape(string(skipped.Reason))+")")
		}
	}
	if n := p.Scan.Counters.Errors; n > 0 {
		parts = append(parts, component.Plural(n, "entry was", "entries were")+" unreadable")
	} else {
		parts = append(parts, "nothing was unreadable")
	}
	note := capitalise(strings.Join(parts, ", ")) + "."
	switch {
	case !s.Known:
	case !s.Excess.IsZero():
		note += fmt.Sprintf(" The scan found %s more than is used: data changed while it ran, "+
			"or blocks are shared by clones.", usage.FormatBytes(s.Excess))
	case !s.Unseen.IsZero():
		note += fmt.Sprintf(" The %s not seen can be outside %s, snapshots, metadata or deleted files "+
			"that are still open; how much is which was not measured.",
			usage.FormatBytes(s.Unseen), usage.Escape(p.Scan.Root))
	}
	return note
}

func capitalise(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// cardHead heads a top-N list. Its CSV has the whole list, not only the head.
func cardHead(f component.Frame, id string, r component.Ranking, chart bool) component.CardHead {
	return component.CardHead{
		ID:    id,
		Title: topTitle(r),
		Sub:   string(r.By) + " · " + scanDay(f),
		CSV: f.API("usage", "group_by", string(r.Dimension), "by", string(r.By), "limit", "1000",
			"scan", strconv.FormatInt(f.Scan.ID, 10), "since_days", sinceDays(r), "format", "csv"),
		Chart: chart && !nothing(r),
	}
}

// sinceDays is the parameter that adds the change of a week to a list; "" where
// there is nothing to compare with.
func sinceDays(r component.Ranking) string {
	if len(r.Compared) == 0 {
		return ""
	}
	return "7"
}

func (p Capacity) cardHead(id string, r component.Ranking, chart bool) component.CardHead {
	return cardHead(p.Frame, id, r, chart)
}

// nothing reports a list that has no part to show of its measure.
func nothing(r component.Ranking) bool { return len(r.Items) == 0 || r.By.Of(r.Total).IsZero() }

// measureNoun is what a measure counts, in a sentence.
func measureNoun(by usage.Measure) string {
	if by == usage.Allocated || by == usage.Size || by == usage.Offline {
		return "bytes"
	}
	return string(by)
}

// topTitle is "Top 10 users", and "Users" where they are all there.
func topTitle(r component.Ranking) string {
	words := component.DimensionWords(r.Dimension)
	if r.Others == nil {
		return capitalise(words)
	}
	return fmt.Sprintf("Top %d %s", len(r.Items), words)
}

// barsLabel tells the chart to those who do not see it.
func barsLabel(r component.Ranking) string {
	first := r.Items[0]
	return fmt.Sprintf("Bar chart: %s by %s. The first is %s with %s, %s. All values are in the table.",
		topTitle(r), r.By, component.ShownName(r.Dimension, first.Row), r.By.Format(first.Measures),
		usage.FormatShare(first.Share))
}

// barRows is how many bars a chart has.
func barRows(r component.Ranking) int {
	if r.Others == nil {
		return len(r.Items)
	}
	return len(r.Items) + 1
}

// isFileType reports a type of regular files, which have a histogram of sizes.
func isFileType(key string) bool {
	return key != usage.TypeDir && key != usage.TypeSymlink && key != usage.TypeSpecial
}

// outside is a finding: much that is accounted to no fileset.
func outside(r component.Ranking) string {
	const much = 0.05
	for _, item := range r.Items {
		if item.Key == usage.None && item.Share >= much && len(r.Items) > 1 {
			return fmt.Sprintf("%s (%s) lie in no fileset.", r.By.Format(item.Measures), usage.FormatShare(item.Share))
		}
	}
	return ""
}

func (p Capacity) historyLabel() string {
	points := p.History.Points
	first, last := points[0], points[len(points)-1]
	return fmt.Sprintf("Line chart of %s over %s, from %s on %s to %s on %s.", p.History.By,
		p.History.scans(),
		p.By.Format(first.Total), component.Day(first.Scan.Started),
		p.By.Format(last.Total), component.Day(last.Scan.Started))
}

// rangeParameter returns the value of "range" that shows r: none for the default.
func rangeParameter(r Range) string {
	if r == RangeAll {
		return ""
	}
	return string(r)
}
