package server_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"fstally/internal/server/storetest"
	"fstally/internal/usage"
)

func TestCapacity(t *testing.T) {
	s := open(t, example())
	doc := s.read(t, "/fs/scratch/capacity", http.StatusOK)
	wantWords(t, doc,
		"110 GiB of 200 GiB, 55.0%", "100 GiB 4 users, 3 filesets", "+30 GiB +42.9%; +1 GiB in 1 day",
		"in 3 months", "uid 4242 no account", "Mon 30 Nov 2026, 01:30", "CET", "took 2 h 0 min")
	if got := doc.Find("title").Text(); got != "Capacity · scratch · fstally" {
		t.Errorf("title = %q", got)
	}
	// The exact number stands in a title.
	if doc.Find(`[title*="107,374,182,400 bytes"]`).Length() == 0 {
		t.Error("no exact bytes of others, 107,374,182,400, in any title")
	}
	wantWords(t, s.read(t, "/fs/scratch/capacity?by=files", http.StatusOK), "+30", "Top 4 users by files")
	wantWords(t, s.read(t, "/fs/scratch/capacity?range=1y&by=size", http.StatusOK), "1y")
}

// Any earlier scan can be shown, compared with what was before it, and links
// keep it.
func TestEarlierScan(t *testing.T) {
	s := open(t, example())
	doc := s.read(t, "/fs/scratch/capacity?scan=10&by=size", http.StatusOK)
	wantWords(t, doc, "Sat 31 Oct 2026, 01:30", "latest", "+9 GiB", "+1 GiB in 1 day")
	kept := 0
	doc.Find("a[href]").Each(func(_ int, a *goquery.Selection) {
		href, _ := a.Attr("href")
		if strings.HasPrefix(href, "/fs/scratch/files") && strings.Contains(href, "scan=10") {
			kept++
		}
	})
	if kept == 0 {
		t.Error("the link to Files forgets the scan")
	}
	for _, want := range []string{"scan=9", "scan=11"} {
		if doc.Find(`a[href*="`+want+`"]`).Length() == 0 {
			t.Errorf("no link to the neighbour %s", want)
		}
	}
	w := s.get(t, "/fs/1/capacity?day=2026-11-15&by=size")
	if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != "/fs/scratch/capacity?by=size&scan=25" {
		t.Errorf("the scan of a day = %d to %q", w.Code, got)
	}
	wantWords(t, s.read(t, "/fs/scratch/capacity?day=2020-01-01", http.StatusNotFound), "no scan of scratch on or before 2020-01-01")
	// The first scan has nothing to compare with, and says so.
	wantWords(t, s.read(t, "/fs/scratch/capacity?scan=1", http.StatusOK), "61 GiB")
}

// Page and API show the same numbers, and items and others are the whole (C134).
func TestPageAndAPIAgree(t *testing.T) {
	s := open(t, many())
	var top struct {
		Items []struct {
			Key       string
			Allocated int64
		}
		Others struct{ Count, Allocated int64 }
		Total  struct{ Allocated int64 }
	}
	w := s.get(t, "/api/v1/filesystems/many/top/users?by=allocated&limit=10")
	if err := json.Unmarshal(w.Body.Bytes(), &top); err != nil {
		t.Fatal(err)
	}
	sum := top.Others.Allocated
	doc := s.read(t, "/fs/many/capacity", http.StatusOK)
	for _, item := range top.Items {
		sum += item.Allocated
		exact := usage.Allocated.Exact(usage.Measures{Allocated: usage.ByteCount(item.Allocated)})
		if doc.Find(`[title*="`+exact+`"]`).Length() == 0 {
			t.Errorf("the page has no %s of user %s", exact, item.Key)
		}
	}
	if sum != top.Total.Allocated || top.Others.Count != 5 {
		t.Errorf("items and others = %d of %d, %d others", sum, top.Total.Allocated, top.Others.Count)
	}
	wantWords(t, doc, "other 14", "5 others")
}

func TestFiles(t *testing.T) {
	s := open(t, example())
	doc := s.read(t, "/fs/scratch/files", http.StatusOK)
	wantWords(t, doc, "106 inodes", "768 MiB to 1 GiB", "mean 966 MiB", "1.9% of the files", "500 of 1000", "up to 3 KiB", "over 1 GiB")
	fine := s.read(t, "/fs/scratch/files?histogram=fine&type=txt", http.StatusOK)
	wantWords(t, fine, "txt", "6 KiB")
	if got := s.get(t, "/fs/scratch/files?type=nosuchtype").Code; got != http.StatusOK {
		t.Errorf("a type without files = %d", got)
	}
}

