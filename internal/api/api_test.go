package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"fstally/internal/api"
	"fstally/internal/server/storetest"
	"fstally/internal/usage"
)

var update = flag.Bool("update", false, "write the golden files and docs/openapi.json anew")

var (
	zone  = time.FixedZone("CET", 3600)
	night = time.Date(2026, 11, 30, 1, 30, 0, 0, zone)
)

// hostile are names that mean something to HTML, JSON, CSV, a terminal or SQL.
var hostile = []string{
	`"><svg onload=alert(1)>`, `</script><script>alert(1)</script>`, `');alert(1);('`, "-12345", "=1+1", "a\nb",
	"a\tb", "\x1b[2J", "exe.\u202egnp", "report\x96final", `c\x2dd`, `fs"1`, "(none)", "漢字", "a\u2028b", "javascript:alert(1)",
}

// example is two nights of a small file system, then a failed and a suspect scan.
func example() *storetest.Store {
	s := &storetest.Store{
		Users: map[uint32]string{0: "root", 1000: "alice", 1001: "other", 4294967294: ""},
		Named: map[string]string{"proj/x": "Project X"},
	}
	fs := s.Watch("scratch", "/gpfs/scr\x1batch")
	tree := storetest.Tree{
		{UID: 0, Type: "(none)", Files: 2, Size: 0},
		{UID: 1000, Type: "txt", Fileset: "home", Files: 3, Size: 5000},
		{UID: 1001, Type: "tar.gz", Fileset: "home", Files: 1, Size: 1 << 40},
		{UID: 4294967294, Type: "h5", Fileset: "proj/x", Files: 10, Size: 9007199254740993},
	}
	first := s.AddScan(fs, night.AddDate(0, 0, -1), tree[:3])
	first.Capacity = usage.Capacity{Size: usage.ByteCount(1 << 50), Free: usage.ByteCount(1 << 49), Source: "statfs"}
	s.Content[first.ID].Errors = []usage.ScanError{{
		Op: "open", Errno: "EACCES", Message: "permission denied", Count: 2, Paths: []string{"a\nb"},
	}}
	s.Content[first.ID].Skipped = []usage.Skipped{{Reason: usage.SkipSnapshot, Count: 1, Paths: []string{".snapshots"}}}
	s.AddScan(fs, night, tree)
	s.AddState(fs, night.Add(3*time.Hour), usage.Failed).Reason = "disk on fire"
	return s
}

// serve answers for a store, with everything in scope.
func serve(t *testing.T, s *storetest.Store) http.Handler {
	t.Helper()
	return serveAs(t, s, usage.Everything())
}

// store is both sides of a store.
type store interface {
	api.Reader
	api.Scans
}

func serveAs(t *testing.T, s store, scope usage.Scope) http.Handler {
	t.Helper()
	r := chi.NewRouter()
	r.Mount(api.Prefix, documented(t, newHandlerAs(t, s, scope)))
	return r
}

func newHandler(t *testing.T, s store) *api.Handler {
	t.Helper()
	return newHandlerAs(t, s, usage.Everything())
}

