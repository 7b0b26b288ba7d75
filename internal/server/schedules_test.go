package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/server/storetest"
	"fstally/internal/usage"
)

// planned is the example with a schedule and a file system without one.
func planned() *storetest.Store {
	store := example()
	store.Watch("home", "/home")
	store.Plans = []usage.Schedule{
		{FileSystemID: 1, Plan: "nightly 01:30", Zone: "Europe/Berlin", Enabled: true, CatchUp: 12 * time.Hour},
	}
	return store
}

func TestSchedules(t *testing.T) {
	store := planned()
	skipped := store.AddState(1, time.Time{}, usage.NotRun)
	skipped.Occurrence, skipped.Reason = night.Add(6*time.Hour), "Scan 40 was not over yet."
	doc := open(t, store).read(t, "/schedules?saved=scratch", http.StatusOK)
	wantWords(t, doc, "The schedule of scratch is saved", "every night at 01:30", "made up for within 12 h", "not scheduled",
		"Tue 1 Dec, 01:30", "Sat 5 Dec, 01:30", "never scanned", "Scan 40 was not over yet")
	if n := doc.Find(".upcoming li").Length(); n != 5 {
		t.Errorf("%d occurrences, want 5", n)
	}
	for _, want := range []string{
		`time[title="2026-12-01 00:30 UTC"]`, `a[href="/scans/40"]`, `a[href="/scans/41"]`, `a[href="/fs/home/schedule"]`,
		`form[action="/fs/scratch/scan"]`, `.side a[aria-current=page][href="/schedules"]`,
	} {
		if doc.Find(want).Length() == 0 {
			t.Errorf("no %s", want)
		}
	}
	if text := words(open(t, planned()).read(t, "/schedules?saved=nothing", http.StatusOK)); strings.Contains(text, "is saved") {
		t.Error("a file system that is not there is said to be saved")
	}
}

// The form is filled with what is stored, or with what suits most; parameters fill it
// with something else, and say what that would mean.
func TestScheduleForm(t *testing.T) {
	s := open(t, planned())
	doc := s.read(t, "/fs/scratch/schedule", http.StatusOK)
	wantWords(t, doc, "of the schedule as it is", "Every night at 01:30"[1:], "Remove the schedule")
	if got := doc.Find("#zone").AttrOr("value", ""); got != "Europe/Berlin" {
		t.Errorf("the zone is %q", got)
	}
	doc = s.read(t, "/fs/home/schedule", http.StatusOK)
	wantWords(t, doc, "there is no schedule yet")
	if doc.Find(`form[action$="/remove"]`).Length() != 0 {
		t.Error("a schedule that is not there can be removed")
	}
	doc = s.read(t, "/fs/scratch/schedule?kind=weekly&day=tue&at=02:15&zone=UTC&catch_up=0&enabled=on", http.StatusOK)
	wantWords(t, doc, "not saved yet", "every Tuesday at 02:15", "Tue 1 Dec, 02:15", "Tue 29 Dec, 02:15")
	if got := doc.Find("[name=kind][checked]").AttrOr("value", ""); got != "weekly" || doc.Find("#day [selected]").AttrOr("value", "") != "tue" {
		t.Errorf("the form forgets what was typed: kind %q", got)
	}
	doc = s.read(t, "/fs/scratch/schedule?kind=cron&cron=61+1+*+*+*&zone=Berlin&catch_up=soon", http.StatusOK)
	for field, want := range map[string]string{"#cron": "61 1 * * *", "#zone": "Berlin", "#catch_up": "soon"} {
		if got := doc.Find(field); got.AttrOr("value", "") != want || got.AttrOr("aria-invalid", "") != "true" {
			t.Errorf("%s is %q, invalid %q; want %q", field, got.AttrOr("value", ""), got.AttrOr("aria-invalid", ""), want)
		}
	}
	wantWords(t, s.read(t, "/fs/nothing/schedule", http.StatusNotFound), "nothing")
}

