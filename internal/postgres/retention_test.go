package postgres_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"fstally/internal/postgres"
	"fstally/internal/usage"
)

// day returns midnight of a date, in UTC.
func day(date string) time.Time {
	t, err := time.Parse(time.DateOnly, date)
	if err != nil {
		panic(err)
	}
	return t
}

func TestRetentionIsKept(t *testing.T) {
	f := newFixture(t)
	got, err := f.Retention(t.Context())
	if err != nil || got != postgres.DefaultRetention() {
		t.Errorf("before it is set: %+v, %v", got, err)
	}
	if err := got.Validate(); err != nil {
		t.Errorf("the default: %v", err)
	}
	for _, want := range []usage.Retention{{NightlyDays: 30, WeeklyDays: 365, MonthlyDays: 3650}, {NightlyDays: 7}} {
		if err := f.SetRetention(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		if got, err = f.Retention(t.Context()); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	if err := f.SetRetention(t.Context(), usage.Retention{NightlyDays: -1}); err == nil {
		t.Error("days below 0 are taken")
	}
}

// withDetails returns the scans that have rows in all four tables, and fails where
// one has rows in some of them or where they do not fit its mark.
func (f *fixture) withDetails(scans []usage.Scan) (ids []int64) {
	f.t.Helper()
	type row struct {
		ID      int64
		Thinned bool
		Tables  int
	}
	const sql = `
		SELECT s.id, s.thinned, count(d.name)
		FROM scan AS s
		LEFT JOIN (
			SELECT DISTINCT scan_id, 1 AS name FROM usage
			UNION ALL SELECT DISTINCT scan_id, 2 FROM size_histogram
			UNION ALL SELECT DISTINCT scan_id, 3 FROM age_histogram
			UNION ALL SELECT DISTINCT scan_id, 4 FROM directory) AS d ON d.scan_id = s.id
		GROUP BY s.id`
	found := make(map[int64]row)
	for _, r := range collect(f, pgx.RowToStructByPos[row], sql) {
		found[r.ID] = r
	}
	for _, s := range scans {
		r := found[s.ID]
		if r.Tables != 0 && r.Tables != 4 || (r.Tables == 4) == r.Thinned {
			f.t.Errorf("scan %d of %s: thinned %t, rows in %d tables", s.ID, s.Day, r.Thinned, r.Tables)
		}
		if r.Tables > 0 {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

func (f *fixture) thinOut(today string) postgres.Thinned {
	f.t.Helper()
	thinned, err := f.ThinOut(f.t.Context(), day(today))
	if err != nil {
		f.t.Fatal(err)
	}
	return thinned
}

func (f *fixture) retain(nightly, weekly, monthly int) {
	f.t.Helper()
	r := usage.Retention{NightlyDays: nightly, WeeklyDays: weekly, MonthlyDays: monthly}
	if err := f.SetRetention(f.t.Context(), r); err != nil {
		f.t.Fatal(err)
	}
}

// small is the summary of a small scan that no other is suspicious beside.
func small() *usage.Summary {
	return summarize(cell(1, "a", "p", 100), cell(2, "b", "q", 5000), cell(2, "b", "", 1<<20))
}

func TestPartitionsGoWhenAllTheirDaysArePast(t *testing.T) {
	f := newFixture(t)
	month := f.add(at("2026-01-02"), small()) // of the month, in the partition of 2026
	week := f.add(at("2026-01-05"), small())  // of the week, in that of January
	night := f.add(at("2026-01-06"), small()) // in that of January 5 to 11
	last := f.add(at("2026-01-11"), small())
	newest := f.add(at("2028-01-01"), small())
	all := []usage.Scan{month, week, night, last, newest}
	f.retain(10, 40, 100)
	for _, step := range []struct {
		today string
		gone  int
		left  []int64
	}{
		{"2026-01-21", 0, []int64{month.ID, week.ID, night.ID, last.ID, newest.ID}}, // January 11 is 10 days ago
		{"2026-01-22", 1, []int64{month.ID, week.ID, newest.ID}},
		{"2026-03-12", 0, []int64{month.ID, week.ID, newest.ID}}, // January 31 is 40 days ago
		{"2026-03-13", 1, []int64{month.ID, newest.ID}},
		{"2027-04-10", 0, []int64{month.ID, newest.ID}}, // December 31 is 100 days ago
		{"2027-04-11", 1, []int64{newest.ID}},
		{"2040-01-01", 0, []int64{newest.ID}},
	} {
		thinned := f.thinOut(step.today)
		if diff := cmp.Diff(step.left, f.withDetails(all)); diff != "" {
			t.Errorf("on %s: %s", step.today, diff)
		}
		// Each import makes partitions of all tiers, of which most stay empty.
		if thinned.Postponed != 0 || thinned.Why != "" || thinned.Scans > 0 && thinned.Bytes == 0 || thinned.Partitions < step.gone {
			t.Errorf("on %s: %+v", step.today, thinned)
		}
	}
	for _, s := range all {
		if table := f.usage(usage.Query{ScanID: s.ID, GroupBy: usage.User, By: usage.Size, Limit: 10}); len(table.Rows) != 2 {
			t.Errorf("scan of %s has %d users left", s.Day, len(table.Rows))
		}
		bars, err := f.SizeHistogram(t.Context(), everything, s.ID, usage.Size, nil)
		if err != nil || len(bars) != 3 {
			t.Errorf("scan of %s has %d bars left, %v", s.Day, len(bars), err)
		}
		if now, err := f.Scan(t.Context(), everything, s.ID); err != nil || now.Verdict != usage.Clean || now.Totals != small().Totals {
			t.Errorf("scan of %s: %s, %+v, %v", s.Day, now.Verdict, now.Totals, err)
		}
	}
}

func TestTodayIsTheSitesDay(t *testing.T) {
	zone, err := time.LoadLocation("Pacific/Auckland")
	if err != nil {
		t.Fatal(err)
	}
	f := newFixtureIn(t, zone)
	f.add(at("2026-01-01"), small())
	f.add(at("2026-01-05"), small())
	f.add(at("2026-01-06"), small())
	f.add(at("2026-01-12"), small())
	f.retain(10, 0, 0)
	evening := time.Date(2026, 1, 20, 23, 59, 0, 0, zone)
	if thinned, err := f.ThinOut(t.Context(), evening.AddDate(0, 0, 1)); err != nil || thinned.Scans != 0 {
		t.Errorf("10 days after: %+v, %v", thinned, err)
	}
	// In UTC it is still the day before.
	if thinned, err := f.ThinOut(t.Context(), evening.AddDate(0, 0, 1).Add(time.Minute)); err != nil || thinned.Scans != 1 {
		t.Errorf("11 days after: %+v, %v", thinned, err)
	}
}

func TestTheScansThatAreShownStay(t *testing.T) {
	f := newFixture(t)
	other := f.addFileSystem("scratch")
	importInto := func(fs usage.FileSystem, date string) usage.Scan {
		req := f.request(at(date), small())
		req.FileSystemID = fs.ID
		return f.store(req)
	}
	var scans []usage.Scan
	for _, date := range []string{"2026-01-01", "2026-01-05", "2026-01-06", "2026-01-07"} {
		scans = append(scans, importInto(f.fs, date))
	}
	for _, date := range []string{"2026-01-01", "2026-01-05", "2026-01-06", "2026-02-01"} {
		scans = append(scans, importInto(other, date))
	}
	f.retain(1, 1, 1)
	f.thinOut("2030-01-01")
	// The newest of the one is the night of January 7, which keeps its week; that of
	// the other is the first of February, which keeps the months of its year.
	want := []int64{scans[0].ID, scans[2].ID, scans[3].ID, scans[4].ID, scans[6].ID, scans[7].ID}
	if diff := cmp.Diff(want, f.withDetails(scans)); diff != "" {
		t.Error(diff)
	}
	scans = append(scans, importInto(f.fs, "2029-12-01"))
	f.thinOut("2030-01-01")
	want = []int64{scans[0].ID, scans[4].ID, scans[7].ID, scans[8].ID}
	if diff := cmp.Diff(want, f.withDetails(scans)); diff != "" {
		t.Errorf("with a newer one: %s", diff)
	}
}

func TestSuspectScansGoWithTheNights(t *testing.T) {
	f := newFixture(t)
	f.add(at("2026-01-05"), random(1))
	suspect := f.add(at("2026-03-01"), summarize(cell(1, "a", "p", 1)))
	if suspect.Verdict != usage.Suspect {
		t.Fatalf("the verdict is %s", suspect.Verdict)
	}
	f.retain(10, 0, 0)
	f.thinOut("2026-03-11")
	if ids := f.withDetails([]usage.Scan{suspect}); len(ids) != 1 {
		t.Error("it went too early")
	}
	f.thinOut("2026-03-12")
	if ids := f.withDetails([]usage.Scan{suspect}); len(ids) != 0 {
		t.Error("it stays")
	}
	accepted, err := f.AcceptScan(t.Context(), everything, suspect.ID)
	if err != nil || !accepted.Thinned {
		t.Errorf("accepted afterwards: thinned %t, %v", accepted.Thinned, err)
	}
}

func TestRetentionOfZeroIsForEver(t *testing.T) {
	f := newFixture(t)
	var scans []usage.Scan
	for d := range 10 {
		scans = append(scans, f.add(at("1999-12-25").AddDate(0, 0, d), small()))
	}
	f.retain(0, 0, 0)
	if thinned := f.thinOut("9999-12-31"); thinned != (postgres.Thinned{}) || len(f.withDetails(scans)) != len(scans) {
		t.Errorf("%+v", thinned)
	}
}

// TestRandomRetention compares with the rule, said once more, in other words.
func TestRandomRetention(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 7))
			f := newFixture(t)
			systems := []usage.FileSystem{f.fs, f.addFileSystem("scratch")}
			first := day("2015-12-20").AddDate(0, 0, r.IntN(20))
			var scans []usage.Scan
			at := first.Add(time.Duration(r.IntN(86400)) * time.Second)
			for at.Before(first.AddDate(10, 0, 0)) {
				req := f.request(at, small())
				req.FileSystemID = systems[r.IntN(2)].ID
				scans = append(scans, f.store(req))
				if r.IntN(3) > 0 {
					at = at.Add(time.Duration(r.IntN(2*86400)) * time.Second)
				} else {
					at = at.AddDate(0, 0, r.IntN(180))
				}
			}
			kept := make(map[int64]bool)
			for _, s := range scans {
				kept[s.ID] = true
			}
			today := first
			for range 5 {
				days := []int{1 + r.IntN(100), 1 + r.IntN(700), 1 + r.IntN(3000)}
				slices.Sort(days)
				for i := 2; i > 0 && r.IntN(3) == 0; i-- {
					days[i] = 0
				}
				if days[1] == 0 {
					days[2] = 0
				}
				f.retain(days[0], days[1], days[2])
				today = today.AddDate(0, 0, r.IntN(1200))
				thinned, err := f.ThinOut(t.Context(), today)
				if err != nil || thinned.Postponed != 0 {
					t.Fatalf("%+v, %v", thinned, err)
				}
				f.expectKept(t, scans, days, today, kept)
			}
		})
	}
}