func newHandlerAs(t *testing.T, s store, scope usage.Scope) *api.Handler {
	t.Helper()
	h, err := api.New(api.Config{
		Reader: s, Scans: s, Scope: func(context.Context) usage.Scope { return scope },
		Clock: func() time.Time { return night.Add(9 * time.Hour) }, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func do(t *testing.T, h http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, api.Prefix+path, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// get returns the JSON of a good answer.
func get[T any](t *testing.T, h http.Handler, path string) T {
	t.Helper()
	w := do(t, h, http.MethodGet, path)
	if w.Code != http.StatusOK {
		t.Fatalf("GET %s = %d %s", path, w.Code, w.Body)
	}
	var v T
	d := json.NewDecoder(w.Body)
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
	return v
}

// golden compares with a file in testdata.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; if that is meant: go generate ./internal/api (-want +got):\n%s", file, diff)
	}
}

func TestOpenAPIIsCommitted(t *testing.T) {
	w := do(t, serve(t, example()), http.MethodGet, "/openapi.json")
	golden(t, "../../docs/openapi.json", w.Body.String())
}

// Every shape is stable: a change here is a change of version 1.
func TestShapes(t *testing.T) {
	h := serve(t, example())
	for name, path := range map[string]string{
		"filesystems":     "/filesystems",
		"usage":           "/filesystems/scratch/usage?group_by=user&by=allocated&limit=2",
		"usage_filtered":  "/filesystems/1/usage?group_by=type&by=files&user=1000&size_class=32768",
		"usage_older":     "/filesystems/scratch/usage?group_by=fileset&scan=1",
		"top_users":       "/filesystems/scratch/top/users?by=files&limit=10",
		"history":         "/filesystems/scratch/history",
		"history_fileset": "/filesystems/scratch/history?group_by=fileset&by=files&from=2026-11-29&to=2026-12-01&top=1",
		"histogram":       "/filesystems/scratch/histogram?by=files",
		"histogram_fine":  "/filesystems/scratch/histogram?by=allocated&type=txt&fine=true",
		"scans":           "/filesystems/scratch/scans?limit=2",
		"scan":            "/scans/1",
		"user":            "/users/1000?by=files",
	} {
		t.Run(name, func(t *testing.T) {
			w := do(t, h, http.MethodGet, path)
			if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
				t.Fatalf("%d %s: %s", w.Code, w.Header().Get("Content-Type"), w.Body)
			}
			var indented any
			d := json.NewDecoder(w.Body)
			d.UseNumber()
			if err := d.Decode(&indented); err != nil {
				t.Fatal(err)
			}
			text, err := json.MarshalIndent(indented, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "testdata/"+name+".json", string(text)+"\n")
			if name == "scan" {
				return
			}
			join := "?"
			if strings.Contains(path, "?") {
				join = "&"
			}
			w = do(t, h, http.MethodGet, path+join+"format=csv")
			if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/csv; charset=utf-8; header=present" {
				t.Fatalf("%d %s: %s", w.Code, w.Header().Get("Content-Type"), w.Body)
			}
			golden(t, "testdata/"+name+".csv", w.Body.String())
		})
	}
}

