package postgres_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/postgres"
	"fstally/internal/usage"
)

// TestOldScansAreStoredWithoutDetails imports four nights as of a time when
// nightly details are gone and weekly ones are kept.
func TestOldScansAreStoredWithoutDetails(t *testing.T) {
	f := newFixture(t)
	var scans []usage.Scan
	for _, day := range []string{"2026-01-30", "2026-01-31", "2026-02-02", "2026-02-09", "2026-02-10"} {
		req := f.request(at(day), random(3))
		req.DetailFrom = postgres.Weekly
		scans = append(scans, f.store(req))
	}
	var thinned []bool
	for _, s := range scans {
		thinned = append(thinned, s.Thinned)
	}
	// The first of January and of February, and the first of the second week.
	if diff := cmp.Diff([]bool{false, true, false, false, true}, thinned); diff != "" {
		t.Fatalf("which are thinned: %s", diff)
	}
	if n := f.count(`SELECT count(*) FROM pg_class WHERE relname LIKE 'usage_nightly%'`); n != 0 {
		t.Errorf("%d partitions were made for nights that nobody keeps", n)
	}
	kept, old := scans[0], scans[1]
	for _, d := range usage.AllDimensions() {
		q := usage.Query{GroupBy: d, By: usage.Size, Limit: 1000}
		want := f.usage(usage.Query{ScanID: kept.ID, GroupBy: q.GroupBy, By: q.By, Limit: q.Limit})
		q.ScanID = old.ID
		if diff := cmp.Diff(want, f.usage(q)); diff != "" {
			t.Errorf("marginals by %s: %s", d, diff)
		}
	}
	bars, err := f.SizeHistogram(t.Context(), everything, old.ID, usage.Size, nil)
	if err != nil || len(bars) == 0 {
		t.Errorf("histogram of a thinned scan: %d bars, %v", len(bars), err)
	}
	if h := f.history(usage.HistoryQuery{By: usage.Size, GroupBy: usage.User, Top: 3}); len(h.Points) != len(scans) {
		t.Errorf("%d points of history, want %d", len(h.Points), len(scans))
	}

	user, typ := uint32(1007), "t1"
	filtered := usage.Query{ScanID: old.ID, GroupBy: usage.Type, By: usage.Size, Limit: 10, Filter: usage.Filter{User: &user}}
	_, err = f.Usage(t.Context(), everything, filtered)
	if !errors.Is(err, usage.ErrThinned) || !errors.Is(err, usage.ErrNotFound) {
		t.Errorf("filter on a thinned scan: %v", err)
	}
	if _, err = f.SizeHistogram(t.Context(), everything, old.ID, usage.Size, &typ); !errors.Is(err, usage.ErrThinned) {
		t.Errorf("histogram of one type of a thinned scan: %v", err)
	}
	filtered.ScanID = kept.ID
	if table := f.usage(filtered); len(table.Rows) == 0 {
		t.Error("filter on a kept scan: no rows")
	}
	if _, err = f.Usage(t.Context(), usage.OnlyFileSystems(), filtered); errors.Is(err, usage.ErrThinned) || !errors.Is(err, usage.ErrNotFound) {
		t.Errorf("filter outside of the scope: %v", err)
	}
}

func TestSuspectScansKeepDetailsOnlyWhereAllDo(t *testing.T) {
	f := newFixture(t)
	f.add(at("2026-01-01"), random(1))
	empty := summarize(cell(1, "a", "", 1))
	for least, want := range map[postgres.Tier]bool{postgres.Nightly: false, postgres.Weekly: true, postgres.Monthly: true} {
		req := f.request(at("2026-03-01"), empty)
		req.DetailFrom = least
		if scan := f.store(req); scan.Verdict != usage.Suspect || scan.Thinned != want {
			t.Errorf("details from tier %d: %s, thinned %t, want %t", least, scan.Verdict, scan.Thinned, want)
		}
	}
	req := f.request(at("2026-03-01"), empty)
	req.DetailFrom = 3
	if _, err := f.Import(t.Context(), req); err == nil {
		t.Error("a tier that does not exist is taken")
	}
}