// expectKept takes out of kept what the rule drops, and compares with the store.
func (f *fixture) expectKept(t *testing.T, scans []usage.Scan, days []int, today time.Time, kept map[int64]bool) {
	t.Helper()
	tiers, current := f.tiers(), f.shown()
	shown := make(map[string]bool) // spans that a shown scan is in
	for _, s := range scans {
		if slices.Contains(current, s.ID) {
			shown[span(tiers[s.ID], s.Day)] = true
		}
	}
	var want []int64
	for _, s := range scans {
		last := day(s.Day)
		for span(tiers[s.ID], last.AddDate(0, 0, 1).Format(time.DateOnly)) == span(tiers[s.ID], s.Day) {
			last = last.AddDate(0, 0, 1)
		}
		limit := days[tiers[s.ID]]
		old := limit > 0 && int(today.Sub(last).Hours()/24) > limit
		if old && !shown[span(tiers[s.ID], s.Day)] {
			kept[s.ID] = false
		}
		if kept[s.ID] {
			want = append(want, s.ID)
		}
	}
	if diff := cmp.Diff(want, f.withDetails(scans)); diff != "" {
		t.Errorf("on %s with %v: %s", today.Format(time.DateOnly), days, diff)
	}
}

// tiers returns the tier of each scan.
func (f *fixture) tiers() map[int64]int64 {
	f.t.Helper()
	type row struct{ ID, Tier int64 }
	tiers := make(map[int64]int64)
	for _, r := range collect(f, pgx.RowToStructByPos[row], `SELECT id, tier FROM scan`) {
		tiers[r.ID] = r.Tier
	}
	return tiers
}

