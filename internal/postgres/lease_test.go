package postgres_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/postgres"
	"fstally/internal/usage"
)

// claim queues and claims a scan of the fixture's file system.
func (f *fixture) claim(owner string) usage.Scan {
	f.t.Helper()
	queued, err := f.QueueScan(f.t.Context(), f.fs.ID)
	if err != nil {
		f.t.Fatal(err)
	}
	claimed, ok, err := f.ClaimScan(f.t.Context(), owner, "")
	if err != nil || !ok || claimed.ID != queued.ID {
		f.t.Fatalf("claimed %d, %t, %v, want %d", claimed.ID, ok, err, queued.ID)
	}
	return claimed
}

// claimNext claims the scan that waits longest.
func (f *fixture) claimNext(owner string) usage.Scan {
	f.t.Helper()
	claimed, ok, err := f.ClaimScan(f.t.Context(), owner, "")
	if err != nil || !ok {
		f.t.Fatalf("claimed nothing: %v", err)
	}
	return claimed
}

func (f *fixture) scan(id int64) usage.Scan {
	f.t.Helper()
	scan, err := f.Scan(f.t.Context(), everything, id)
	if err != nil {
		f.t.Fatal(err)
	}
	return scan
}

func TestScanLife(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	if _, ok, err := f.ClaimScan(ctx, "a", ""); ok || err != nil {
		t.Fatalf("claimed from an empty queue: %t, %v", ok, err)
	}
	queued, err := f.QueueScan(ctx, f.fs.ID)
	if err != nil || queued.State != usage.Queued || queued.Attempt != 1 || !queued.Started.IsZero() || queued.Root != f.fs.Root {
		t.Fatalf("queued %+v, %v", queued, err)
	}
	_, err = f.QueueScan(ctx, f.fs.ID)
	var busy *postgres.BusyError
	if !errors.As(err, &busy) || busy.ScanID != queued.ID || !errors.Is(err, postgres.ErrBusy) {
		t.Fatalf("second QueueScan: %v, want busy with %d", err, queued.ID)
	}
	var conflict interface{ Conflict() bool }
	if !errors.As(err, &conflict) {
		t.Errorf("%v cannot be told to be a conflict", err)
	}
	running, ok, err := f.ClaimScan(ctx, "a", "")
	if err != nil || !ok || running.State != usage.Running || running.Started.IsZero() || running.Day == "" {
		t.Fatalf("claimed %+v, %t, %v", running, ok, err)
	}
	if _, err := f.QueueScan(ctx, f.fs.ID); !errors.Is(err, postgres.ErrBusy) {
		t.Errorf("QueueScan beside a running one: %v", err)
	}
	if err := f.RemoveFileSystem(ctx, f.fs.ID); !errors.Is(err, postgres.ErrBusy) {
		t.Errorf("RemoveFileSystem beside a running scan: %v", err)
	}

	progress := usage.Progress{Entries: 7, Allocated: usage.MaxBytes(), Directory: `a\xff"`, Phase: "walking"}
	if cancelled, err := f.Heartbeat(ctx, running.ID, "a", progress); cancelled || err != nil {
		t.Fatalf("heartbeat: %t, %v", cancelled, err)
	}
	if diff := cmp.Diff(progress, f.scan(running.ID).Progress, compareBytes); diff != "" {
		t.Errorf("progress: %s", diff)
	}
	if _, err := f.Heartbeat(ctx, running.ID, "b", progress); !errors.Is(err, postgres.ErrLeaseLost) {
		t.Errorf("heartbeat of a stranger: %v", err)
	}
	if err := f.EndScan(ctx, running.ID, "b", usage.Failed, ""); !errors.Is(err, postgres.ErrLeaseLost) {
		t.Errorf("end by a stranger: %v", err)
	}
	if err := f.EndScan(ctx, running.ID, "a", usage.Complete, ""); err == nil {
		t.Error("a scan can be completed without a result")
	}
	if scan, err := f.CancelScan(ctx, everything, running.ID); err != nil || scan.State != usage.Running {
		t.Fatalf("cancel of a running scan: %+v, %v", scan, err)
	}
	if cancelled, err := f.Heartbeat(ctx, running.ID, "a", progress); !cancelled || err != nil {
		t.Fatalf("heartbeat after cancel: %t, %v", cancelled, err)
	}
	if err := f.EndScan(ctx, running.ID, "a", usage.Cancelled, "by \xff\x00 request"); err != nil {
		t.Fatal(err)
	}
	if scan := f.scan(running.ID); scan.State != usage.Cancelled || scan.Reason == "" || scan.Finished.IsZero() {
		t.Errorf("ended as %+v", scan)
	}
	if _, err := f.CancelScan(ctx, everything, running.ID); !errors.Is(err, postgres.ErrEnded) {
		t.Errorf("cancel of an ended scan: %v", err)
	}
	if _, err := f.Heartbeat(ctx, running.ID, "a", progress); !errors.Is(err, postgres.ErrLeaseLost) {
		t.Errorf("heartbeat of an ended scan: %v", err)
	}

	again, err := f.QueueScan(ctx, f.fs.ID)
	if err != nil {
		t.Fatal(err)
	}
	if scan, err := f.CancelScan(ctx, everything, again.ID); err != nil || scan.State != usage.Cancelled {
		t.Errorf("cancel of a queued scan: %+v, %v", scan, err)
	}
	if _, err := f.QueueScan(ctx, 999); !errors.Is(err, usage.ErrNotFound) {
		t.Errorf("scan of an unknown file system: %v", err)
	}
}

