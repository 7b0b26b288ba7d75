package page

import (
	"fmt"
	"time"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/component"
)

// facts are the numbers that the Capacity page begins with.
func (p Capacity) facts() []component.Fact {
	scan := p.Scan
	space := p.space()
	facts := []component.Fact{}
	if space.Known {
		share := usage.FormatShare(space.ShareOf(space.Used))
		facts = append(facts, component.Fact{
			Term:  "Used in the file system",
			Value: usage.FormatBytes(space.Used),
			Exact: component.ExactBytes(space.Used),
			Notes: []string{fmt.Sprintf("of %s, %s", usage.FormatBytes(space.Size), share)},
		})
	}
	facts = append(facts, component.Fact{
		Term:  "Found by this scan",
		Value: usage.FormatBytes(scan.Totals.Allocated),
		Exact: component.ExactBytes(scan.Totals.Allocated),
		Notes: []string{
			component.Plural(scan.Distinct.Users, "user", "users") + ", " +
				component.Plural(scan.Distinct.Filesets, "fileset", "filesets"),
		},
	}, filesFact(scan.Scan), p.growthFact(), p.forecastFact())
	return facts
}

// filesFact counts the files, and the inodes against their limit.
func filesFact(scan usage.Scan) component.Fact {
	note := inodesWords(scan.Totals.Inodes)
	if _, share, ok := report.InodesUsed(scan.Capacity); ok {
		note += fmt.Sprintf("; limit %s used", usage.FormatShare(share))
	}
	return component.Fact{
		Term:  "Files",
		Value: usage.FormatCount(scan.Totals.Files),
		Exact: component.ExactCount(scan.Totals.Files, "files"),
		Notes: []string{note},
	}
}

// growthFact tells the change over the longest span and, beside it, the others.
func (p Capacity) growthFact() component.Fact {
	fact := component.Fact{Term: "Growth", Value: "–", Notes: []string{"from the second day on"}}
	for i, g := range p.Growth {
		text := g.Format()
		if share, ok := g.Share(); ok {
			text = signedShare(share)
		}
		if i == 0 {
			fact = component.Fact{Term: "Growth in " + g.Label, Value: g.Format(), Exact: g.Exact(), Notes: []string{text}}
			continue
		}
		fact.Notes[0] += fmt.Sprintf("; %s in %s", g.Format(), g.Label)
	}
	return fact
}

// signedShare shows a relative change: "+2.1%", "−0.4%".
func signedShare(share float64) string {
	switch {
	case share > 0:
		return "+" + usage.FormatShare(share)
	case share < 0:
		return "−" + usage.FormatShare(-share)
	default:
		return "unchanged"
	}
}

// forecastFact says when the file system is full at the pace of its history.
func (p Capacity) forecastFact() component.Fact {
	fact := component.Fact{Term: "Full, at this pace", Value: "–"}
	f := p.Forecast
	switch f.Outlook {
	case report.TooLittleHistory:
		fact.Notes = []string{"after three scans over two days"}
	case report.NoLimit:
		fact.Notes = []string{"the file system's size is not known"}
	case report.Full:
		fact.Value = "now"
		fact.Notes = []string{"nothing is free"}
	case report.NotGrowing:
		fact.Value, fact.Notes = "never", []string{"it does not grow" + pace(f)}
	case report.NotSoon:
		fact.Value, fact.Notes = "not soon", []string{"in more than ten years" + pace(f)}
	case report.FullAt:
		started := p.Scan.Started
		fact.Value = "in " + component.Span(f.At.Sub(started))
		fact.Exact = component.Day(f.At)
		fact.Notes = []string{band(f, started) + pace(f)}
	}
	return fact
}

