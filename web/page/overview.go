package page

import (
	"cmp"
	"slices"
	"time"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/component"
)

// Overview is the view model of /, the page of the morning: every file system,
// those with problems first.
type Overview struct {
	component.Frame // By is allocated

	Systems []System
}

// System is one file system of the Overview.
type System struct {
	FileSystem usage.FileSystem
	Current    *usage.Scan     // the latest published; nil before the first
	Newest     *usage.Scan     // whatever became of it; nil where none was ever queued
	Skipped    *usage.Scan     // the newest occurrence without a scan, if it is newer than Newest
	Schedule   *usage.Schedule // nil where it has none
	Next       time.Time       // the next occurrence, in the zone of the schedule; zero for none
	// Expected is the first occurrence after Current started: when there should have
	// been, or will be, newer numbers. Zero where nothing is scheduled.
	Expected time.Time
	Points   []usage.Point // of the last months up to Current, oldest first
	// Earlier are the scans about 1, 7 and 30 days before Current, in that order;
	// nil ones are not there.
	Earlier  [3]*usage.Point
	Forecast report.Forecast
	Grower   *Grower // nil where nobody grew, or there is nothing to compare with
}

// Grower is the user who grew most since about 7 days before.
type Grower struct {
	Row    usage.Row
	Since  usage.Scan
	Change report.Change
	// Among is 0 where all users were compared, else how many of the largest.
	Among int
}

const (
	staleAfter = 36 * time.Hour
	// lateAfter is how long after an occurrence its numbers are expected at least; it is
	// more where scans take longer.
	lateAfter  = time.Hour
	nearlyFull = 0.90
	soonFull   = 30 * 24 * time.Hour
)

// finding is something to look at before the numbers.
type finding struct {
	word, why string
	bad       bool // worse than a warning
}

// findings lists what is wrong with a file system at a time, the worst first.
func (s System) findings(now time.Time) []finding {
	var all []finding
	add := func(bad bool, word, why string) { all = append(all, finding{word, why, bad}) }
	if n := s.Newest; n != nil {
		switch {
		case n.State == usage.Failed, n.State == usage.Interrupted:
			add(true, "last scan "+string(n.State), cmp.Or(n.Reason, "See its report"))
		case n.Verdict == usage.Suspect && !n.Rejected:
			add(true, "last scan suspect", cmp.Or(n.Reason, "Not to be believed without a look"))
		case n.State == usage.Running && n.Progress.Stalled:
			add(true, "scan stalled", "The file system does not answer the scan that runs")
		}
	}
	if s.Skipped != nil && s.Schedule != nil && s.Schedule.Enabled {
		add(false, "scan skipped", component.DayTime(s.Skipped.Occurrence)+": "+s.Skipped.Reason)
	}
	if s.Current == nil {
		return all
	}
	if space := s.space(); space.Known {
		if share := space.ShareOf(space.Used); share >= nearlyFull {
			add(share >= 0.95, "nearly full", usage.FormatBytes(space.Free)+" are free")
		}
	}
	if _, share, ok := report.InodesUsed(s.Current.Capacity); ok && share >= nearlyFull {
		add(share >= 0.95, "few inodes left", usage.FormatShare(share)+" of the inodes are in use")
	}
	if f := s.Forecast; f.Outlook == report.FullAt && f.At.Sub(now) < soonFull {
		add(false, "full soon", "At this pace on "+component.Day(f.At))
	}
	if s.Current.Verdict == usage.Partial {
		add(false, "partial", cmp.Or(s.Current.Reason, "Something could not be read"))
	}
	if word, why := s.outdated(now); word != "" {
		add(false, word, why)
	}
	slices.SortStableFunc(all, func(a, b finding) int { return boolCompare(b.bad, a.bad) })
	return all
}

// outdated says that there should be newer numbers; "" where there need not be. What is
// scanned each week may be a week old.
func (s System) outdated(now time.Time) (word, why string) {
	age := now.Sub(s.Current.Started)
	if s.Expected.IsZero() {
		if age > staleAfter {
			return "stale", "The numbers are " + component.Span(age) + " old"
		}
		return "", ""
	}
	overdue := now.Sub(s.Expected) - max(lateAfter, 2*s.Current.Duration(now))
	underWay := s.Newest != nil && !s.Newest.State.Ended()
	if overdue <= 0 || underWay && overdue < staleAfter {
		return "", ""
	}
	return "late", "A scan was due on " + component.DayTime(s.Expected) + ", and nothing is published since"
}

