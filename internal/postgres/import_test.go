package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/postgres"
	"fstally/internal/usage"
)

// current is the id of the scan that readers see.
func (f *fixture) current() int64 {
	f.t.Helper()
	fs, err := f.FileSystem(f.t.Context(), everything, f.fs.Name)
	if err != nil {
		f.t.Fatal(err)
	}
	return fs.CurrentScanID
}

// stored counts all rows that belong to a scan.
func (f *fixture) stored(scanID int64) (n int64) {
	f.t.Helper()
	for _, table := range []string{"usage", "marginal", "size_histogram", "size_total", "age_histogram", "directory", "scan_error", "scan_skipped"} {
		n += f.count("SELECT count(*) FROM "+table+" WHERE scan_id = $1", scanID)
	}
	return n
}

func TestImportKeepsEverything(t *testing.T) {
	f := newFixture(t)
	s := random(3)
	s.Counters = usage.Counters{Entries: 9, Links: 8, Directories: 7, Symlinks: 6, Specials: 5, Vanished: 4, Errors: 3, Skipped: 2}
	s.Errors = []usage.ScanError{{Op: "open", Errno: "EACCES", Message: "permission denied", Count: 3, Paths: []string{"a\xff", "b\nc"}}}
	s.Skipped = []usage.Skipped{{Reason: usage.SkipMount, Count: 2, Paths: []string{"proc"}}, {Reason: usage.SkipSnapshot}}
	req := f.request(at("2026-03-01"), s)
	req.Meta.Root, req.Meta.Identity, req.Meta.Freshness = "/srv/h\xff", "server:/ex\xfe", "exact"
	req.Meta.Walkers, req.Meta.OpsLimit, req.Meta.Offline = 4, 5000, true
	req.Meta.Capacity = usage.Capacity{Size: usage.MaxBytes(), Free: usage.ByteCount(3), Available: usage.ByteCount(2),
		InodesTotal: 10, InodesFree: 4, BlockSize: 4096, Source: "statfs"}
	scan := f.store(req)
	want := usage.Scan{
		ID: scan.ID, FileSystemID: f.fs.ID, Origin: usage.ByImport, Attempt: 1,
		State: usage.Complete, Verdict: usage.Partial, Reason: scan.Reason,
		Day: "2026-03-01", Queued: req.Meta.Started, Started: req.Meta.Started, Finished: req.Meta.Finished, Published: scan.Published,
		Totals: s.Totals, Counters: s.Counters, Capacity: req.Meta.Capacity, SizeClasses: req.Meta.SizeClasses,
		Root: req.Meta.Root, Identity: req.Meta.Identity, FSType: "xfs", Engine: "test", Walkers: 4, OpsLimit: 5000,
		Host: "node1", Freshness: "exact", Offline: true, Distinct: scan.Distinct,
	}
	if diff := cmp.Diff(want, scan, compareBytes); diff != "" || scan.Published.IsZero() {
		t.Errorf("scan (-want +got):\n%s", diff)
	}
	failures, skipped, err := f.ScanProblems(t.Context(), everything, scan.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.Errors, failures, compareBytes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(s.Skipped, skipped, compareBytes); diff != "" {
		t.Error(diff)
	}
	fs, err := f.FileSystem(t.Context(), everything, fmt.Sprint(f.fs.ID))
	if err != nil || fs.CurrentScanID != scan.ID || fs.Type != "xfs" || fs.Identity != req.Meta.Identity {
		t.Errorf("file system %+v, %v", fs, err)
	}
	if n := f.count(`SELECT count(*) FROM directory WHERE scan_id = $1`, scan.ID); n != int64(len(s.Directories)) {
		t.Errorf("%d directories, want %d", n, len(s.Directories))
	}
	f.add(at("2026-03-02"), random(3))
	if n := f.count(`SELECT count(*) FROM path`); n != int64(len(s.Directories)) {
		t.Errorf("%d paths after a second scan, want the same %d", n, len(s.Directories))
	}
}

func TestImportOfAClaimedScan(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	scan := f.claim("a")
	req := f.request(at("2026-03-01"), random(1))
	req.ScanID, req.Owner = scan.ID, "b"
	if _, err := f.Import(ctx, req); !errors.Is(err, postgres.ErrLeaseLost) {
		t.Fatalf("import by a stranger: %v", err)
	}
	req.Owner = "a"
	if got := f.store(req); got.ID != scan.ID || got.State != usage.Complete || f.current() != scan.ID {
		t.Errorf("imported as %+v", got)
	}
	_, err := f.Import(ctx, req)
	var done *postgres.ImportedError
	if !errors.As(err, &done) || done.Scan.ID != scan.ID || !errors.Is(err, postgres.ErrImported) {
		t.Errorf("second import: %v", err)
	}
	other := f.request(at("2026-03-01"), random(2))
	other.ScanID, other.Owner = scan.ID, "a"
	if _, err := f.Import(ctx, other); !errors.Is(err, postgres.ErrEnded) {
		t.Errorf("another result of a published scan: %v", err)
	}

	// A spooled result completes the scan of an owner that was killed.
	killed := f.claim("c")
	if err := f.InterruptScan(ctx, killed.ID, "c"); err != nil {
		t.Fatal(err)
	}
	second := f.claimNext("d") // a new attempt runs meanwhile
	late := f.request(at("2026-03-02"), random(1))
	late.ScanID, late.Owner = killed.ID, "anyone"
	if got := f.store(late); got.ID != killed.ID || got.State != usage.Complete || f.current() != killed.ID {
		t.Errorf("late result: %+v", got)
	}
	if cancelled, err := f.Heartbeat(ctx, second.ID, "d", usage.Progress{}); !cancelled || err != nil {
		t.Errorf("the new attempt goes on: %t, %v", cancelled, err)
	}

	for name, change := range map[string]func(*postgres.ImportRequest){
		"unknown scan":        func(r *postgres.ImportRequest) { r.ScanID = 999 },
		"unknown file system": func(r *postgres.ImportRequest) { r.FileSystemID = 999 },
		"scan of another":     func(r *postgres.ImportRequest) { r.FileSystemID, r.ScanID = f.addFileSystem("other").ID, scan.ID },
	} {
		bad := f.request(at("2026-03-01"), random(4))
		change(&bad)
		if _, err := f.Import(ctx, bad); !errors.Is(err, usage.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDamagedResultsAreRefused(t *testing.T) {
	f := newFixture(t)
	for name, damage := range map[string]func(*usage.Meta, *usage.Summary){
		"no id":             func(m *usage.Meta, _ *usage.Summary) { m.ResultID = "" },
		"no start":          func(m *usage.Meta, _ *usage.Summary) { m.Started = time.Time{} },
		"no classes":        func(m *usage.Meta, _ *usage.Summary) { m.SizeClasses = usage.SizeClasses{} },
		"a cell less":       func(_ *usage.Meta, s *usage.Summary) { s.Cells = s.Cells[1:] },
		"not in preorder":   func(_ *usage.Meta, s *usage.Summary) { s.Directories[1].Parent = 2 },
		"two roots":         func(_ *usage.Meta, s *usage.Summary) { s.Directories[1].Parent = -1 },
		"a subtree too far": func(_ *usage.Meta, s *usage.Summary) { s.Directories[0].Last = 1000 },
	} {
		req := f.request(at("2026-03-01"), random(1))
		damage(req.Meta, req.Summary)
		if _, err := f.Import(t.Context(), req); err == nil {
			t.Errorf("%s: imported", name)
		}
	}
	if n := f.count(`SELECT count(*) FROM scan`); n != 0 {
		t.Errorf("%d scans of damaged results", n)
	}
}

func TestTwoImportsOfOneResult(t *testing.T) {
	f := newFixture(t)
	req := f.request(at("2026-03-01"), random(1))
	other := req
	other.FileSystemID = f.addFileSystem("other").ID
	var wg sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		wg.Go(func() {
			r := req
			if i%3 == 2 {
				r = other
			}
			_, errs[i] = f.Import(t.Context(), r)
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, postgres.ErrImported):
			t.Errorf("an import that lost: %v", err)
		}
	}
	if n := f.count(`SELECT count(*) FROM scan`); won != 1 || n != 1 {
		t.Errorf("%d imports won, %d scans, want 1", won, n)
	}
}

// TestReadersDuringAnImport stops an import in the middle: readers see the scan
// before. What then becomes of the import decides what they see next.
func TestReadersDuringAnImport(t *testing.T) {
	type stopped struct {
		*fixture
		cancel  context.CancelFunc
		backend int32 // of the import
		release func()
	}
	for name, tc := range map[string]struct {
		end     func(stopped)
		visible bool
	}{
		"it goes on":             {func(s stopped) { s.release() }, true},
		"it is cancelled":        {func(s stopped) { s.cancel() }, false},
		"its connection is lost": {func(s stopped) { s.sql(`SELECT pg_terminate_backend($1)`, s.backend) }, false},
		"the scan is interrupted": {func(s stopped) {
			s.sql(`UPDATE scan SET state = 'interrupted', owner = NULL WHERE owner = 'a'`)
			s.release()
		}, true},
		"the scan is taken over": {func(s stopped) { s.sql(`UPDATE scan SET owner = 'b' WHERE owner = 'a'`); s.release() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			old := f.add(at("2026-03-01"), random(1))
			running := f.claim("a")

			// The import waits for this lock after it has copied the cube.
			blocker := connect(t, f.url)
			if _, err := blocker.Exec(t.Context(), `BEGIN; LOCK TABLE scan_error IN EXCLUSIVE MODE`); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			req := f.request(at("2026-03-02"), random(2))
			req.Summary.Errors = []usage.ScanError{{Op: "stat", Errno: "EIO", Count: 1}}
			req.ScanID, req.Owner = running.ID, "a"
			done := make(chan error, 1)
			go func() {
				_, err := f.Import(ctx, req)
				done <- err
			}()
			s := stopped{f, cancel, f.awaitBlocked(done), func() {
				if _, err := blocker.Exec(t.Context(), `COMMIT`); err != nil {
					t.Error(err)
				}
			}}

			if f.current() != old.ID || f.stored(running.ID) != 0 {
				t.Errorf("current is %d, want %d; rows of the running import are visible: %d", f.current(), old.ID, f.stored(running.ID))
			}
			if _, err := f.Usage(t.Context(), everything, usage.Query{ScanID: running.ID, GroupBy: usage.User, By: usage.Size, Limit: 1}); !errors.Is(err, usage.ErrNotFound) {
				t.Errorf("numbers of a running scan: %v", err)
			}
			if got := nameless(f.usage(usage.Query{ScanID: old.ID, GroupBy: usage.User, By: usage.Size, Limit: 100})); got.Total != old.Totals {
				t.Errorf("the scan before reads %+v", got.Total)
			}
			if _, err := f.Heartbeat(t.Context(), running.ID, "a", usage.Progress{Phase: "importing"}); err != nil {
				t.Errorf("the lease cannot be renewed during an import: %v", err)
			}

			tc.end(s)
			err := <-done
			s.release() // no harm if it is free
			if (err == nil) != tc.visible {
				t.Fatalf("import: %v, want success %t", err, tc.visible)
			}
			want := old.ID
			if tc.visible {
				want = running.ID
			}
			if f.current() != want || (f.stored(running.ID) > 0) != tc.visible {
				t.Errorf("current is %d, want %d; rows of the new scan: %d", f.current(), want, f.stored(running.ID))
			}
			if !tc.visible { // the result is not lost
				f.sql(`UPDATE scan SET owner = 'a' WHERE state = 'running'`)
				f.store(req)
			}
		})
	}
}

// awaitBlocked waits until the import waits for a lock on a table and returns
// its backend.
func (f *fixture) awaitBlocked(done <-chan error) (pid int32) {
	f.t.Helper()
	conn := connect(f.t, f.url)
	const sql = `SELECT COALESCE(max(pid), 0) FROM pg_locks
		WHERE NOT granted AND locktype = 'relation' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
	for {
		select {
		case err := <-done:
			f.t.Fatalf("the import ended: %v", err)
		default:
		}
		if err := conn.QueryRow(f.t.Context(), sql).Scan(&pid); err != nil {
			f.t.Fatal(err)
		}
		if pid != 0 {
			return pid
		}
	}
}

func TestSuspectAndOlderScansDoNotBecomeCurrent(t *testing.T) {
	f := newFixture(t)
	first := f.add(at("2026-03-10"), random(1))
	few := summarize(cell(1, "c", "", 1))
	suspect := f.add(at("2026-03-11"), few)
	if suspect.Verdict != usage.Suspect || suspect.Reason == "" || !suspect.Published.IsZero() || f.current() != first.ID {
		t.Errorf("suspect: %+v; current %d", suspect, f.current())
	}
	if got := f.usage(usage.Query{ScanID: suspect.ID, GroupBy: usage.User, By: usage.Size, Limit: 1}); got.Total != few.Totals {
		t.Errorf("a suspect scan cannot be opened: %+v", got)
	}
	older := f.add(at("2026-03-09"), random(1))
	if older.Published.IsZero() || f.current() != first.ID {
		t.Errorf("an older result: %+v; current %d, want %d", older, f.current(), first.ID)
	}
	f.add(at("2026-03-12"), few)
	accepted := f.add(at("2026-03-13"), few)
	if accepted.Verdict != usage.Clean || f.current() != accepted.ID {
		t.Errorf("the third of its kind: %+v", accepted)
	}

	prev, next, err := f.Neighbours(t.Context(), everything, first)
	if err != nil || prev != older.ID || next != accepted.ID {
		t.Errorf("neighbours of %d: %d, %d, %v", first.ID, prev, next, err)
	}
	prev, next, err = f.Neighbours(t.Context(), everything, suspect)
	if err != nil || prev != first.ID || next != accepted.ID {
		t.Errorf("neighbours of the suspect one: %d, %d, %v", prev, next, err)
	}
	before, err := f.ScanBefore(t.Context(), everything, f.fs.ID, at("2026-03-12"))
	if err != nil || before.ID != first.ID {
		t.Errorf("the scan of 2026-03-12: %d, %v, want %d", before.ID, err, first.ID)
	}
	if _, err := f.ScanBefore(t.Context(), everything, f.fs.ID, at("2026-03-01")); !errors.Is(err, usage.ErrNotFound) {
		t.Errorf("a scan before the first: %v", err)
	}
}

func TestOneResultPerOccurrence(t *testing.T) {
	f := newFixture(t)
	first := f.claim("a")
	if err := f.InterruptScan(t.Context(), first.ID, "a"); err != nil {
		t.Fatal(err)
	}
	second := f.claimNext("b")
	req := f.request(at("2026-03-01"), random(1))
	req.ScanID, req.Owner = second.ID, "b"
	f.store(req)
	late := f.request(at("2026-03-01").Add(time.Hour), random(1))
	late.ScanID, late.Owner = first.ID, "a"
	if _, err := f.Import(t.Context(), late); !errors.Is(err, postgres.ErrEnded) {
		t.Errorf("a late result of the occurrence: %v", err)
	}
	if f.current() != second.ID || f.stored(first.ID) != 0 {
		t.Error("the late result is visible")
	}
}
