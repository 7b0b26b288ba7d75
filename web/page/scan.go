package page

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/component"
)

// pair is one line of a table of names and values.
type pair struct {
	Name  string
	Value string
	Exact string // the title of the value; "" where it is exact already
}

func (p Scan) title() string {
	if p.Of.State == usage.NotRun {
		return "No scan on " + component.DayTime(p.Of.Occurrence)
	}
	if p.Of.Started.IsZero() {
		return "Scan " + strconv.FormatInt(p.Of.ID, 10)
	}
	return "Scan of " + component.DayTime(p.Of.Started)
}

// resultURL leads to the numbers of this scan.
func (p Scan) resultURL() string {
	return p.SectionURL(component.Capacity, "scan", strconv.FormatInt(p.Of.ID, 10))
}

func cancelURL(f component.Frame, id int64) string {
	return f.URL("/scans/"+strconv.FormatInt(id, 10)+"/cancel", nil)
}

func (p Scan) acceptURL() string {
	return p.URL("/scans/"+strconv.FormatInt(p.Of.ID, 10)+"/accept", nil)
}

func (p Scan) rejectURL() string {
	return p.URL("/scans/"+strconv.FormatInt(p.Of.ID, 10)+"/reject", nil)
}

// suspect reports a scan that somebody may accept.
func (p Scan) suspect() bool { return p.Of.State == usage.Complete && p.Of.Verdict == usage.Suspect }

// origin says what asked for the scan, and which attempt at it this is.
func (p Scan) origin() string {
	s := p.Of
	due := ""
	if !s.Occurrence.IsZero() {
		due = " for " + occurrence(s.Occurrence)
	}
	var words string
	switch s.Origin {
	case usage.BySchedule:
		words = "Scheduled" + due
	case usage.ByHand:
		words = "Asked for by hand"
	case usage.ByCommand:
		words = "Run by fstally scan"
	case usage.ByImport:
		words = "Imported from a result file"
	case usage.ByPush:
		words = "Result sent by the host that scanned"
	}
	if s.Attempt <= 1 {
		return words
	}
	attempt := ordinal(s.Attempt) + " attempt"
	if words == "" {
		return upperFirst(attempt)
	}
	return words + ", " + attempt
}

// ordinal says which of a few: "second"; beyond those, "7th".
func ordinal(n int) string {
	switch n {
	case 1:
		return "first"
	case 2:
		return "second"
	case 3:
		return "third"
	default:
		return strconv.Itoa(n) + "th"
	}
}

func upperFirst(words string) string { return strings.ToUpper(words[:1]) + words[1:] }

// reached is how far a scan got that did not end by itself.
func (p Scan) reached() []component.Fact {
	g := p.Of.Progress
	return []component.Fact{
		{
			Term: "Entries read", Value: usage.FormatCount(g.Entries), Exact: component.ExactCount(g.Entries, "entries"),
			Notes: []string{"until it ended"},
		},
		{
			Term: "Allocated, so far", Value: usage.FormatBytes(g.Allocated), Exact: component.ExactBytes(g.Allocated),
			Notes: []string{"of what was read"},
		},
		{Term: "Unreadable", Value: component.Count(g.Errors), Notes: []string{"of what was tried"}},
		{Term: "Ran for", Value: usage.FormatDuration(p.Of.Duration(p.Now))},
	}
}

func liveTitle(f component.Frame) string {
	if f.FileSystem == nil {
		return ""
	}
	return "of " + f.FileSystem.Name
}

func (p Scan) facts() []component.Fact {
	c := p.Of.Counters
	facts := []component.Fact{
		{
			Term: "Entries", Value: usage.FormatCount(c.Entries), Exact: component.ExactCount(c.Entries, "entries"),
			Notes: []string{rate(c.Entries, p.Of.Duration(p.Now))},
		},
		{
			Term: "Allocated", Value: usage.FormatBytes(p.Of.Totals.Allocated),
			Exact: component.ExactBytes(p.Of.Totals.Allocated),
			Notes: []string{usage.FormatBytes(p.Of.Totals.Size) + " of content"},
		},
		{
			Term: "Took", Value: usage.FormatDuration(p.Of.Duration(p.Now)),
			Notes: []string{component.Span(p.Now.Sub(p.Of.Started)) + " ago"},
		},
		{
			Term: "Unreadable", Value: component.Count(c.Errors),
			Notes: []string{component.Count(c.Vanished) + " vanished meanwhile"},
		},
		{Term: "Left out", Value: component.Count(c.Skipped), Notes: []string{"other mounts, snapshots"}},
	}
	if p.Before != nil && p.Of.State == usage.Complete {
		bytes := report.Change{By: usage.Allocated, From: p.Before.Totals, To: p.Of.Totals}
		files := report.Change{By: usage.Files, From: p.Before.Totals, To: p.Of.Totals}
		facts = append(facts, component.Fact{
			Term: "Since the scan before", Value: bytes.Format(), Exact: bytes.Exact(),
			Notes: []string{files.Format() + " files"},
		})
	}
	return facts
}