// Bad parameters are named, and never become a 500 (C127).
func TestBadParameters(t *testing.T) {
	h := serve(t, example())
	usagePath := "/filesystems/scratch/usage"
	for _, tc := range []struct {
		path, location string
		status         int
	}{
		{usagePath + "?limit=0", "query.limit", 422},
		{usagePath + "?limit=-1", "query.limit", 422},
		{usagePath + "?limit=1000000000", "query.limit", 422},
		{usagePath + "?limit=abc", "query.limit", 422},
		{usagePath + "?limit=99999999999999999999", "query.limit", 422},
		{usagePath + "?offset=-1", "query.offset", 422},
		{usagePath + "?offset=9223372036854775807", "query.offset", 422},
		{usagePath + "?by=money", "query.by", 422},
		{usagePath + "?group_by=users", "query.group_by", 422},
		{usagePath + "?usr=5", "query.usr", 422},
		{usagePath + "?user=4294967296", "query.user", 422},
		{usagePath + "?user=-1", "query.user", 422},
		{usagePath + "?user=alice", "query.user", 422},
		{usagePath + "?user=18446744073709551616", "query.user", 422},
		{usagePath + "?group=0x10", "query.group", 422},
		{usagePath + "?pool=1e3", "query.pool", 422},
		{usagePath + "?type=a%00b", "query.type", 422},
		{usagePath + "?fileset=%ff", "query.fileset", 422},
		{usagePath + `?fileset=a\b`, "query.fileset", 422},
		{usagePath + "?size_class=4096", "query.size_class", 422},
		{usagePath + "?age_class=old", "query.age_class", 422},
		{usagePath + "?scan=0", "query.scan", 422},
		{usagePath + "?scan=-1", "query.scan", 422},
		{usagePath + "?scan=1e3", "query.scan", 422},
		{usagePath + "?scan=18446744073709551613", "query.scan", 422},
		{usagePath + "?scan=99", "query.scan", 404},
		{usagePath + "?scan=3", "query.scan", 404}, // failed: no numbers
		{usagePath + "?format=xml", "query.format", 422},
		{"/filesystems/nothere/usage", "path.fs", 404},
		{"/filesystems/99/usage", "path.fs", 404},
		{"/filesystems/99999999999999999999/usage", "path.fs", 404},
		{"/filesystems/a%00b/usage", "path.fs", 404},
		{"/filesystems/%ff/scans", "path.fs", 404},
		{"/filesystems/scratch/top/users?limit=0", "query.limit", 422},
		{"/filesystems/scratch/history?from=yesterday", "query.from", 422},
		{"/filesystems/scratch/history?to=2026-02-30", "query.to", 422},
		{"/filesystems/scratch/history?from=2026-11-30&to=2026-11-29", "query.to", 422},
		{"/filesystems/scratch/history?top=0", "query.top", 422},
		{"/users/alice", "path.uid", 422},
		{"/users/-1", "path.uid", 422},
		{"/users/4294967296", "path.uid", 422},
		{"/users/1000?by=money", "query.by", 422},
		{"/filesystems/scratch/history?key=1000", "query.key", 422}, // of what?
		{"/filesystems/scratch/history?group_by=user&key=alice", "query.key", 422},
		{"/filesystems/scratch/history?group_by=fileset&key=a%00b", "query.key", 422},
		{"/filesystems/scratch/histogram?by=slack", "query.by", 422},
		{"/filesystems/scratch/histogram?fine=maybe", "query.fine", 422},
		{"/filesystems/scratch/histogram?type=%00", "query.type", 422},
		{"/filesystems/scratch/scans?before=-1", "query.before", 422},
		{"/scans/18446744073709551613", "path.id", 422},
		{"/scans/-1", "path.id", 422},
		{"/scans/1e3", "path.id", 422},
		{"/scans/0x10", "path.id", 422},
		{"/scans/99", "path.id", 404},
	} {
		for _, accept := range []string{"application/json", "text/csv"} {
			w := do(t, h, http.MethodGet, tc.path, "Accept", accept)
			var problem struct {
				Status int
				Errors []struct{ Location, Message string }
			}
			if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil {
				t.Errorf("GET %s: no problem document: %s", tc.path, w.Body)
				continue
			}
			if w.Code != tc.status || problem.Status != tc.status || len(problem.Errors) == 0 ||
				problem.Errors[0].Location != tc.location || problem.Errors[0].Message == "" {
				t.Errorf("GET %s = %d %s, want %d naming %s", tc.path, w.Code, w.Body, tc.status, tc.location)
			}
			if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
				t.Errorf("GET %s as %s: content type = %q", tc.path, accept, got)
			}
		}
	}
}

func TestUnknownAddressesAreProblems(t *testing.T) {
	h := serve(t, example())
	for _, tc := range []struct {
		method, path string
		status       int
	}{
		{http.MethodGet, "/nothing", 404},
		{http.MethodGet, "/docs", 404},
		{http.MethodDelete, "/filesystems", 405},
		{http.MethodGet, "/scans/1/cancel", 405},
	} {
		w := do(t, h, tc.method, tc.path)
		if w.Code != tc.status || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s = %d %s", tc.method, tc.path, w.Code, w.Header())
		}
	}
}

// C124, C118: digits beyond 2^53 and 2^64 are exact.
func TestDigitsAreExact(t *testing.T) {
	s := &storetest.Store{}
	fs := s.Watch("shm", "/dev/shm")
	scan := s.AddScan(fs, night, storetest.Tree{{UID: 1, Type: "p53", Files: 1, Size: 9007199254740993}})
	s.Content[scan.ID].Cells[0].Size = usage.BytesFromWords(3, 7)
	h := serve(t, s)
	want := "55340232221128654855"
	for _, path := range []string{"/usage?by=size", "/usage?by=size&format=csv", "/usage?group_by=type&by=size"} {
		w := do(t, h, http.MethodGet, "/filesystems/shm"+path)
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s has no %s: %s", path, want, w.Body)
		}
	}
}