// shown returns the scans that pages show.
func (f *fixture) shown() []int64 {
	f.t.Helper()
	return collect(f, pgx.RowTo[int64], `SELECT current_scan_id FROM filesystem WHERE current_scan_id IS NOT NULL`)
}

func collect[T any](f *fixture, to pgx.RowToFunc[T], sql string) (list []T) {
	f.t.Helper()
	if err := f.withConn(func(c *pgx.Conn) error {
		rows, err := c.Query(f.t.Context(), sql)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, to)
		return err
	}); err != nil {
		f.t.Fatal(err)
	}
	return list
}

// span names the week, month or year that goes at once.
func span(tier int64, date string) string {
	d := day(date)
	year, week := d.ISOWeek()
	return fmt.Sprint(tier, []string{fmt.Sprint(year, week), d.Format("2006-01"), d.Format("2006")}[tier])
}

// TestPartitionsCoverTheCalendar is a part of case C117: every day of a century is in one partition of each
// tier, whose name leads back to it, and partitions neither overlap nor leave gaps.
func TestPartitionsCoverTheCalendar(t *testing.T) {
	for _, tier := range []postgres.Tier{postgres.Nightly, postgres.Weekly, postgres.Monthly} {
		var end time.Time
		for d := day("1970-01-01"); d.Year() < 2100; d = d.AddDate(0, 0, 1) {
			name := postgres.PartitionName(tier, d)
			got, from, to, ok := postgres.ParsePartition(name)
			if !ok || got != tier || d.Before(from) || !d.Before(to) {
				t.Fatalf("%s is in %s, which is read as tier %d from %s to %s, %t", d, name, got, from, to, ok)
			}
			if !end.IsZero() && !d.Before(end) && !from.Equal(end) {
				t.Fatalf("%s begins on %s, the one before ends on %s", name, from, end)
			}
			end = to
		}
	}
	for _, name := range []string{"", "nightly_", "nightly_2026w54", "nightly_2026w00", "weekly_2026m13", "weekly_2026m00",
		"monthly_26", "monthly_2026x", "nightly_2026w05_old", "yearly_2026"} {
		if _, _, _, ok := postgres.ParsePartition(name); ok {
			t.Errorf("%q is taken for a partition", name)
		}
	}
}

func TestThinnedScansSaySo(t *testing.T) {
	f := newFixture(t)
	old := f.add(at("2026-01-01"), small())
	f.add(at("2027-06-01"), small())
	f.retain(1, 1, 1)
	f.thinOut("2028-01-01")
	user := uint32(2)
	_, err := f.Usage(t.Context(), everything, usage.Query{
		ScanID: old.ID, GroupBy: usage.Type, By: usage.Size, Limit: 10, Filter: usage.Filter{User: &user}})
	if !errors.Is(err, usage.ErrThinned) {
		t.Errorf("filter: %v", err)
	}
	typ := "a"
	if _, err := f.SizeHistogram(t.Context(), everything, old.ID, usage.Size, &typ); !errors.Is(err, usage.ErrThinned) {
		t.Errorf("histogram of a type: %v", err)
	}
}
