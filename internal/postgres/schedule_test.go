package postgres_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/postgres"
	"fstally/internal/schedule"
	"fstally/internal/usage"
)

// look is what package jobs hands to Dispatch.
func look(stored usage.Schedule, now time.Time) (usage.Due, error) {
	s, err := schedule.New(stored)
	if err != nil {
		return usage.Due{}, err
	}
	return s.Look(stored.NextRun, now), nil
}

// plan gives the fixture's file system a schedule.
func (f *fixture) plan(plan, zone string, catchUp time.Duration) {
	f.t.Helper()
	f.setSchedule(usage.Schedule{FileSystemID: f.fs.ID, Plan: plan, Zone: zone, Enabled: true, CatchUp: catchUp})
}

func (f *fixture) setSchedule(s usage.Schedule) {
	f.t.Helper()
	if err := f.SetSchedule(f.t.Context(), s); err != nil {
		f.t.Fatal(err)
	}
}

// dispatch looks at the clock, and ends what it queues.
func (f *fixture) dispatch(now time.Time) []usage.Scan {
	f.t.Helper()
	made, err := f.Dispatch(f.t.Context(), now, look)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, scan := range made {
		if scan.State == usage.Queued {
			f.end(scan)
		}
	}
	return made
}

// end ends a queued scan.
func (f *fixture) end(scan usage.Scan) {
	f.t.Helper()
	if _, err := f.CancelScan(f.t.Context(), everything, scan.ID); err != nil {
		f.t.Fatal(err)
	}
}

// told describes what Dispatch made, by occurrence.
func told(made []usage.Scan) []string {
	var list []string
	for _, scan := range made {
		text := scan.Occurrence.Format("01-02 15:04 ") + string(scan.State)
		if scan.Reason != "" {
			text += ": " + scan.Reason
		}
		list = append(list, text)
	}
	return list
}

// C109: a server that is restarted over every night still has every night.
func TestRestartedOverTheNight(t *testing.T) {
	f := newFixture(t)
	f.plan("nightly 02:00", "UTC", time.Hour)
	var got []string
	for day := 1; day <= 8; day++ {
		for _, minute := range []int{1*60 + 59, 2*60 + 5, 2*60 + 6} {
			at := time.Date(2026, 6, day, 0, minute, 0, 0, time.UTC)
			got = append(got, told(f.dispatch(at))...)
		}
	}
	var want []string
	for day := 1; day <= 8; day++ { // the first look, before the first night, only learns when
		want = append(want, fmt.Sprintf("06-%02d 02:00 queued", day))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// C112: a clock that was wrong and is corrected neither doubles nor loses a night.
func TestDispatch(t *testing.T) {
	f := newFixture(t)
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 6, day, hour, minute, 0, 0, time.UTC) }
	f.plan("nightly 01:30", "UTC", 6*time.Hour)
	for _, step := range []struct {
		now  time.Time
		want []string
	}{
		{at(1, 12, 0), nil}, // the first look only learns when
		{at(2, 1, 29), nil},
		{at(2, 1, 30), []string{"06-02 01:30 queued"}},
		{at(2, 1, 31), nil},
		{at(3, 7, 0), []string{"06-03 01:30 queued"}}, // late, made up for
		{at(4, 12, 0), []string{"06-04 01:30 skipped: fstally was not running when this scan was due."}}, // too late
		{at(7, 2, 0), []string{"06-06 01:30 skipped: fstally was not running when this scan and 1 before it were due.", //
			"06-07 01:30 queued"}},
		{at(20, 2, 0).AddDate(1, 0, 0), []string{ // the clock is wrong
			"06-19 01:30 skipped: fstally was not running when this scan and 376 before it were due.", "06-20 01:30 queued"}},
		{at(8, 1, 0), nil}, // set back: nothing runs twice, and the next night is not lost
		{at(8, 1, 30), []string{"06-08 01:30 queued"}},
		{at(7, 1, 0), nil}, // set back over a night that had its turn
		{at(7, 1, 31), nil},
		{at(8, 1, 31), nil},
		{at(9, 1, 30), []string{"06-09 01:30 queued"}},
	} {
		if diff := cmp.Diff(step.want, told(f.dispatch(step.now))); diff != "" {
			t.Errorf("at %s (-want +got):\n%s", step.now, diff)
		}
	}
	if n := f.count(`SELECT count(*) FROM river.river_job WHERE kind = 'scan' AND queue = 'scan'`); n != 6 {
		t.Errorf("%d jobs for 6 scans", n)
	}
	s := usage.Schedule{FileSystemID: f.fs.ID, Plan: "nightly 01:30", Zone: "UTC", CatchUp: 6 * time.Hour}
	f.setSchedule(s) // not enabled
	if made := f.dispatch(at(20, 1, 30)); made != nil {
		t.Errorf("switched off, and made %v", told(made))
	}
	list, err := f.Schedules(t.Context(), everything)
	if diff := cmp.Diff([]usage.Schedule{s}, list); diff != "" || err != nil {
		t.Errorf("schedules: %v %s", err, diff)
	}
	if list, err := f.Schedules(t.Context(), usage.Scope{}); len(list) != 0 || err != nil {
		t.Errorf("schedules outside the scope: %v, %v", list, err)
	}
	if err := f.RemoveSchedule(t.Context(), f.fs.ID); err != nil {
		t.Error(err)
	}
	for _, err := range []error{
		f.RemoveSchedule(t.Context(), f.fs.ID), f.SetSchedule(t.Context(), usage.Schedule{FileSystemID: 999}),
	} {
		if !errors.Is(err, usage.ErrNotFound) {
			t.Error(err)
		}
	}
}