// C128: nothing yet, no files, and files without bytes are answers.
func TestNothing(t *testing.T) {
	s := &storetest.Store{}
	s.Watch("fresh", "/fresh")
	s.AddScan(s.Watch("empty", "/empty"), night, nil)
	s.AddScan(s.Watch("zero", "/zero"), night, storetest.Tree{{UID: 1, Type: "txt", Files: 10}})
	h := serve(t, s)
	for _, fs := range []string{"fresh", "empty", "zero"} {
		for _, path := range []string{
			"/usage", "/usage?by=files", "/top/users", "/history", "/history?group_by=user", "/histogram",
			"/histogram?by=allocated", "/histogram?fine=1", "/scans",
		} {
			for _, accept := range []string{"application/json", "text/csv"} {
				w := do(t, h, http.MethodGet, "/filesystems/"+fs+path, "Accept", accept)
				if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "NaN") || strings.Contains(w.Body.String(), "Inf") {
					t.Errorf("%s%s = %d %s", fs, path, w.Code, w.Body)
				}
			}
		}
	}
	if got := get[map[string]any](t, h, "/filesystems/fresh/usage")["scan"]; got != nil {
		t.Errorf("scan of a file system without one = %v, want null", got)
	}
	if got := get[map[string]any](t, serve(t, &storetest.Store{}), "/filesystems")["items"]; got == nil {
		t.Error("no file systems are null instead of an empty list")
	}
}

// The scope reaches every reader: outside it nothing exists.
func TestScope(t *testing.T) {
	s := example()
	s.AddScan(s.Watch("mine", "/mine"), night, nil)
	h := serveAs(t, s, usage.OnlyFileSystems(2))
	for _, path := range []string{
		"/filesystems/scratch/usage", "/filesystems/1/top/users", "/filesystems/scratch/history",
		"/filesystems/scratch/histogram", "/filesystems/scratch/scans", "/scans/1", "/filesystems/mine/usage?scan=1",
	} {
		if w := do(t, h, http.MethodGet, path); w.Code != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", path, w.Code)
		}
	}
	for _, path := range []string{"/filesystems/scratch/scans", "/scans/1/cancel"} {
		if w := do(t, h, http.MethodPost, path); w.Code != http.StatusNotFound {
			t.Errorf("POST %s = %d, want 404", path, w.Code)
		}
	}
	if w := do(t, h, http.MethodGet, "/filesystems"); strings.Contains(w.Body.String(), "scratch") {
		t.Errorf("file systems show what is out of scope: %s", w.Body)
	}
}

func TestStartAndCancel(t *testing.T) {
	s := example()
	h := serve(t, s)
	w := do(t, h, http.MethodPost, "/filesystems/scratch/scans")
	if w.Code != http.StatusAccepted || w.Header().Get("Location") != "/api/v1/scans/4" {
		t.Fatalf("start = %d, Location %q: %s", w.Code, w.Header().Get("Location"), w.Body)
	}
	w = do(t, h, http.MethodPost, "/filesystems/scratch/scans")
	if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "Scan 4") {
		t.Errorf("second start = %d %s, want a conflict with scan 4", w.Code, w.Body)
	}
	if w = do(t, h, http.MethodPost, "/scans/4/cancel"); w.Code != http.StatusAccepted {
		t.Errorf("cancel = %d %s", w.Code, w.Body)
	}
	if w = do(t, h, http.MethodPost, "/scans/4/cancel"); w.Code != http.StatusConflict {
		t.Errorf("second cancel = %d %s, want a conflict", w.Code, w.Body)
	}
	if len(s.Queued) != 1 || len(s.Cancelled) != 1 {
		t.Errorf("queued %v, cancelled %v", s.Queued, s.Cancelled)
	}
}

// forgetful is a store whose older scans did not keep the first series.
type forgetful struct{ *storetest.Store }