func TestSetSchedule(t *testing.T) {
	store := planned()
	s := open(t, store)
	form := url.Values{
		"kind": {"every"}, "hours": {"6"}, "at": {"01:30"}, "zone": {"America/New_York"}, "catch_up": {"24"}, "enabled": {"on"},
	}
	w := s.do(t, http.MethodPost, "/fs/home/schedule", form)
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/schedules?saved=home" {
		t.Fatalf("saving = %d to %q: %s", w.Code, w.Header().Get("Location"), w.Body)
	}
	want := usage.Schedule{FileSystemID: 2, Plan: "every 6h", Zone: "America/New_York", Enabled: true, CatchUp: 24 * time.Hour}
	if diff := cmp.Diff(want, store.Plans[1]); diff != "" {
		t.Error(diff)
	}
	form.Set("hours", "0")
	form.Del("enabled")
	w = s.do(t, http.MethodPost, "/fs/home/schedule", form)
	if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "the least is every 1h") {
		t.Errorf("a plan that cannot be = %d %s", w.Code, w.Body)
	}
	if diff := cmp.Diff(want, store.Plans[1]); diff != "" {
		t.Errorf("it was stored: %s", diff)
	}
	for range 2 { // the second finds none, and is content
		w = s.do(t, http.MethodPost, "/fs/home/schedule/remove", url.Values{})
		if w.Code != http.StatusSeeOther || len(store.Plans) != 1 {
			t.Errorf("removing = %d, %d are left", w.Code, len(store.Plans))
		}
	}
}

// What is due, and did not come, is a finding; what is due once a week is not stale.
func TestFindingsOfSchedules(t *testing.T) {
	tree := storetest.Tree{{UID: 1, Type: "a", Files: 1, Size: 1 << 20}}
	finding := func(t *testing.T, age time.Duration, plan string, change func(*storetest.Store)) string {
		store := &storetest.Store{}
		fs := store.Watch("data", "/data")
		store.AddScan(fs, night.Add(-age), tree)
		if plan != "" {
			store.Plans = []usage.Schedule{{FileSystemID: fs, Plan: plan, Zone: "Europe/Berlin", Enabled: true}}
		}
		if change != nil {
			change(store)
		}
		doc := open(t, store).read(t, "/", http.StatusOK)
		return strings.Join(strings.Fields(doc.Find(".systems tbody th .badge").Text()), " ")
	}
	const day = 24 * time.Hour
	for _, tc := range []struct {
		name   string
		age    time.Duration
		plan   string
		change func(*storetest.Store)
		want   string
	}{
		{"as it should be", 0, "nightly 01:30", nil, ""},
		{"the night is missing", day, "nightly 01:30", nil, "! late"},
		{"it is under way", day, "nightly 01:30", func(s *storetest.Store) { s.AddState(1, night, usage.Running) }, ""},
		{"it has just been due", 0, "nightly 10:00", nil, ""},
		{"once a week", 5 * day, "weekly wed 01:30", nil, ""},
		{"a week is missing", 8 * day, "weekly sun 01:30", nil, "! late"},
		{"nothing is planned", 5 * day, "", nil, "! stale"},
		{"rejected", 0, "nightly 01:30", func(s *storetest.Store) {
			bad := s.AddScan(1, night.Add(time.Hour), tree)
			bad.Verdict, bad.Rejected, bad.Published = usage.Suspect, true, time.Time{}
			s.Systems[0].CurrentScanID = 1
		}, ""},
		{"suspect", 0, "nightly 01:30", func(s *storetest.Store) {
			s.AddScan(1, night.Add(time.Hour), tree).Verdict = usage.Suspect
			s.Systems[0].CurrentScanID = 1
		}, "! last scan suspect"},
		{"skipped while another runs", 0, "nightly 01:30", func(s *storetest.Store) {
			s.AddState(1, night, usage.Running).Progress.Stalled = true
			for range 100 {
				s.AddState(1, time.Time{}, usage.NotRun).Reason = "Scan 2 was not over yet."
			}
		}, "! scan stalled! scan skipped"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := finding(t, tc.age, tc.plan, tc.change); got != tc.want {
				t.Errorf("findings %q, want %q", got, tc.want)
			}
		})
	}
}

// A scan that runs is found behind any number of occurrences without one.
func TestRunningScanBehindSkippedOnes(t *testing.T) {
	store := planned()
	running := store.AddState(1, night.Add(8*time.Hour), usage.Running)
	id := running.ID
	for range 100 {
		store.AddState(1, time.Time{}, usage.NotRun).Occurrence = night
	}
	s := open(t, store)
	for _, path := range []string{"/fs/scratch/capacity", "/fs/scratch/scans", "/fs/scratch/settings"} {
		if s.read(t, path, http.StatusOK).Find(`.side .live a[href="/scans/`+itoa(id)+`"]`).Length() != 1 {
			t.Errorf("%s does not lead to the scan that runs", path)
		}
	}
	wantWords(t, s.read(t, "/fs/scratch/scans", http.StatusOK), "skipped", "a scan was due by the schedule")
}
