package postgres_test

import (
	"errors"
	"testing"

	"fstally/internal/postgres"
	"fstally/internal/usage"
)

// A suspect scan that is accepted counts as any other, from then on.
func TestAcceptScan(t *testing.T) {
	f := newFixture(t)
	many, few := random(1), summarize(cell(1, "c", "", 1))
	first := f.add(at("2026-03-10"), many)
	suspect := f.add(at("2026-03-11"), few)
	if suspect.Verdict != usage.Suspect {
		t.Fatalf("the scan is %s", suspect.Verdict)
	}
	if _, err := f.AcceptScan(t.Context(), usage.OnlyFileSystems(f.fs.ID+1), suspect.ID); !errors.Is(err, usage.ErrNotFound) {
		t.Errorf("outside of the scope: %v", err)
	}
	got, err := f.AcceptScan(t.Context(), everything, suspect.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.Verdict != usage.Clean || got.Published.IsZero() || got.Reason == suspect.Reason || f.current() != suspect.ID {
		t.Errorf("accepted: %+v; current %d", got, f.current())
	}
	history, err := f.History(t.Context(), everything, usage.HistoryQuery{FileSystemID: f.fs.ID, By: usage.Files})
	if err != nil || len(history.Points) != 2 || history.Points[1].Total != few.Totals {
		t.Errorf("the history has %d points: %v", len(history.Points), err)
	}
	for _, id := range []int64{first.ID, suspect.ID} {
		if _, err := f.AcceptScan(t.Context(), everything, id); !errors.Is(err, postgres.ErrNotSuspect) {
			t.Errorf("scan %d again: %v", id, err)
		}
	}
	// The next one is held against it.
	next := f.add(at("2026-03-12"), few)
	if next.Verdict != usage.Clean || f.current() != next.ID {
		t.Errorf("the next night is %s", next.Verdict)
	}
}

// One that was accepted late does not hide what came after it.
func TestAcceptOlderScan(t *testing.T) {
	f := newFixture(t)
	many, few := random(1), summarize(cell(1, "c", "", 1))
	f.add(at("2026-03-10"), many)
	suspect := f.add(at("2026-03-11"), few)
	newest := f.add(at("2026-03-12"), many)
	if _, err := f.AcceptScan(t.Context(), everything, suspect.ID); err != nil {
		t.Fatal(err)
	}
	if f.current() != newest.ID {
		t.Errorf("the current scan is %d, want %d", f.current(), newest.ID)
	}
}
