package page

import (
	"slices"
	"strconv"
	"time"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/component"
)

// Scans is the view model of /fs/{fs}/scans?before=: what was scanned, what
// became of it, and what runs now.
type Scans struct {
	component.Frame // Running is the scan on top

	Items  []usage.Scan // newest first, whatever became of them
	Before *usage.Scan  // the published scan before Running; nil for none
	Waits  []string     // file systems whose scans hold up Running, which is queued
	Newest bool         // this is the first page
	Older  int64        // the "before" of the next page; 0 on the last
}

// scanRow is a line of the list: a scan, or a span of time without one.
type scanRow struct {
	usage.Scan
	Gap time.Duration // between two published scans; 0 for the row of a scan
}

// rows returns the scans with the gaps between the published ones: those that
// the history does not bridge either.
func (p Scans) rows() []scanRow {
	var published []int
	for i := range p.Items {
		if !p.Items[i].Published.IsZero() {
			published = append(published, i)
		}
	}
	slices.Reverse(published) // oldest first
	times := make([]time.Time, len(published))
	for k, i := range published {
		times[k] = p.Items[i].Started
	}
	gapBefore := map[int]time.Duration{} // by the index of the later scan
	for _, k := range report.Gaps(times) {
		gapBefore[published[k]] = times[k].Sub(times[k-1])
	}
	var rows []scanRow
	for i, scan := range p.Items {
		rows = append(rows, scanRow{Scan: scan})
		if gap := gapBefore[i]; gap != 0 {
			rows = append(rows, scanRow{Gap: gap})
		}
	}
	return rows
}

func (p Scans) hasGaps() bool {
	return slices.ContainsFunc(p.rows(), func(r scanRow) bool { return r.Gap != 0 })
}

func (p Scans) hasSuspect() bool {
	return slices.ContainsFunc(p.Items, func(s usage.Scan) bool { return s.Verdict == usage.Suspect })
}

func (p Scans) listTitle() string {
	if p.Newest {
		return "Latest scans"
	}
	return "Older scans"
}

// csvURL leads to the same scans as a file.
func (p Scans) csvURL() string {
	return p.API("scans", "limit", "1000", "before", p.State.Get("before"), "format", "csv")
}

// olderURL leads to the scans before these.
func (p Scans) olderURL() string { return p.Here("before", strconv.FormatInt(p.Older, 10)) }

// speed is how many entries a scan read per second; "–" where it is not known.
func speed(scan usage.Scan, now time.Time) (text, exact string) {
	entries, d := scan.Counters.Entries, scan.Duration(now)
	if scan.State == usage.Running || stopped(scan) {
		entries = scan.Progress.Entries
	}
	if d <= 0 || entries == 0 {
		return "–", ""
	}
	n := int64(float64(entries) / d.Seconds())
	return usage.FormatCount(n) + "/s", component.Count(n) + " entries per second"
}

// begun is when a scan started or, if it did not, when it was due or queued.
func begun(scan usage.Scan) time.Time {
	switch {
	case scan.State == usage.NotRun:
		return scan.Occurrence
	case scan.Started.IsZero():
		return scan.Queued
	default:
		return scan.Started
	}
}

// stopped reports a scan that ended early, but had begun to read.
func stopped(scan usage.Scan) bool {
	return scan.State.Ended() && scan.State != usage.Complete && scan.Progress.Entries > 0
}

func (p Scans) hasStopped() bool { return slices.ContainsFunc(p.Items, stopped) }

func (p Scans) hasSkipped() bool {
	return slices.ContainsFunc(p.Items, func(s usage.Scan) bool { return s.State == usage.NotRun })
}