func TestInterrupt(t *testing.T) {
	f := newFixture(t)
	scan := f.claim("a")
	leases, err := f.RunningScans(t.Context())
	if diff := cmp.Diff([]postgres.Lease{{ScanID: scan.ID, Owner: "a"}}, leases); diff != "" || err != nil {
		t.Fatalf("leases: %v %s", err, diff)
	}
	for _, owner := range []string{"b", "a", "a"} {
		if err := f.InterruptScan(t.Context(), scan.ID, owner); err != nil {
			t.Fatal(err)
		}
		if owner == "b" && f.scan(scan.ID).State != usage.Running {
			t.Error("interrupted by the lease of another owner")
		}
	}
	if got := f.scan(scan.ID); got.State != usage.Interrupted || got.Reason == "" {
		t.Errorf("interrupted: %+v", got)
	}
	if leases, err := f.RunningScans(t.Context()); len(leases) != 0 || err != nil {
		t.Errorf("leases of an interrupted scan: %v, %v", leases, err)
	}
	second := f.claimNext("c")
	if second.Attempt != 2 || !second.Occurrence.Equal(scan.Occurrence) || second.Origin != usage.ByHand {
		t.Errorf("the second attempt: %+v", second)
	}
	if err := f.EndScan(t.Context(), second.ID, "c", usage.Interrupted, "stopped"); err != nil {
		t.Fatal(err)
	}
	third := f.claimNext("d")
	if third.Attempt != 3 {
		t.Errorf("the third attempt: %+v", third)
	}
	if err := f.InterruptScan(t.Context(), third.ID, "d"); err != nil {
		t.Fatal(err)
	}
	if scan, ok, err := f.ClaimScan(t.Context(), "e", ""); ok || err != nil {
		t.Errorf("after the last attempt there is %+v, %v", scan, err)
	}
	attempts, err := f.Attempts(t.Context(), everything, second)
	var ids []int64
	for _, a := range attempts {
		ids = append(ids, a.ID)
	}
	if diff := cmp.Diff([]int64{scan.ID, second.ID, third.ID}, ids); diff != "" || err != nil {
		t.Errorf("attempts: %v %s", err, diff)
	}
	if _, err := f.Attempts(t.Context(), usage.Scope{}, second); !errors.Is(err, usage.ErrNotFound) {
		t.Errorf("attempts outside the scope: %v", err)
	}

	// What somebody asked the end of is not tried again.
	cancelled := f.claim("f")
	if _, err := f.CancelScan(t.Context(), everything, cancelled.ID); err != nil {
		t.Fatal(err)
	}
	if err := f.InterruptScan(t.Context(), cancelled.ID, "f"); err != nil {
		t.Fatal(err)
	}
	if got := f.scan(cancelled.ID); got.State != usage.Cancelled {
		t.Errorf("cancelled, and its owner is gone: %+v", got)
	}
	// A command that fails tells whoever gave it.
	command, err := f.StartScan(t.Context(), f.fs.ID, "g")
	if err != nil || command.Origin != usage.ByCommand {
		t.Fatalf("%+v, %v", command, err)
	}
	if err := f.InterruptScan(t.Context(), command.ID, "g"); err != nil {
		t.Fatal(err)
	}
	if scan, ok, err := f.ClaimScan(t.Context(), "h", ""); ok || err != nil {
		t.Errorf("after an interrupted command there is %+v, %v", scan, err)
	}
}

