package schedule_test

import (
	"math/rand/v2"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/schedule"
	"fstally/internal/usage"
)

func plan(t *testing.T, text string) schedule.Plan {
	t.Helper()
	p, err := schedule.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// zones jump in every way: by an hour and by half of one, at 2:00, at midnight,
// never, and once over a whole day.
var zones = []string{
	"America/New_York", "Europe/Prague", "Australia/Lord_Howe", "America/Santiago", "UTC", "Asia/Kathmandu",
	"America/Sao_Paulo", "Africa/Cairo", "Asia/Beirut", "Atlantic/Azores", "Europe/Dublin", "Africa/Casablanca",
}

// A plan of one time a day has one occurrence on every date, in every zone.
func TestOncePerDate(t *testing.T) {
	for _, name := range zones {
		for _, at := range []string{"00:00", "00:30", "01:00", "01:30", "02:00", "02:30", "03:00", "23:59"} {
			t.Run(name+" "+at, func(t *testing.T) {
				z, p := zone(t, name), plan(t, "nightly "+at)
				want := time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC) // a date, not a time
				for now := time.Date(2014, 12, 31, 23, 59, 59, 0, z); want.Year() < 2028; want = want.AddDate(0, 0, 1) {
					next, ok := p.Next(now, z)
					if !ok || next.Format(time.DateOnly) != want.Format(time.DateOnly) {
						t.Fatalf("after %s comes %s, want one on %s", now, next, want.Format(time.DateOnly))
					}
					if !next.After(now) {
						t.Fatalf("after %s comes %s", now, next)
					}
					now = next
				}
			})
		}
	}
}

