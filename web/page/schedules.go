package page

import (
	"slices"
	"strings"
	"time"

	"fstally/internal/usage"
	"fstally/web/component"
)

// Schedules is the view model of /schedules: when each file system is scanned by
// itself.
type Schedules struct {
	component.Frame

	Rows  []Scheduled
	Saved string // the file system whose schedule was just set; "" for none
}

// Scheduled is a file system with its schedule.
type Scheduled struct {
	FileSystem usage.FileSystem
	Schedule   *usage.Schedule // nil where it has none
	Problem    string          // why the schedule cannot be read; "" where it can
	Upcoming   []time.Time     // the next occurrences in the schedule's zone; none where it is not enabled
	Newest     *usage.Scan     // the newest scan, whatever became of it; nil for none
	Skipped    *usage.Scan     // the newest occurrence without a scan, if that is newer than Newest
}

// of returns the frame of one of the file systems, for its links.
func (p Schedules) of(s Scheduled) component.Frame {
	f := p.Frame
	f.FileSystem = &s.FileSystem
	return f
}

func (p Schedules) facts() []component.Fact {
	var scheduled, paused int64
	var next time.Time
	var first string
	for _, row := range p.Rows {
		switch {
		case row.Schedule == nil:
		case !row.Schedule.Enabled:
			paused++
		default:
			scheduled++
		}
		if len(row.Upcoming) > 0 && (next.IsZero() || row.Upcoming[0].Before(next)) {
			next, first = row.Upcoming[0], row.FileSystem.Name
		}
	}
	soon := component.Fact{Term: "Next scan", Value: "none", Notes: []string{"nothing is scheduled"}}
	if !next.IsZero() {
		soon = component.Fact{
			Term: "Next scan", Value: "in " + component.Span(next.Sub(p.Now)), Exact: utc(next),
			Notes: []string{occurrence(next) + ", " + first},
		}
	}
	left, all := int64(len(p.Rows))-scheduled-paused, component.Plural(int64(len(p.Rows)), "file system", "file systems")
	return []component.Fact{
		soon,
		{Term: "Scheduled", Value: component.Count(scheduled), Notes: []string{"of " + all}},
		{Term: "Paused", Value: component.Count(paused), Notes: []string{"have a schedule that is switched off"}},
		{Term: "Not scheduled", Value: component.Count(left), Notes: []string{"scanned only when asked"}},
	}
}

// occurrence shows a due time with the zone that it is in.
func occurrence(t time.Time) string { return component.DayTime(t) + " " + t.Format("MST") }

// shortOccurrence is for lists of them.
func shortOccurrence(t time.Time) string { return t.Format("Mon 2 Jan, 15:04") }

// utc is the title of a due time.
func utc(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }

// PlanWords says what a plan means: "every night at 01:30". Plans that are cron's stay
// as they are written.
func PlanWords(plan string) string {
	fields := strings.Fields(plan)
	switch {
	case len(fields) == 2 && fields[0] == "nightly":
		return "every night at " + fields[1]
	case len(fields) == 3 && fields[0] == "weekly":
		return "every " + dayWord(fields[1]) + " at " + fields[2]
	case len(fields) == 2 && fields[0] == "every" && fields[1] == "1h":
		return "every hour"
	case len(fields) == 2 && fields[0] == "every":
		return "every " + strings.TrimSuffix(fields[1], "h") + " hours"
	default:
		return "cron " + usage.Escape(plan)
	}
}

// weekdays in the order of a week, as plans call them, with their words.
func weekdays() [][2]string {
	return [][2]string{
		{"mon", "Monday"}, {"tue", "Tuesday"}, {"wed", "Wednesday"}, {"thu", "Thursday"}, {"fri", "Friday"},
		{"sat", "Saturday"}, {"sun", "Sunday"},
	}
}

func dayWord(day string) string {
	days := weekdays()
	if i := slices.IndexFunc(days, func(d [2]string) bool { return d[0] == day }); i >= 0 {
		return days[i][1]
	}
	return usage.Escape(day)
}

// wholeUnits shows a length of time that somebody set, without units that it has none of.
func wholeUnits(d time.Duration) string {
	words := usage.FormatDuration(d)
	for _, none := range []string{" 0 s", " 0 min", " 0 h"} {
		words = strings.TrimSuffix(words, none)
	}
	return words
}

// catchUpWords says what becomes of an occurrence that was missed.
func catchUpWords(d time.Duration) string {
	if d == 0 {
		return "a missed scan is not made up for"
	}
	return "a missed scan is made up for within " + wholeUnits(d)
}