func TestFirstPage(t *testing.T) {
	s := open(t, &storetest.Store{})
	wantWords(t, s.read(t, "/", http.StatusOK), "No file system yet")

	store := &storetest.Store{}
	fs := store.Watch("fresh", "/fresh")
	s = open(t, store)
	wantWords(t, s.read(t, "/", http.StatusOK), "fresh", "not scanned yet")
	wantWords(t, s.read(t, "/fs/fresh/capacity", http.StatusOK), "First scan")
	wantWords(t, s.read(t, "/fs/fresh/files", http.StatusOK), "First scan")

	store.AddState(fs, night, usage.Running)
	wantWords(t, s.read(t, "/", http.StatusOK), "12,345", "some/dir")
	store.AllScans[0].State = usage.Failed
	wantWords(t, s.read(t, "/fs/fresh/capacity", http.StatusOK), "did not give numbers", "Scan now")

	store.AddScan(store.Watch("done", "/done"), night, nil)
	wantWords(t, s.read(t, "/", http.StatusOK), "Overview", "done", "fresh")
	if w := s.get(t, "/fs/done"); w.Header().Get("Location") != "/fs/done/capacity" {
		t.Errorf("/fs/done leads to %q", w.Header().Get("Location"))
	}
}

func TestScanStates(t *testing.T) {
	store := example()
	running := store.AddState(1, night.Add(8*time.Hour), usage.Running)
	s := open(t, store)
	id := strconv.FormatInt(running.ID, 10)
	doc := s.read(t, "/scans/"+id, http.StatusOK)
	wantWords(t, doc, "12,345", "some/dir", "Cancel")
	// The capacity page tells of it, and leads there.
	doc = s.read(t, "/fs/scratch/capacity", http.StatusOK)
	if doc.Find(`a[href="/scans/`+id+`"]`).Length() == 0 {
		t.Error("the capacity page does not lead to the running scan")
	}
	var live struct {
		State string
		Ended bool
		Texts map[string]string
	}
	w := s.get(t, "/scans/"+id+"/progress")
	if err := json.Unmarshal(w.Body.Bytes(), &live); err != nil || live.State != "running" || live.Ended || live.Texts["entries"] != "12,345" {
		t.Errorf("progress = %s, %v", w.Body, err)
	}

	// What has no numbers leads to what is known of it.
	if w := s.get(t, "/fs/scratch/capacity?scan="+id); w.Header().Get("Location") != "/scans/"+id {
		t.Errorf("the numbers of a running scan = %d to %q", w.Code, w.Header().Get("Location"))
	}
	for _, state := range []usage.ScanState{usage.Queued, usage.Failed, usage.Cancelled, usage.Interrupted} {
		store.AllScans[running.ID-1].State = state
		store.AllScans[running.ID-1].Reason = "because of " + string(state)
		wantWords(t, s.read(t, "/scans/"+id, http.StatusOK), string(state), "because of "+string(state))
	}

	partial := store.AddScan(1, night.Add(24*time.Hour), storetest.Tree{{UID: 1, Type: "a", Files: 1, Size: 1}})
	partial.Verdict, partial.Reason = usage.Partial, "3 directories could not be read"
	store.Content[partial.ID].Errors = []usage.ScanError{{
		Op: "open", Errno: "EACCES", Message: "permission denied", Count: 3, Paths: []string{"secret/a"},
	}}
	wantWords(t, s.read(t, "/fs/scratch/capacity", http.StatusOK), "partial")
	wantWords(t, s.read(t, "/scans/"+strconv.FormatInt(partial.ID, 10), http.StatusOK), "EACCES", "secret/a", "could not be read")

	suspect := store.AddScan(1, night.Add(48*time.Hour), nil)
	suspect.Verdict, suspect.Reason = usage.Suspect, "nothing found where there was something"
	store.Systems[0].CurrentScanID = partial.ID
	doc = s.read(t, "/fs/scratch/capacity?scan="+strconv.FormatInt(suspect.ID, 10), http.StatusOK)
	wantWords(t, doc, "suspect")
}

func TestStartAndCancel(t *testing.T) {
	s := open(t, example())
	w := s.do(t, http.MethodPost, "/fs/scratch/scan", url.Values{})
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/scans/41" {
		t.Fatalf("start = %d to %q", w.Code, w.Header().Get("Location"))
	}
	w = s.do(t, http.MethodPost, "/fs/scratch/scan", url.Values{})
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/scans/41" || len(s.store.Queued) != 1 {
		t.Errorf("second start = %d to %q, queued %v", w.Code, w.Header().Get("Location"), s.store.Queued)
	}
	w = s.do(t, http.MethodPost, "/scans/41/cancel", url.Values{})
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/scans/41" {
		t.Errorf("cancel = %d to %q", w.Code, w.Header().Get("Location"))
	}
	if w = s.do(t, http.MethodPost, "/scans/41/cancel", url.Values{}); w.Code != http.StatusConflict {
		t.Errorf("second cancel = %d", w.Code)
	}
	for _, path := range []string{"/fs/none/scan", "/scans/99/cancel", "/scans/x/cancel"} {
		if w := s.do(t, http.MethodPost, path, url.Values{}); w.Code != http.StatusNotFound {
			t.Errorf("POST %s = %d", path, w.Code)
		}
	}
}