// Occurrences show the time of the plan, but for times that do not exist (cases C105,
// C106, C108).
func TestJumps(t *testing.T) {
	for _, tc := range []struct{ zone, plan, after, want string }{
		{"Europe/Prague", "nightly 02:30", "2026-03-28T12:00:00+01:00", "2026-03-29T03:00:00+02:00"}, // put forward
		{"Europe/Prague", "nightly 02:30", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"},
		{"Europe/Prague", "nightly 02:30", "2026-10-24T12:00:00+02:00", "2026-10-25T02:30:00+02:00"}, // put back
		{"Europe/Prague", "nightly 02:30", "2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"},
		{"Europe/Prague", "nightly 02:30", "2026-10-25T02:10:00+01:00", "2026-10-26T02:30:00+01:00"}, // the second 2:10
		{"America/Santiago", "nightly 00:00", "2026-09-05T12:00:00-04:00", "2026-09-06T01:00:00-03:00"},
		{"America/Santiago", "nightly 00:30", "2026-09-05T12:00:00-04:00", "2026-09-06T01:00:00-03:00"},
		{"Australia/Lord_Howe", "nightly 02:15", "2026-10-03T12:00:00+10:30", "2026-10-04T02:30:00+11:00"},
		{"Australia/Lord_Howe", "nightly 01:45", "2026-04-04T12:00:00+11:00", "2026-04-05T01:45:00+11:00"},
		{"Pacific/Apia", "nightly 01:30", "2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00"}, // no 30th
		{"Pacific/Apia", "nightly 01:30", "2011-12-31T00:00:00+14:00", "2011-12-31T01:30:00+14:00"},
		{"UTC", "every 6h", "2026-01-01T05:59:59Z", "2026-01-01T06:00:00Z"},
		{"UTC", "every 6h", "2026-01-01T06:00:00Z", "2026-01-01T12:00:00Z"},
		{"UTC", "every 5h", "1999-12-31T23:00:00Z", "2000-01-01T00:00:00Z"},
		{"UTC", "every 5h", "1999-12-31T19:00:00Z", "2000-01-01T00:00:00Z"},
		{"Europe/Prague", "every 1h", "2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00"}, // instants
		{"UTC", "weekly sun 22:00", "2026-11-30T00:00:00Z", "2026-12-06T22:00:00Z"},
		{"UTC", "0 3 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T03:00:00Z"},
		{"UTC", "0 3 13 * 5", "2026-11-30T00:00:00Z", "2026-12-04T03:00:00Z"}, // the 13th or a Friday
		{"UTC", "*/20 8-9 * * mon-fri", "2026-12-04T09:40:00Z", "2026-12-07T08:00:00Z"},
	} {
		after, err := time.Parse(time.RFC3339, tc.after)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := plan(t, tc.plan).Next(after, zone(t, tc.zone))
		if !ok || got.Format(time.RFC3339) != tc.want {
			t.Errorf("%s, %s: after %s comes %s, want %s", tc.zone, tc.plan, tc.after, got.Format(time.RFC3339), tc.want)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"Nightly  01:30": "nightly 01:30", "weekly SUN 9:05": "weekly sun 9:05", " every 6h": "every 6h",
		"30 1 * * *": "30 1 * * *",
	} {
		if got := plan(t, text).String(); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if again := plan(t, plan(t, text).String()); !cmp.Equal(again.String(), want) {
			t.Errorf("%q does not read itself", want)
		}
	}
	for _, bad := range []string{
		"", "nightly", "nightly 24:00", "nightly 1:3", "weekly 01:30", "weekly day 01:30", "every 0h", "every h", "every -1h",
		"every 30m", "* * * *", "60 1 * * *", "0 0 31 2 *", "0 0 * * * *", "@daily", "CRON_TZ=UTC 0 1 * * *", "tz=utc 1 * * *",
		"a b c d e", "\x00 1 * * *",
	} {
		if p, err := schedule.Parse(bad); err == nil {
			t.Errorf("%q is taken as %q", bad, p)
		}
	}
	if _, ok := (schedule.Plan{}).Next(time.Now(), time.UTC); ok {
		t.Error("a plan of nothing is due")
	}
}

// A year of looks at the clock, with downtimes at random: at most one run after
// each, no date twice, and without downtimes every date once.
func TestYearWithDowntimes(t *testing.T) {
	for seed, name := range zones {
		for _, at := range []string{"00:00", "01:30", "02:30"} {
			t.Run(name+" "+at, func(t *testing.T) {
				z, random := zone(t, name), rand.New(rand.NewPCG(uint64(seed), 7))
				s := schedule.Schedule{Plan: plan(t, "nightly "+at), Zone: z, CatchUp: 12 * time.Hour}
				now := time.Date(2026, 1, 1, 12, 0, 0, 0, z)
				next := s.Look(time.Time{}, now).Next
				dates, downtime, late := map[string]int{}, false, 0
				for now.Year() == 2026 {
					due := s.Look(next, now)
					if !due.Run.IsZero() {
						dates[due.Run.In(z).Format(time.DateOnly)]++
						late++
						if downtime && late > 1 {
							t.Fatalf("%s: the second run after one downtime", now)
						}
					}
					next = due.Next
					downtime, late = false, 0
					step := 3 * time.Minute
					if random.IntN(700) == 0 {
						step, downtime = time.Duration(random.IntN(5*24*60))*time.Minute, true
					}
					now = now.Add(step)
				}
				for date, n := range dates {
					if n != 1 {
						t.Errorf("%d runs on %s", n, date)
					}
				}
				if len(dates) < 100 {
					t.Errorf("only %d runs", len(dates))
				}
			})
		}
	}
}

func TestLook(t *testing.T) {
	s := schedule.Schedule{Plan: plan(t, "nightly 01:30"), Zone: time.UTC, CatchUp: 6 * time.Hour}
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 6, day, hour, minute, 0, 0, time.UTC) }
	never := time.Time{}
	for _, tc := range []struct {
		name      string
		next, now time.Time
		want      usage.Due
	}{
		{"first look", never, at(1, 12, 0), usage.Due{Next: at(2, 1, 30)}},
		{"not yet", at(2, 1, 30), at(2, 1, 29), usage.Due{Next: at(2, 1, 30)}},
		{"in time", at(2, 1, 30), at(2, 1, 31), usage.Due{Run: at(2, 1, 30), Next: at(3, 1, 30)}},
		{"late", at(2, 1, 30), at(2, 7, 30), usage.Due{Run: at(2, 1, 30), Next: at(3, 1, 30)}},
		{"too late", at(2, 1, 30), at(2, 7, 31), usage.Due{Missed: 1, LastMissed: at(2, 1, 30), Next: at(3, 1, 30)}},
		{"three nights", at(2, 1, 30), at(4, 2, 0), usage.Due{Run: at(4, 1, 30), Missed: 2, LastMissed: at(3, 1, 30), Next: at(5, 1, 30)}},
		{"three nights, by day", at(2, 1, 30), at(4, 12, 0), usage.Due{Missed: 3, LastMissed: at(4, 1, 30), Next: at(5, 1, 30)}},
		// The clock was a year ahead when it was looked at last.
		{"clock set back", at(2, 1, 30).AddDate(1, 0, 0), at(2, 1, 0), usage.Due{Next: at(2, 1, 30)}},
	} {
		if diff := cmp.Diff(tc.want, s.Look(tc.next, tc.now)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tc.name, diff)
		}
	}
	// Without a catch-up a look that comes a little late is still in time.
	s.CatchUp = 0
	if due := s.Look(at(2, 1, 30), at(2, 1, 34)); !due.Run.Equal(at(2, 1, 30)) {
		t.Errorf("four minutes late: %+v", due)
	}
}

func TestUpcoming(t *testing.T) {
	s := schedule.Schedule{Plan: plan(t, "weekly sat 01:30"), Zone: zone(t, "Europe/Prague")}
	var got []string
	for _, next := range s.Upcoming(time.Date(2026, 10, 12, 0, 0, 0, 0, time.UTC), 3) {
		got = append(got, next.Format(time.RFC3339))
	}
	want := []string{"2026-10-17T01:30:00+02:00", "2026-10-24T01:30:00+02:00", "2026-10-31T01:30:00+01:00"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"nightly 01:30", "weekly sun 22:00", "every 6h", "*/5 0-3,7 1,15 jan-mar mon#"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := schedule.Parse(text)
		if err != nil {
			return
		}
		again, err := schedule.Parse(p.String())
		if err != nil || again.String() != p.String() {
			t.Fatalf("%q is read as %q, which is read as %q: %v", text, p, again, err)
		}
		now := time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC)
		if next, ok := p.Next(now, time.UTC); !ok || !next.After(now) {
			t.Fatalf("%q: after %s comes %s", text, now, next)
		}
	})
}