// A worker gets the scans of its own file systems only.
func TestClaimsOfWorkers(t *testing.T) {
	f := newFixture(t)
	bound := f.addFileSystem("bound")
	bound.Worker = "node7"
	if err := f.UpdateFileSystem(t.Context(), bound); err != nil {
		t.Fatal(err)
	}
	queued, err := f.QueueScan(t.Context(), bound.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, worker := range []string{"", "node8"} {
		if scan, ok, err := f.ClaimScan(t.Context(), "a", worker); ok || err != nil {
			t.Errorf("worker %q got %+v, %v", worker, scan, err)
		}
	}
	if scan, ok, err := f.ClaimScan(t.Context(), "a", "node7"); !ok || scan.ID != queued.ID || err != nil {
		t.Errorf("its worker got %+v, %v", scan, err)
	}
}

func TestClaimsAreExclusive(t *testing.T) { // C097
	f := newFixture(t)
	const n = 8
	for i := range n {
		if _, err := f.QueueScan(t.Context(), f.addFileSystem(fmt.Sprintf("fs%d", i)).ID); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	claimed := make(map[int64]string)
	for i := range n + 4 {
		owner := fmt.Sprint("owner", i)
		wg.Go(func() {
			scan, ok, err := f.ClaimScan(t.Context(), owner, "")
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if ok && claimed[scan.ID] != "" {
				t.Errorf("scan %d is run by %s and %s", scan.ID, claimed[scan.ID], owner)
			}
			if ok {
				claimed[scan.ID] = owner
			}
		})
	}
	wg.Wait()
	if len(claimed) != n {
		t.Errorf("%d scans claimed, want %d", len(claimed), n)
	}
}

func TestDayOfAScanIsTheSites(t *testing.T) { // C131
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	f := newFixtureIn(t, berlin)
	winter := f.add(time.Date(2026, 1, 9, 23, 30, 0, 0, time.UTC), summarize(cell(1, "c", "", 1)))
	summer := f.add(time.Date(2026, 7, 10, 21, 45, 0, 0, time.UTC), summarize(cell(1, "c", "", 1)))
	if winter.Day != "2026-01-10" || summer.Day != "2026-07-10" {
		t.Errorf("days %s and %s", winter.Day, summer.Day)
	}
	if winter.Started.Location() != time.UTC {
		t.Errorf("started at %s, want UTC", winter.Started)
	}
	h, err := f.History(t.Context(), everything, usage.HistoryQuery{
		FileSystemID: f.fs.ID, By: usage.Size, From: "2026-01-10", To: "2026-01-11"})
	if err != nil || len(h.Points) != 1 || h.Points[0].Scan.ID != winter.ID {
		t.Errorf("history of 2026-01-10: %+v, %v", h.Points, err)
	}
}