// nextWords says when the next scan is due.
func (s System) nextWords(now time.Time) string {
	switch {
	case s.Schedule == nil:
		return "no schedule"
	case !s.Schedule.Enabled:
		return "paused"
	case s.Next.IsZero():
		return "not known"
	default:
		return "next in " + component.Span(s.Next.Sub(now))
	}
}

// nextTitle says it exactly.
func (s System) nextTitle() string {
	if s.Next.IsZero() {
		return "Set when it is scanned by itself"
	}
	return PlanWords(s.Schedule.Plan) + ": " + occurrence(s.Next) + ", " + utc(s.Next)
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// systems returns the rows: bad findings first, then others, then by name.
func (p Overview) systems() []System {
	weight := func(s System) int {
		sum := 0
		for _, f := range s.findings(p.Now) {
			sum++
			if f.bad {
				sum += 100
			}
		}
		return sum
	}
	return slices.SortedStableFunc(slices.Values(p.Systems), func(a, b System) int {
		return cmp.Or(-cmp.Compare(weight(a), weight(b)), cmp.Compare(a.FileSystem.Name, b.FileSystem.Name))
	})
}

// of returns the frame of one of the file systems, for its links.
func (p Overview) of(s System) component.Frame {
	f := p.Frame
	f.FileSystem = &s.FileSystem
	return f
}

func (p Overview) facts() []component.Fact {
	var found usage.Measures
	scanned, troubled := 0, 0
	for _, s := range p.Systems {
		if s.Current != nil {
			found.Add(s.Current.Totals)
			scanned++
		}
		if len(s.findings(p.Now)) > 0 {
			troubled++
		}
	}
	note := "all scanned"
	if n := len(p.Systems) - scanned; n > 0 {
		note = component.Count(int64(n)) + " without a scan"
	}
	attention := component.Fact{
		Term: "To look at", Value: component.Count(int64(troubled)), Notes: []string{"with a finding"},
	}
	if troubled == 0 {
		attention.Value, attention.Notes = "none", []string{"nothing was found wrong"}
	}
	return []component.Fact{
		{Term: "File systems", Value: component.Count(int64(len(p.Systems))), Notes: []string{note}},
		attention,
		{
			Term: "Allocated, in all", Value: usage.FormatBytes(found.Allocated),
			Exact: component.ExactBytes(found.Allocated), Notes: []string{"found by the latest scans"},
		},
		{
			Term: "Files, in all", Value: usage.FormatCount(found.Files),
			Exact: component.ExactCount(found.Files, "files"), Notes: []string{inodesWords(found.Inodes)},
		},
	}
}

func (s System) space() report.Space {
	return report.NewSpace(s.Current.Capacity, s.Current.Totals.Allocated)
}

// inodes is the share of the inodes in use; "" where there is no limit.
func (s System) inodes() (text, exact string) {
	used, share, ok := report.InodesUsed(s.Current.Capacity)
	if !ok {
		return "–", "The file system sets no limit"
	}
	return usage.FormatShare(share), component.ExactCount(used, "inodes in use")
}

// change is the growth of what was found since an earlier scan; nil if unknown.
func (s System) change(since *usage.Point) *report.Change {
	if since == nil {
		return nil
	}
	return &report.Change{By: usage.Allocated, From: since.Total, To: s.Current.Totals}
}

// full says in a word when the file system is full at its pace.
func (s System) full() component.Fact {
	return Capacity{
		Frame:    component.Frame{Scan: &component.ShownScan{Scan: *s.Current}},
		Forecast: s.Forecast,
	}.forecastFact()
}

// spark is the small chart of what was found in the last weeks.
func (s System) spark() spark {
	return newSpark(usage.Allocated, s.Points, func(p usage.Point) *usage.Measures { return &p.Total })
}

// title says what the user who grew most is compared with.
func (g Grower) title() string {
	title := g.Change.Exact() + " since " + component.DayTime(g.Since.Started)
	if g.Among > 0 {
		title += ", among the " + component.Count(int64(g.Among)) + " largest"
	}
	return title
}
