package schedule

import "time"

// Schedule is a plan in a zone, with what is done about missed occurrences.
type Schedule struct {
	Plan Plan
	Zone *time.Location
	// CatchUp is how old a missed occurrence may be to be run late; 0 for none.
	CatchUp time.Duration
}

// Due is what a look at the clock finds.
type Due struct {
	// Run is the occurrence to run now; zero for none. Of several that were
	// missed it is the latest.
	Run time.Time
	// Missed counts occurrences that are not run: they are too old, or Run stands
	// for them.
	Missed int
	// Next is when to look again: the first occurrence after now, zero for none.
	Next time.Time
}

// missedLimit bounds how many missed occurrences are counted.
const missedLimit = 10_000

// Look tells what is due. Next is what the last look returned, zero at first. It
// is not trusted where the clock was set back since: a clock that was wrong for a
// while neither loses the nights until the wrong time nor, as every occurrence is
// an instant that callers run once, repeats one.
func (s Schedule) Look(next, now time.Time) Due {
	first, ok := s.Plan.Next(now, s.Zone)
	due := Due{}
	if ok {
		due.Next = first
	}
	if next.IsZero() || next.After(now) {
		return due
	}
	for t, ok := next, true; ok && !t.After(now) && due.Missed < missedLimit; t, ok = s.Plan.Next(t, s.Zone) {
		if !due.Run.IsZero() {
			due.Missed++
		}
		due.Run = t
	}
	if late := now.Sub(due.Run); late > grace && late > s.CatchUp {
		due.Run = time.Time{}
		due.Missed++
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
