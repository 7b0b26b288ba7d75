package schedule

import (
	"fmt"
	"time"

	"fstally/internal/usage"
)

// Schedule is a plan in a zone, with what is done about missed occurrences.
type Schedule struct {
	Plan Plan
	Zone *time.Location
	// CatchUp is how old a missed occurrence may be to be run late; 0 for none.
	CatchUp time.Duration
}

// MaxCatchUp is the longest CatchUp that may be set: a year. More was not forgotten.
const MaxCatchUp = 365 * 24 * time.Hour

// missedLimit bounds how many missed occurrences are counted.
const missedLimit = 10_000

// Look tells what is due. Next is what the last look returned, zero at first. It
// is not trusted where the clock was set back since: a clock that was wrong for a
// while neither loses the nights until the wrong time nor, as every occurrence is
// an instant that callers run once, repeats one.
func (s Schedule) Look(next, now time.Time) usage.Due {
	first, ok := s.Plan.Next(now, s.Zone)
	due := usage.Due{}
	if ok {
		due.Next = first
	}
	if next.IsZero() || next.After(now) {
		return due
	}
	for t, ok := next, true; ok && !t.After(now) && due.Missed < missedLimit; t, ok = s.Plan.Next(t, s.Zone) {
		if !due.Run.IsZero() {
			due.Missed, due.LastMissed = due.Missed+1, due.Run
		}
		due.Run = t
	}
	if late := now.Sub(due.Run); late > grace && late > s.CatchUp {
		due.Missed, due.LastMissed = due.Missed+1, due.Run
		due.Run = time.Time{}
	}
	return due
}

// grace is how late a run may begin and still be in time: looks are not taken
// every second, and a server may just have been restarted.
const grace = 5 * time.Minute

// Upcoming returns the next n occurrences after an instant.
func (s Schedule) Upcoming(after time.Time, n int) []time.Time {
	var all []time.Time
	for len(all) < n {
		next, ok := s.Plan.Next(after, s.Zone)
		if !ok {
			break
		}
		all, after = append(all, next), next
	}
	return all
}

// New reads a stored schedule. The error says what is wrong with its plan or zone.
func New(stored usage.Schedule) (Schedule, error) {
	plan, err := Parse(stored.Plan)
	if err != nil {
		return Schedule{}, err
	}
	zone, err := Zone(stored.Zone)
	return Schedule{Plan: plan, Zone: zone, CatchUp: stored.CatchUp}, err
}

// Zone returns the time zone of a name in the IANA time zone database. "Local", which
// differs from host to host, and "" are refused.
func Zone(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return nil, fmt.Errorf("time zone %q: give a name such as Europe/Berlin or UTC", name)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("time zone %q is not known: use a name such as Europe/Berlin or UTC", name)
	}
	return zone, nil
}
