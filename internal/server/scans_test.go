package server_test

import (
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"fstally/internal/server/storetest"
	"fstally/internal/usage"
)

func TestScans(t *testing.T) {
	store := example() // 40 nights
	suspect := store.AddScan(1, night.Add(24*time.Hour), nil)
	suspect.Verdict, suspect.Reason, suspect.Published = usage.Suspect, "nothing was found", time.Time{}
	failed := store.AddState(1, night.Add(48*time.Hour), usage.Failed)
	failed.Reason = "the root is not there"
	partial := store.AddScan(1, night.Add(4*24*time.Hour), storetest.Tree{{UID: 1, Type: "a", Files: 7200, Size: 1}})
	partial.Verdict, partial.Reason, partial.Counters.Errors = usage.Partial, "3 directories could not be read", 3
	s := open(t, store)
	doc := s.read(t, "/fs/scratch/scans", http.StatusOK)
	wantWords(t, doc,
		"suspectnothing was found", "failedthe root is not there", "partial3 directories could not be read",
		"4 days without a scan that counts", "2 h 0 min72001/s7200", "Mon 30 Nov 2026, 01:30", "times in CET")
	if n := doc.Find(".scan-list tbody tr:not(.gap)").Length(); n != 43 {
		t.Errorf("%d scans, want all 43", n)
	}
	for _, want := range []string{
		`a[href="/scans/43"]`, `form[action="/fs/scratch/scan"]`, `td[title="7,200 entries"]`,
		`a[href="/api/v1/filesystems/scratch/scans?format=csv&limit=1000"]`, `a[aria-current=page][href="/fs/scratch/scans"]`,
	} {
		if doc.Find(want).Length() == 0 {
			t.Errorf("no %s", want)
		}
	}
	if doc.Find(`a[rel=next]`).Length() != 0 {
		t.Error("there are no older scans to lead to")
	}
}

func TestScansOnPages(t *testing.T) {
	store := &storetest.Store{}
	store.Watch("many", "/many")
	for i := range 150 {
		store.AddScan(1, night.AddDate(0, 0, i), nil)
	}
	s := open(t, store)
	path, seen := "/fs/many/scans", 0
	for path != "" {
		doc := s.read(t, path, http.StatusOK)
		seen += doc.Find(".scan-list tbody tr").Length()
		path = doc.Find("a[rel=next]").AttrOr("href", "")
	}
	if seen != 150 {
		t.Errorf("the pages have %d scans, want 150", seen)
	}
	wantWords(t, s.read(t, "/fs/many/scans?before=1", http.StatusOK), "There are no older scans")
	for _, bad := range []string{"0", "-1", "x", "18446744073709551613"} {
		wantWords(t, s.read(t, "/fs/many/scans?before="+bad, http.StatusBadRequest), "before="+bad)
	}
	wantWords(t, s.read(t, "/fs/none/scans", http.StatusNotFound), "none")
}

// The scan under way stands on top, with what the one before tells of its end.
func TestRunningScanOnTop(t *testing.T) {
	store := example()
	store.AllScans[39].Counters.Entries = 24690
	running := store.AddState(1, night.Add(8*time.Hour), usage.Running)
	s := open(t, store)
	doc := s.read(t, "/fs/scratch/scans", http.StatusOK)
	wantWords(t, doc, "12,345", "50%", "about 1 h 0 min left", "some/dir", "Cancel")
	if got := doc.Find("[data-live-follow]").AttrOr("data-live", ""); got != "/scans/"+itoa(running.ID)+"/progress" {
		t.Errorf("the page follows %q", got)
	}
	if doc.Find("main form[action='/fs/scratch/scan']").Length() != 0 {
		t.Error("a second scan is offered")
	}
	wantWords(t, s.read(t, "/scans/"+itoa(running.ID), http.StatusOK), "about 1 h 0 min left", "Scans of scratch", "Scan before")
}

func TestTimingsOfAScan(t *testing.T) {
	store := example()
	store.AllScans[38].Queued = store.AllScans[38].Started.Add(-90 * time.Second)
	doc := open(t, store).read(t, "/scans/39", http.StatusOK)
	wantWords(t, doc, "Waited1 min 30 s", "Walked for2 h 0 min", "Stored in1 min 0 s", "The scan before walked for2 h 0 min")
	for _, want := range []string{"/scans/38", "/scans/40", "/fs/scratch/scans"} {
		if doc.Find(`main a[href="`+want+`"]`).Length() == 0 {
			t.Errorf("no way to %s", want)
		}
	}
}

// A suspect scan is accepted on its page, and only there is it offered.
func TestAcceptScan(t *testing.T) {
	store := example()
	suspect := store.AddScan(1, night.Add(24*time.Hour), nil)
	suspect.Verdict, suspect.Reason, suspect.Published = usage.Suspect, "nothing was found", time.Time{}
	id := strconv.FormatInt(suspect.ID, 10)
	s := open(t, store)
	form := `form[action="/scans/` + id + `/accept"]`
	if s.read(t, "/scans/"+id, http.StatusOK).Find(form).Length() != 1 {
		t.Fatal("there is no way to accept it")
	}
	if w := s.do(t, http.MethodPost, "/scans/"+id+"/accept", url.Values{}); w.Code != http.StatusSeeOther ||
		w.Header().Get("Location") != "/scans/"+id {
		t.Errorf("accepting it = %d to %s", w.Code, w.Header().Get("Location"))
	}
	doc := s.read(t, "/scans/"+id, http.StatusOK)
	wantWords(t, doc, "clean")
	if doc.Find(form).Length() != 0 {
		t.Error("it can be accepted again")
	}
	for path, status := range map[string]int{
		"/scans/" + id + "/accept": http.StatusConflict, "/scans/4711/accept": http.StatusNotFound, "/scans/x/accept": http.StatusNotFound,
	} {
		if w := s.do(t, http.MethodPost, path, url.Values{}); w.Code != status {
			t.Errorf("POST %s = %d, want %d", path, w.Code, status)
		}
	}
}