// C128: nothing, no files, and files without bytes have pages without NaN.
func TestNothing(t *testing.T) {
	store := &storetest.Store{}
	store.Watch("fresh", "/fresh")
	store.AddScan(store.Watch("empty", "/empty"), night, nil)
	store.AddScan(store.Watch("zero", "/zero"), night, storetest.Tree{{UID: 1, Type: "txt", Files: 10}})
	full := store.AddScan(store.Watch("full", "/full"), night, storetest.Tree{{UID: 1, Type: "txt", Files: 1, Size: 4096}})
	full.Capacity = usage.Capacity{Size: usage.ByteCount(4096)}
	odd := store.AddScan(store.Watch("odd", "/odd"), night, storetest.Tree{{UID: 1, Type: "txt", Files: 1, Size: 1 << 20}})
	odd.Capacity = usage.Capacity{Size: usage.ByteCount(1 << 20), Free: usage.ByteCount(1 << 19), InodesTotal: -1}
	s := open(t, store)
	for _, fs := range []string{"fresh", "empty", "zero", "full", "odd"} {
		for _, path := range []string{
			"/capacity", "/capacity?by=size", "/capacity?by=files", "/capacity?range=1y",
			"/files", "/files?histogram=fine", "/files?type=txt",
		} {
			w := s.get(t, "/fs/"+fs+path)
			body := w.Body.String()
			if w.Code != http.StatusOK {
				t.Errorf("%s%s = %d", fs, path, w.Code)
			}
			for _, bad := range []string{"NaN", "Inf", "null%", "%!"} {
				if strings.Contains(body, bad) {
					t.Errorf("%s%s has %q", fs, path, bad)
				}
			}
		}
	}
	wantWords(t, s.read(t, "/fs/zero/files", http.StatusOK), "10 inodes", "100.0% of the files")
}

// C131: a scan is shown with the day that it has in the site's zone.
func TestDaysAreThoseOfTheSite(t *testing.T) {
	store := &storetest.Store{}
	fs := store.Watch("fs", "/fs")
	started := time.Date(2026, 1, 10, 0, 30, 0, 0, zone)
	store.AddScan(fs, started, nil)
	store.AllScans[0].Started = started.UTC() // 23:30 of the day before
	wantWords(t, open(t, store).read(t, "/fs/fs/capacity", http.StatusOK), "Sat 10 Jan 2026, 00:30")
}

func TestBadAddresses(t *testing.T) {
	s := open(t, example())
	for _, tc := range []struct {
		path, says string
		status     int
	}{
		{"/nothing", "/nothing", 404},
		{"/fs/none/capacity", "none", 404},
		{"/fs/99/capacity", "99", 404},
		{"/fs/99999999999999999999/files", "99999999999999999999", 404},
		{"/fs/%00/capacity", `\x00`, 404},
		{"/fs/%ff/files", `\xff`, 404},
		{"/fs/a%2fb/files", "a/b", 404},
		{"/fs/scratch/capacity?scan=99", "scan 99", 404},
		{"/fs/scratch/capacity?scan=-1", "scan=-1", 400},
		{"/fs/scratch/capacity?scan=abc", "scan=abc", 400},
		{"/fs/scratch/capacity?scan=18446744073709551613", "scan=18446744073709551613", 400},
		{"/fs/scratch/capacity?by=money", "by=money", 400},
		{"/fs/scratch/capacity?range=9y", "range=9y", 400},
		{"/fs/scratch/capacity?day=yesterday", "day=yesterday", 400},
		{"/fs/scratch/files?histogram=round", "histogram=round", 400},
		{"/fs/scratch/files?type=%00", `type=\x00`, 400},
		{"/scans/99", "scan 99", 404},
		{"/scans/-1", "scan -1", 404},
		{"/scans/0x10", "scan 0x10", 404},
		{"/scans/18446744073709551613", "18446744073709551613", 404},
		{"/scans/99/progress", "scan 99", 404},
	} {
		wantWords(t, s.read(t, tc.path, tc.status), tc.says)
	}
}
