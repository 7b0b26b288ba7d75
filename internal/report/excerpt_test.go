package report_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/report"
	"fstally/internal/usage"
)

// on lists scans at 01:30 of days after the first of January 2026, a Thursday.
func on(days ...int) []usage.HistoryDay {
	var scans []usage.HistoryDay
	for _, d := range days {
		at := time.Date(2026, 1, 1+d, 1, 30, 0, 0, time.UTC)
		scans = append(scans, usage.HistoryDay{ScanID: int64(d), Day: at.Format(time.DateOnly), Started: at})
	}
	return scans
}

func upTo(n int, without func(day int) bool) []usage.HistoryDay {
	var days []int
	for d := range n {
		if without == nil || !without(d) {
			days = append(days, d)
		}
	}
	return on(days...)
}

func TestExcerpt(t *testing.T) {
	for _, tc := range []struct {
		name  string
		days  []usage.HistoryDay
		limit int
		want  *report.Excerpt
	}{
		{"nothing", nil, 10, nil},
		{"as many as there may be", upTo(10, nil), 10, nil},
		// Days of weeks: 0 is a Thursday, 3 and 10 are Sundays.
		{"weeks end on Sunday", upTo(21, nil), 5, &report.Excerpt{Step: 7, Of: 21, Kept: []int{0, 3, 10, 17, 20}, Gaps: []int{}}},
		{"two days", upTo(10, nil), 7, &report.Excerpt{Step: 2, Of: 10, Kept: []int{0, 1, 3, 5, 7, 9}, Gaps: []int{}}},
		{
			"a month without scans", upTo(80, func(d int) bool { return d > 20 && d < 50 }), 14,
			&report.Excerpt{Step: 7, Of: 51, Kept: []int{0, 3, 10, 17, 20, 21, 23, 30, 37, 44, 50}, Gaps: []int{5}},
		},
		{ // a week has a scan all the same
			"none from Monday to Wednesday", upTo(40, func(d int) bool { return d%7 > 3 }), 9,
			&report.Excerpt{Step: 7, Of: 24, Kept: []int{0, 3, 7, 11, 15, 19, 23}, Gaps: []int{}},
		},
		{"hardly any", upTo(5000, nil), 0, &report.Excerpt{Step: 3584, Of: 5000, Kept: []int{0, 2271, 4999}, Gaps: []int{}}},
	} {
		if diff := cmp.Diff(tc.want, report.NewExcerpt(tc.days, tc.limit)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tc.name, diff)
		}
	}
}

// TestExcerptsOfAnyHistory cuts down random histories with holes.
func TestExcerptsOfAnyHistory(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		missing := random.Float64() / 2
		hole, length := random.IntN(4000), random.IntN(400)
		days := upTo(500+random.IntN(4500), func(d int) bool {
			return d >= hole && d < hole+length || random.Float64() < missing
		})
		limit := 3 + random.IntN(900)
		e := report.NewExcerpt(days, limit)
		if e == nil {
			if len(days) > limit {
				t.Fatalf("%d days with a limit of %d are left as they are", len(days), limit)
			}
			continue
		}
		last := len(days) - 1
		if len(e.Kept) > limit || !slices.IsSorted(e.Kept) || len(slices.Compact(slices.Clone(e.Kept))) != len(e.Kept) {
			t.Fatalf("limit %d: %d kept, %v", limit, len(e.Kept), e.Kept)
		}
		if e.Kept[0] != 0 || e.Kept[len(e.Kept)-1] != last || e.Of != len(days) {
			t.Fatalf("of %d days, %d are said to be all, and %d to %d are kept", len(days), e.Of, e.Kept[0], e.Kept[len(e.Kept)-1])
		}
		checkGaps(t, days, e)
	}
}

// checkGaps wants each long gap, and no other, between neighbours that are both kept.
func checkGaps(t *testing.T, days []usage.HistoryDay, e *report.Excerpt) {
	t.Helper()
	times := make([]time.Time, len(days))
	for i, d := range days {
		times[i] = d.Started
	}
	var want, got [][2]int
	for _, i := range report.Gaps(times) {
		if times[i].Sub(times[i-1]) > time.Duration(e.Step)*24*time.Hour {
			want = append(want, [2]int{i - 1, i})
		}
	}
	for _, k := range e.Gaps {
		got = append(got, [2]int{e.Kept[k-1], e.Kept[k]})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("gaps of %d days in steps of %d: (-want +got)\n%s", len(days), e.Step, diff)
	}
	// Elsewhere no stretch is longer than two steps and what a gap may leave out.
	for k := 1; k < len(e.Kept); k++ {
		from, to := e.Kept[k-1], e.Kept[k]
		if between := to - from; between > 2*e.Step {
			t.Fatalf("%d scans are passed over in steps of %d", between, e.Step)
		}
	}
}

// Another night moves no other point.
func TestExcerptsAreSteady(t *testing.T) {
	for n := 1200; n < 1230; n++ {
		before, after := report.NewExcerpt(upTo(n, nil), 700), report.NewExcerpt(upTo(n+1, nil), 700)
		kept := before.Kept[:len(before.Kept)-1]
		if diff := cmp.Diff(kept, after.Kept[:len(kept)]); diff != "" {
			t.Errorf("after %d nights: %s", n, diff)
		}
	}
}

func TestBaselineDay(t *testing.T) {
	days := on(0, 1, 8, 9, 30)
	for n, want := range map[int]int{1: -1, 21: 3, 22: 2, 30: 0, 31: -1} {
		if got := report.BaselineDay(days, days[4].Day, n); got != want {
			t.Errorf("%d days before: %d, want %d", n, got, want)
		}
	}
	if got := report.BaselineDay(days, "", 1); got != -1 {
		t.Errorf("before no day: %d", got)
	}
}