func (p Scan) counters() []pair {
	c, t := p.Of.Counters, p.Of.Totals
	count := func(name string, n int64) pair { return pair{Name: name, Value: component.Count(n)} }
	size := func(name string, b usage.Bytes) pair {
		return pair{Name: name, Value: usage.FormatBytes(b), Exact: component.ExactBytes(b)}
	}
	return []pair{
		count("Entries (names of any type)", c.Entries),
		count("Files, each inode once", t.Files),
		count("Names of files", c.Links),
		count("Directories", c.Directories),
		count("Symbolic links", c.Symlinks),
		count("FIFOs, sockets and devices", c.Specials),
		count("Inodes in all", t.Inodes),
		size("Size (apparent)", t.Size),
		size("Allocated", t.Allocated),
		size("Slack: allocated beyond the size", t.Slack),
		count("Vanished between listing and stat", c.Vanished),
	}
}

func (p Scan) reconciliation() []pair {
	s := report.NewSpace(p.Of.Capacity, p.Of.Totals.Allocated)
	size := func(name string, b usage.Bytes) pair {
		return pair{Name: name, Value: usage.FormatBytes(b), Exact: component.ExactBytes(b)}
	}
	if !s.Known {
		return []pair{size("Found by the scan", s.Found)}
	}
	rows := []pair{
		size("Size of the file system", s.Size),
		size("Used, as df shows it", s.Used),
		size("Found by the scan", s.Found),
		size("Used, not seen by the scan", s.Unseen),
		size("Free, with what is kept for root", s.Free),
		size("Available to users", p.Of.Capacity.Available),
	}
	if !s.Excess.IsZero() {
		rows = append(rows, size("Found beyond what is used", s.Excess))
	}
	if used, share, ok := report.InodesUsed(p.Of.Capacity); ok {
		rows = append(rows, pair{Name: "Inodes in use", Value: component.Count(used) + " (" + usage.FormatShare(share) + ")"},
			pair{Name: "Inodes found by the scan", Value: component.Count(p.Of.Totals.Inodes)})
	}
	return rows
}

func (p Scan) reconciliationNote() string {
	s := report.NewSpace(p.Of.Capacity, p.Of.Totals.Allocated)
	switch {
	case !s.Known:
		return "Nothing told the size of the file system, so the scan cannot be held against it."
	case !s.Excess.IsZero():
		return "More was found than is used: data was written or deleted while the scan ran, " +
			"or clones share blocks that stat counts for each."
	default:
		return "What was not seen can be data outside the scanned directory, snapshots, metadata of the file system, " +
			"deleted files that are still open, and what could not be read. How much is which was not measured."
	}
}

func (p Scan) settings() []pair {
	s := p.Of
	rows := []pair{{Name: "Root", Value: usage.Escape(s.Root)}}
	add := func(name, raw string) { // an imported result can say anything
		if raw != "" {
			rows = append(rows, pair{Name: name, Value: usage.Escape(raw)})
		}
	}
	add("File system", s.FSType)
	add("Identity", s.Identity)
	add("Host", s.Host)
	add("Engine", s.Engine)
	if s.Walkers > 0 {
		add("Walkers", strconv.Itoa(s.Walkers))
	}
	if s.OpsLimit > 0 {
		add("Ceiling", component.Plural(int64(s.OpsLimit), "operation", "operations")+" per second")
	}
	add("Attributes", s.Freshness)
	add("Attempt", strconv.Itoa(max(1, s.Attempt)))
	return rows
}

// timings are the moments of the scan's life, and what lay between them.
func (p Scan) timings() []pair {
	s := p.Of
	var rows []pair
	at := func(name string, t time.Time) {
		if !t.IsZero() {
			rows = append(rows, pair{Name: name, Value: t.Format("Mon 2 Jan 2006, 15:04:05 MST")})
		}
	}
	took := func(name string, from, to time.Time) {
		if !from.IsZero() && to.After(from) {
			d := to.Sub(from)
			exact := fmt.Sprintf("%.3f seconds", d.Seconds())
			rows = append(rows, pair{Name: name, Value: usage.FormatDuration(d), Exact: exact})
		}
	}
	if s.Origin == usage.BySchedule {
		at("Due", s.Occurrence)
	}
	at("Queued", s.Queued)
	took("Waited", s.Queued, s.Started)
	at("Started", s.Started)
	took("Walked for", s.Started, s.Finished)
	at("Walk ended", s.Finished)
	if p.FileSystem == nil || !p.FileSystem.Demo { // nobody waited for what is invented
		took("Stored in", s.Finished, s.Published)
		at("Published", s.Published)
	}
	if p.Before != nil && !s.Finished.IsZero() {
		rows = append(rows, pair{Name: "The scan before walked for", Value: usage.FormatDuration(p.Before.Duration(p.Now))})
	}
	return rows
}

func samplesWords(count int64, shown int) string {
	if count == int64(shown) {
		return component.Plural(count, "path", "paths")
	}
	return fmt.Sprintf("%s of %s", component.Plural(int64(shown), "path", "paths"), component.Count(count))
}

// shownPath shows a raw path below the root; the root itself is a dot.
func shownPath(raw string) string {
	if raw == "" {
		return "."
	}
	return usage.Escape(raw)
}

// isCount reports a number that would be read wrongly if it was broken into lines.
func isCount(text string) bool { return strings.Trim(text, "0123456789,") == "" }