// A schedule that cannot be read is told, and stops no other.
func TestDispatchGoesOn(t *testing.T) {
	f := newFixture(t)
	f.plan("nightly 01:30", "Atlantis/Capital", 0)
	other := f.addFileSystem("other")
	f.setSchedule(usage.Schedule{FileSystemID: other.ID, Plan: "every 1h", Zone: "UTC", Enabled: true})
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for _, now := range []time.Time{now, now.Add(time.Hour)} {
		if _, err := f.Dispatch(t.Context(), now, look); err == nil || !strings.Contains(err.Error(), "Atlantis") {
			t.Errorf("a zone that is not known: %v", err)
		}
	}
	if n := f.count(`SELECT count(*) FROM scan WHERE filesystem_id = $1 AND state = 'queued'`, other.ID); n != 1 {
		t.Errorf("%d scans of the other file system", n)
	}
}

// C095, C098: a scan that takes longer than the plan's distance is not started twice;
// the nights are recorded as left out, and another file system goes on.
func TestLongScan(t *testing.T) {
	f := newFixture(t)
	f.plan("nightly 01:00", "UTC", time.Hour)
	short := f.addFileSystem("short")
	f.setSchedule(usage.Schedule{FileSystemID: short.ID, Plan: "every 1h", Zone: "UTC", Enabled: true})
	now := time.Date(2026, 6, 1, 0, 30, 0, 0, time.UTC)
	runs := map[int64]int{}
	var long usage.Scan
	var left []string
	for end := now.AddDate(0, 0, 4); now.Before(end); now = now.Add(10 * time.Minute) {
		made, err := f.Dispatch(t.Context(), now, look)
		if err != nil {
			t.Fatal(err)
		}
		for _, scan := range made {
			switch {
			case scan.State == usage.NotRun:
				left = append(left, scan.Occurrence.Format("01-02 ")+scan.Reason)
				continue
			case scan.FileSystemID == short.ID:
				f.end(scan)
			case long.ID == 0:
				if long = f.claimNext("a"); long.ID != scan.ID {
					t.Fatalf("claimed %d, want %d", long.ID, scan.ID)
				}
			}
			runs[scan.FileSystemID]++
		}
		if long.ID != 0 && now.Equal(time.Date(2026, 6, 3, 3, 0, 0, 0, time.UTC)) { // after 50 hours
			if err := f.EndScan(t.Context(), long.ID, "a", usage.Failed, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	want := []string{fmt.Sprintf("06-02 Scan %d was not over yet.", long.ID), fmt.Sprintf("06-03 Scan %d was not over yet.", long.ID)}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if runs[f.fs.ID] != 2 || runs[short.ID] != 96 {
		t.Errorf("%d runs of the long one, want 2; %d of the short one, want 96", runs[f.fs.ID], runs[short.ID])
	}
}

// C111: of several servers, whose clocks differ a little, one queues an occurrence.
func TestDispatchOfSeveralServers(t *testing.T) {
	f := newFixture(t)
	f.plan("nightly 02:00", "Europe/Prague", 0)
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	f.dispatch(now)
	var made sync.Map
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			clock := time.Date(2026, 6, 2, 0, 0, 0, i*300_000_000, time.UTC)
			scans, err := f.Dispatch(t.Context(), clock, look)
			if err != nil {
				t.Error(err)
			}
			for _, scan := range scans {
				made.Store(scan.ID, scan)
			}
		})
	}
	all.Wait()
	if n := f.count(`SELECT count(*) FROM scan WHERE occurrence IS NOT NULL`); n != 1 {
		t.Errorf("%d scans, want 1", n)
	}
}

