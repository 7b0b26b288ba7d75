package report

import (
	"slices"
	"time"

	"fstally/internal/usage"
)

// minExcerpt is how many points any history can be cut down to: its first and last,
// and one where two steps of the calendar meet.
const minExcerpt = 3

// Excerpt says which scans of a long history a chart shows: one of each Step days.
type Excerpt struct {
	Step int   // days of the calendar that a point stands for, at least 2
	Of   int   // scans that there are
	Kept []int // indexes of the scans that are shown, ascending
	// Gaps are the indexes in Kept of points that no line leads to from the one
	// before: see Gaps, of all scans, as far as they are longer than Step.
	Gaps []int
}

// NewExcerpt chooses at most limit scans, which are given oldest first: the last of
// each week, say, the first and the last of all, and both ends of each gap, which so
// is as long as it was. It returns nil where all are within the limit.
//
// Steps are cut by the calendar, so another night adds a point and moves none.
func NewExcerpt(days []usage.HistoryDay, limit int) *Excerpt {
	if len(days) <= max(limit, minExcerpt) {
		return nil
	}
	times := make([]time.Time, len(days))
	numbers := make([]int, len(days))
	for i, d := range days {
		times[i], numbers[i] = d.Started, dayNumber(d.Day)
	}
	gaps := Gaps(times)
	for step := 2; ; step = nextStep(step) {
		e := excerpt(times, numbers, gaps, step)
		if len(e.Kept) <= max(limit, minExcerpt) {
			return e
		}
	}
}

// nextStep goes on to whole weeks: a step across the days of the week would show
// their difference as growth and decline.
func nextStep(step int) int {
	switch {
	case step < 3:
		return 3
	case step < 7:
		return 7
	default:
		return 2 * step
	}
}

func excerpt(times []time.Time, numbers, gaps []int, step int) *Excerpt {
	e := &Excerpt{Step: step, Of: len(times), Gaps: []int{}}
	last := len(times) - 1
	gaps = slices.DeleteFunc(slices.Clone(gaps), func(i int) bool {
		return times[i].Sub(times[i-1]) <= time.Duration(step)*day
	})
	for i := range times {
		afterGap := len(gaps) > 0 && gaps[0] == i
		if afterGap {
			e.Gaps = append(e.Gaps, len(e.Kept))
			gaps = gaps[1:]
		}
		beforeGap := len(gaps) > 0 && gaps[0] == i+1
		if i == 0 || i == last || afterGap || beforeGap || numbers[i]/step != numbers[i+1]/step {
			e.Kept = append(e.Kept, i)
		}
	}
	return e
}

// dayNumber counts the days of the calendar from a Monday, so that steps of seven are
// weeks; 0 where it is no day. No scan started before the year 1.
func dayNumber(text string) int {
	const monday = "0001-01-01" // of the Gregorian calendar, as package time has it
	from, err1 := time.Parse(time.DateOnly, monday)
	to, err2 := time.Parse(time.DateOnly, text)
	if err1 != nil || err2 != nil {
		return 0
	}
	return int((to.Unix() - from.Unix()) / int64(day/time.Second))
}
