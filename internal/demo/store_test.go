package demo_test

import (
	"testing"
	"time"

	"fstally/internal/demo"
	"fstally/internal/postgres"
	"fstally/internal/usage"
	"fstally/test/postgrestest"
)

// TestInTheStore fills a real store and reads it as pages do.
func TestInTheStore(t *testing.T) {
	store, err := postgres.Open(t.Context(), postgrestest.New(t), postgres.Options{AsyncCommit: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	calls := 0
	var last [2]int
	o := small()
	if err := demo.Fill(t.Context(), store, o, func(done, total int) { calls, last = calls+1, [2]int{done, total} }); err != nil {
		t.Fatal(err)
	}
	if want := 2 * nights; calls != want || last != [2]int{want, want} {
		t.Errorf("%d calls of progress, at last %v, want %d", calls, last, want)
	}
	if err := store.Settle(t.Context()); err != nil {
		t.Error(err)
	}
	systems, err := store.FileSystems(t.Context(), usage.Everything())
	if err != nil || len(systems) != 2 {
		t.Fatalf("%d file systems, %v", len(systems), err)
	}
	for _, fs := range systems {
		if !fs.Demo {
			t.Errorf("%s is not marked as invented", fs.Name)
		}
		scans, err := store.Scans(t.Context(), usage.Everything(), fs.ID, 2*nights, 0)
		if err != nil || len(scans) != nights-gap {
			t.Fatalf("%s: %d scans, %v", fs.Name, len(scans), err)
		}
		verdicts := make(map[usage.Verdict]int)
		for _, scan := range scans {
			verdicts[scan.Verdict]++
			checkScan(t, store, fs, scan)
		}
		want := map[string]map[usage.Verdict]int{
			"scratch":  {usage.Clean: nights - gap - 1, usage.Suspect: 1},
			"projects": {usage.Clean: nights - gap - 1, usage.Partial: 1},
		}[fs.Name]
		for v, n := range want {
			if verdicts[v] != n {
				t.Errorf("%s: verdicts %v, want %v", fs.Name, verdicts, want)
			}
		}
		checkHistory(t, store, fs, verdicts[usage.Suspect])
		newest := scans[0]
		if fs.CurrentScanID != newest.ID || newest.Day != "2026-07-01" {
			t.Errorf("%s: the current scan is %d, the newest %d of %s", fs.Name, fs.CurrentScanID, newest.ID, newest.Day)
		}
		failures, skipped, err := store.ScanProblems(t.Context(), usage.Everything(), newest.ID)
		if err != nil || len(failures) != 0 || len(skipped) == 0 {
			t.Errorf("%s: %d errors and %d reasons to skip, %v", fs.Name, len(failures), len(skipped), err)
		}
	}
	if err := demo.Fill(t.Context(), store, o, func(int, int) {}); err == nil {
		t.Error("a store is filled twice")
	}
}

func checkScan(t *testing.T, store *postgres.Store, fs usage.FileSystem, scan usage.Scan) {
	t.Helper()
	for _, d := range usage.AllDimensions() {
		table, err := store.Usage(t.Context(), usage.Everything(), usage.Query{ScanID: scan.ID, GroupBy: d, By: usage.Size, Limit: 1})
		if err != nil || table.Total != scan.Totals {
			t.Errorf("%s on %s by %s: %v, want %v (%v)", fs.Name, scan.Day, d, table.Total, scan.Totals, err)
		}
	}
	bars, err := store.SizeHistogram(t.Context(), usage.Everything(), scan.ID, usage.Size, nil)
	var files int64
	for _, b := range bars {
		files += b.Files
	}
	if err != nil || files != scan.Totals.Files {
		t.Errorf("%s on %s: the histogram has %d files of %d, %v", fs.Name, scan.Day, files, scan.Totals.Files, err)
	}
	if (scan.Counters.Errors > 0) != (scan.Verdict == usage.Partial) {
		t.Errorf("%s on %s is %s with %d errors", fs.Name, scan.Day, scan.Verdict, scan.Counters.Errors)
	}
}

// checkHistory looks for the week without scans, and for zeros, which there are
// none.
func checkHistory(t *testing.T, store *postgres.Store, fs usage.FileSystem, suspects int) {
	t.Helper()
	h, err := store.History(t.Context(), usage.Everything(), usage.HistoryQuery{FileSystemID: fs.ID, By: usage.Allocated})
	if err != nil || len(h.Points) != nights-gap-suspects {
		t.Fatalf("%s: %d points of history, %v", fs.Name, len(h.Points), err)
	}
	longest := time.Duration(0)
	for i, p := range h.Points {
		if p.Total.Allocated.IsZero() {
			t.Errorf("%s on %s: a zero", fs.Name, p.Scan.Day)
		}
		if i > 0 {
			longest = max(longest, p.Scan.Started.Sub(h.Points[i-1].Scan.Started).Round(time.Hour))
		}
	}
	if want := (gap + 1) * 24 * time.Hour; longest != want {
		t.Errorf("%s: the longest gap is %s, want %s", fs.Name, longest, want)
	}
}