func (f forgetful) History(
	ctx context.Context, scope usage.Scope, q usage.HistoryQuery,
) (usage.History, error) {
	h, err := f.Store.History(ctx, scope, q)
	h.Points[0].Rows[0] = nil
	return h, err
}

// What is unknown is null, and so is then what the series leave.
func TestUnknownIsNull(t *testing.T) {
	h := serveAs(t, forgetful{example()}, usage.Everything())
	path := "/filesystems/scratch/history?group_by=type&top=2&by=files"
	answer := get[struct {
		Points []struct {
			Values []*int64
			Others *int64
		}
	}](t, h, path)
	if p := answer.Points[0]; p.Values[0] != nil || p.Values[1] == nil || p.Others != nil {
		t.Errorf("point with an unknown series = %+v", p)
	}
	if p := answer.Points[1]; p.Values[0] == nil || p.Others == nil {
		t.Errorf("point without one = %+v", p)
	}
	csv := do(t, h, http.MethodGet, path+"&format=csv").Body.String()
	if !strings.Contains(csv, "\n2026-11-29,1,2026-11-29T00:30:00Z,h5,h5,\n") {
		t.Errorf("an unknown value is not an empty cell: %s", csv)
	}
}

// What goes wrong inside stays inside.
func TestInternalErrorsAreHidden(t *testing.T) {
	s := example()
	h := serve(t, s)
	s.Err = errors.New("password=hunter2 at 10.0.0.1")
	for _, path := range []string{"/filesystems", "/filesystems/scratch/usage", "/scans/1"} {
		w := do(t, h, http.MethodGet, path, "Accept", "text/csv")
		if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "hunter2") ||
			w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("GET %s = %d %s", path, w.Code, w.Body)
		}
	}
}

// C033: names from outside survive JSON; the escaped form finds them again.
func TestHostileNamesRoundTrip(t *testing.T) {
	s := &storetest.Store{Users: map[uint32]string{}}
	fs := s.Watch("evil", "/evil/"+hostile[0])
	var tree storetest.Tree
	for i, name := range hostile {
		s.Users[uint32(i)] = name
		tree = append(tree, storetest.Line{UID: uint32(i), Type: "txt", Fileset: name, Files: 1, Size: 1})
	}
	s.AddScan(fs, night, tree)
	h := serve(t, s)
	type answer struct {
		Items []struct{ Key, Name string }
		Total struct{ Files int64 }
	}
	seen := map[string]bool{}
	for _, it := range get[answer](t, h, "/filesystems/evil/usage?group_by=fileset&limit=1000").Items {
		raw, err := usage.UnescapeKey(it.Key)
		if err != nil {
			t.Errorf("key %q: %v", it.Key, err)
		}
		seen[raw] = true
		one := get[answer](t, h, "/filesystems/evil/usage?fileset="+queryEscape(it.Key))
		if one.Total.Files != 1 {
			t.Errorf("filter %q finds %d files, want 1", it.Key, one.Total.Files)
		}
	}
	for _, name := range hostile {
		if !seen[name] {
			t.Errorf("fileset %q is missing", name)
		}
	}
}

func TestAcceptScan(t *testing.T) {
	s := example()
	suspect := s.AddScan(1, night.Add(24*time.Hour), nil)
	suspect.Verdict, suspect.Published = usage.Suspect, time.Time{}
	h := serve(t, s)
	path := "/scans/" + strconv.FormatInt(suspect.ID, 10) + "/accept"
	if w := do(t, h, http.MethodPost, path); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"verdict":"clean"`) {
		t.Errorf("accept = %d %s", w.Code, w.Body)
	}
	if w := do(t, h, http.MethodPost, path); w.Code != http.StatusConflict {
		t.Errorf("accepting it twice = %d %s", w.Code, w.Body)
	}
	if w := do(t, h, http.MethodPost, "/scans/4711/accept"); w.Code != http.StatusNotFound {
		t.Errorf("accepting none = %d %s", w.Code, w.Body)
	}
}