// band words the span of time in which the forecast falls with its confidence.
func band(f report.Forecast, from time.Time) string {
	confidence := fmt.Sprintf("%.0f%%", report.BandLevel*100)
	if f.Latest.IsZero() {
		return fmt.Sprintf("%s or later, at %s", component.Span(f.Earliest.Sub(from)), confidence)
	}
	earliest, latest := component.Span(f.Earliest.Sub(from)), component.Span(f.Latest.Sub(from))
	if earliest == latest {
		return component.Day(f.At)
	}
	return fmt.Sprintf("%s to %s, at %s", earliest, latest, confidence)
}

// pace words the growth per day that a forecast carries on.
func pace(f report.Forecast) string {
	if f.Trend == nil {
		return ""
	}
	days := f.Trend.To.Sub(f.Trend.From).Hours() / 24
	return fmt.Sprintf("; pace of %d scans in %.0f days", f.Trend.Samples, days)
}

// facts are the numbers that the Files page begins with.
func (p Files) facts() []component.Fact {
	scan := p.Scan
	facts := []component.Fact{
		{
			Term:  "Files",
			Value: usage.FormatCount(scan.Totals.Files),
			Exact: component.ExactCount(scan.Totals.Files, "files"),
			Notes: []string{inodesWords(scan.Totals.Inodes)},
		},
		{
			Term:  "Directories",
			Value: usage.FormatCount(scan.Counters.Directories),
			Exact: component.ExactCount(scan.Counters.Directories, "directories"),
			Notes: []string{perDirectory(scan.Scan)},
		},
		p.medianFact(),
		p.emptyFact(),
	}
	if used, share, ok := report.InodesUsed(scan.Capacity); ok {
		limit := usage.FormatCount(scan.Capacity.InodesTotal)
		facts = append(facts, component.Fact{
			Term:  "Inodes in use",
			Value: usage.FormatShare(share),
			Exact: component.ExactCount(used, "inodes"),
			Notes: []string{fmt.Sprintf("%s of %s in the file system", usage.FormatCount(used), limit)},
		})
	} else {
		facts = append(facts, component.Fact{
			Term: "Inodes in use", Value: "–", Notes: []string{noInodeLimit(scan.Capacity)},
		})
	}
	return facts
}

func noInodeLimit(c usage.Capacity) string {
	if c.Source == "" {
		return "not measured"
	}
	return "the file system sets no limit"
}

func perDirectory(scan usage.Scan) string {
	if scan.Counters.Directories == 0 {
		return "none were found"
	}
	return fmt.Sprintf("%.1f files each", float64(scan.Totals.Files)/float64(scan.Counters.Directories))
}

// medianFact gives the bucket that the median lies in, which is all that the
// histogram knows, and the exact mean.
func (p Files) medianFact() component.Fact {
	fact := component.Fact{Term: "Median file", Value: "–", Notes: []string{"there are no files"}}
	if r, ok := report.Quantile(p.AllSizes, 0.5); ok {
		fact.Value = sizeRange(r.Over, r.UpTo)
		fact.Notes = []string{"half of the files are not larger"}
	}
	if mean, ok := report.Mean(p.AllSizes); ok {
		fact.Notes = []string{"mean " + usage.FormatBytes(mean)}
	}
	return fact
}

func (p Files) emptyFact() component.Fact {
	empty := report.Empty(p.AllSizes)
	share := usage.Files.Share(usage.Measures{Files: empty}, p.Scan.Totals)
	return component.Fact{
		Term:  "Empty files",
		Value: usage.FormatCount(empty),
		Exact: component.ExactCount(empty, "files"),
		Notes: []string{usage.FormatShare(share) + " of the files"},
	}
}

// sizeRange words a range of sizes: over the first and up to the second.
func sizeRange(over, upTo int64) string {
	b := func(n int64) string { return usage.FormatBytes(usage.ByteCount(n)) }
	switch {
	case upTo-over == 1:
		return b(upTo)
	case over < 0:
		return "up to " + b(upTo)
	default:
		return b(over) + " to " + b(upTo)
	}
}

// inodesWords says how many inodes there are, shortly.
func inodesWords(n int64) string {
	if n == 1 {
		return "1 inode"
	}
	return usage.FormatCount(n) + " inodes"
}
