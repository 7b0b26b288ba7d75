package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"go.uber.org/goleak"

	"fstally/internal/api"
	"fstally/internal/server"
	"fstally/internal/server/storetest"
	"fstally/internal/usage"
	"fstally/web/page"
)

// parse reads a page out of an answer.
func parse(t *testing.T, w *httptest.ResponseRecorder) *goquery.Document {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(w.Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// liveStore is a store in memory whose running scan gets on while it is read. It counts
// how often it is asked for one.
type liveStore struct {
	*storetest.Store
	mu    sync.Mutex
	asked atomic.Int64
}

func (s *liveStore) Scan(ctx context.Context, scope usage.Scope, id int64) (usage.Scan, error) {
	s.asked.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Store.Scan(ctx, scope, id)
}

// change changes a scan.
func (s *liveStore) change(id int64, change func(*usage.Scan)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.AllScans[id-1])
}

// streaming is a real server: streams need one that flushes.
func streaming(t *testing.T, store *liveStore, stopping chan struct{}) *httptest.Server {
	t.Helper()
	config := server.Config{
		Reader: store, Scans: store, AllowAnonymous: true, Location: zone, Stopping: stopping,
		Clock: func() time.Time { return night.Add(9 * time.Hour) }, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	var err error
	config.API, err = api.New(api.Config{
		Reader: store, Scans: store, Scope: server.Scope, Clock: config.Clock, Logger: config.Logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := server.New(config)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

// stream is a reader of events.
type stream struct {
	t     *testing.T
	body  *bufio.Reader
	close func()
}

func watch(t *testing.T, s *httptest.Server, path string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip")
	answer, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = answer.Body.Close() })
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" || answer.Header.Get("Content-Encoding") != "" {
		t.Fatalf("GET %s = %d %v", path, answer.StatusCode, answer.Header)
	}
	return &stream{t: t, body: bufio.NewReader(answer.Body), close: cancel}
}

// next returns the next event; ok is false at the end of the stream.
func (s *stream) next() (live page.Live, ok bool) {
	s.t.Helper()
	for {
		line, err := s.body.ReadString('\n')
		if err != nil {
			return live, false
		}
		if data, found := strings.CutPrefix(line, "data: "); found {
			if err := json.Unmarshal([]byte(data), &live); err != nil {
				s.t.Fatal(err)
			}
			return live, true
		}
	}
}

// Those who watch a scan are told of each change until it ends, and ask the store once
// for all.
func TestEvents(t *testing.T) {
	store := &liveStore{Store: example()}
	id := store.AddState(1, night.Add(8*time.Hour), usage.Running).ID
	s := streaming(t, store, nil)
	const viewers = 20
	streams := make([]*stream, viewers)
	for i := range streams {
		streams[i] = watch(t, s, "/scans/"+itoa(id)+"/events")
		if live, ok := streams[i].next(); !ok || live.State != usage.Running || live.Texts["entries"] != "12,345" {
			t.Fatalf("the first event: %+v, %v", live, ok)
		}
	}
	before := store.asked.Load()
	store.change(id, func(scan *usage.Scan) { scan.Progress.Entries = 23456 })
	for _, viewer := range streams {
		if live, ok := viewer.next(); !ok || live.Texts["entries"] != "23,456" {
			t.Fatalf("the second event: %+v, %v", live, ok)
		}
	}
	if asked := store.asked.Load() - before; asked > viewers/2 {
		t.Errorf("the store was asked %d times for %d viewers", asked, viewers)
	}
	store.change(id, func(scan *usage.Scan) { scan.State, scan.Verdict = usage.Complete, usage.Clean })
	for _, viewer := range streams {
		live, ok := viewer.next()
		if !ok || !live.Ended || live.Next != "/fs/scratch/capacity" {
			t.Fatalf("the last event: %+v, %v", live, ok)
		}
		if _, more := viewer.next(); more {
			t.Fatal("the stream goes on after the end of the scan")
		}
	}
}

// A stream ends with its reader, and with the server, which does not wait for it.
func TestEventsEnd(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	store := &liveStore{Store: example()}
	id := store.AddState(1, night.Add(8*time.Hour), usage.Running).ID
	stopping := make(chan struct{})
	s := streaming(t, store, stopping)
	gone, stays := watch(t, s, "/scans/"+itoa(id)+"/events"), watch(t, s, "/scans/"+itoa(id)+"/events")
	for _, viewer := range []*stream{gone, stays} {
		if _, ok := viewer.next(); !ok {
			t.Fatal("no event")
		}
	}
	gone.close()
	close(stopping)
	if _, ok := stays.next(); ok {
		t.Error("the stream goes on while the server stops")
	}
	s.Close() // waits for all requests
}

func TestEventsAreBounded(t *testing.T) {
	store := &liveStore{Store: example()}
	id := store.AddState(1, night.Add(8*time.Hour), usage.Running).ID
	s := streaming(t, store, nil)
	for range 200 {
		watch(t, s, "/scans/"+itoa(id)+"/events")
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/scans/"+itoa(id)+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // only read
	if answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one stream too many = %d", answer.StatusCode)
	}
	for path, status := range map[string]int{"/scans/4711/events": http.StatusNotFound, "/scans/x/events": http.StatusNotFound} {
		if w := open(t, example()).get(t, path); w.Code != status {
			t.Errorf("GET %s = %d, want %d", path, w.Code, status)
		}
	}
}

// C103: how far a cancelled scan got is on its own page, said to be so, and nowhere else.
func TestCancelledScanShowsHowFarItGot(t *testing.T) {
	store := example()
	scan := store.AddState(1, night.Add(24*time.Hour), usage.Cancelled)
	scan.Progress.Entries, scan.Progress.Allocated = 300_123_456, usage.ByteCount(7<<50)
	id := itoa(scan.ID)
	s := open(t, store)
	doc := s.read(t, "/scans/"+id, http.StatusOK)
	wantWords(t, doc, "cancelled", "300.1 M", "7 PiB", "no other page counts it")
	if doc.Find(`dd[title="300,123,456 entries"]`).Length() != 1 {
		t.Error("the exact number is not told")
	}
	for _, path := range []string{"/", "/fs/scratch/capacity", "/fs/scratch/history", "/fs/scratch/users", "/api/v1/filesystems/scratch/usage"} {
		if text := s.get(t, path).Body.String(); strings.Contains(text, "300.1 M") || strings.Contains(text, "300,123,456") || strings.Contains(text, "7 PiB") {
			t.Errorf("%s shows numbers of the cancelled scan", path)
		}
	}
	wantWords(t, s.read(t, "/fs/scratch/scans", http.StatusOK), "300.1 M *", "count nowhere else")
}

// A suspect scan is rejected on its page, and may still be accepted.
func TestRejectScan(t *testing.T) {
	store := example()
	suspect := store.AddScan(1, night.Add(24*time.Hour), nil)
	suspect.Verdict, suspect.Reason, suspect.Published = usage.Suspect, "nothing was found", time.Time{}
	path := "/scans/" + itoa(suspect.ID)
	s := open(t, store)
	if s.read(t, path, http.StatusOK).Find(`form[action="`+path+`/reject"]`).Length() != 1 {
		t.Fatal("there is no way to reject it")
	}
	if w := s.do(t, http.MethodPost, path+"/reject", url.Values{}); w.Code != http.StatusSeeOther || w.Header().Get("Location") != path {
		t.Fatalf("rejecting = %d", w.Code)
	}
	doc := s.read(t, path, http.StatusOK)
	wantWords(t, doc, "rejected")
	if doc.Find(`form[action="`+path+`/reject"]`).Length() != 0 || doc.Find(`form[action="`+path+`/accept"]`).Length() != 1 {
		t.Error("it can be rejected again, or not be accepted")
	}
	if w := s.do(t, http.MethodPost, "/scans/1/reject", url.Values{}); w.Code != http.StatusConflict {
		t.Errorf("rejecting a clean scan = %d", w.Code)
	}
}

// Attempts at one occurrence lead to each other; a queued scan says what it waits for.
func TestAttemptsAndWaiting(t *testing.T) {
	store := planned()
	due := night.Add(24 * time.Hour)
	first := store.AddState(1, due, usage.Interrupted)
	first.Occurrence, first.Origin, first.Reason = due, usage.BySchedule, "the process that ran the scan went away"
	firstID := first.ID
	second := store.AddState(1, time.Time{}, usage.Queued)
	second.Occurrence, second.Origin, second.Attempt, second.NotBefore = due, usage.BySchedule, 2, night.Add(10*time.Hour)
	secondID := second.ID
	s := open(t, store)
	doc := s.read(t, "/scans/"+itoa(firstID), http.StatusOK)
	wantWords(t, doc, "Scheduled for Tue 1 Dec 2026, 01:30 CET", "second attempt: queued")
	doc = s.read(t, "/scans/"+itoa(secondID), http.StatusOK)
	wantWords(t, doc, "second attempt", "first attempt: interrupted", "not before 11:30:00 CET")
	if doc.Find(`main a[href="/scans/`+itoa(firstID)+`"]`).Length() != 1 {
		t.Error("no way to the first attempt")
	}
	store.AllScans[secondID-1].NotBefore = time.Time{}
	wantWords(t, s.read(t, "/scans/"+itoa(secondID), http.StatusOK), "starts as soon as the server takes it")
	store.AddState(2, night, usage.Running)
	wantWords(t, s.read(t, "/scans/"+itoa(secondID), http.StatusOK), "waits for a free worker, as the scan of home is running")
	store.Systems[0].Worker = "node7"
	wantWords(t, s.read(t, "/scans/"+itoa(secondID), http.StatusOK), "waits for the worker node7")
}