// A year of nights in zones whose clocks jump, through the store: one scan per date;
// with downtimes at most one late run after each, and no date twice.
func TestYear(t *testing.T) {
	f := newFixture(t)
	var err error
	if f.Store, err = postgres.Open(t.Context(), f.url, postgres.Options{AsyncCommit: true}); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	random := rand.New(rand.NewPCG(4, 2026))
	type key struct{ zone, at string }
	plans := map[int64]key{}
	for zone, at := range map[string]string{ // package schedule tries the others
		"America/New_York": "01:30", "Europe/Prague": "02:30", "Australia/Lord_Howe": "01:30", "America/Santiago": "00:00",
	} {
		fs := f.addFileSystem(fmt.Sprintf("fs%d", len(plans)))
		f.setSchedule(usage.Schedule{FileSystemID: fs.ID, Plan: "nightly " + at, Zone: zone, Enabled: true, CatchUp: 10 * time.Hour})
		plans[fs.ID] = key{zone, at}
	}
	now := time.Date(2025, 12, 31, 16, 0, 0, 0, time.UTC)
	end := now.AddDate(1, 0, 0)
	f.dispatch(now)
	ran := map[int64]map[string]int{}
	for now.Before(end) {
		down := random.IntN(40) == 0 // for up to two days
		if down {
			now = now.Add(time.Duration(random.IntN(48*60)) * time.Minute)
		} else { // until something is due
			next := end
			list, err := f.Schedules(t.Context(), everything)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range list {
				if s.NextRun.Before(next) {
					next = s.NextRun
				}
			}
			now = next.Add(time.Duration(random.IntN(20)) * time.Second)
		}
		perDowntime := map[int64]int{}
		for _, scan := range f.dispatch(now) {
			if scan.State != usage.Queued {
				continue
			}
			perDowntime[scan.FileSystemID]++
			if perDowntime[scan.FileSystemID] > 1 {
				t.Fatalf("%s: two scans of one file system at once", now)
			}
			zone, err := schedule.Zone(plans[scan.FileSystemID].zone)
			if err != nil {
				t.Fatal(err)
			}
			if ran[scan.FileSystemID] == nil {
				ran[scan.FileSystemID] = map[string]int{}
			}
			ran[scan.FileSystemID][scan.Occurrence.In(zone).Format(time.DateOnly)]++
		}
	}
	for id, plan := range plans {
		left := f.count(`SELECT count(*) FROM scan WHERE filesystem_id = $1 AND state = 'skipped'`, id)
		for date, n := range ran[id] {
			if n != 1 {
				t.Errorf("%v: %d runs on %s", plan, n, date)
			}
		}
		if n := int64(len(ran[id])); n < 300 || n+left < 320 || left == 0 {
			t.Errorf("%v: %d nights with a scan, %d records of nights without", plan, n, left)
		}
	}
}
