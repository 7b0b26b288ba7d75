package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/api"
	"fstally/internal/usage"
)

// send sends a body of JSON.
func send(t *testing.T, h http.Handler, method, path, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, api.Prefix+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// refusal is what a program needs to know of a request that was refused.
type refusal struct {
	status   int
	location string // of the first parameter that is wrong
}

func refusalOf(t *testing.T, w *httptest.ResponseRecorder) refusal {
	t.Helper()
	var problem struct {
		Errors []struct{ Location, Message string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil {
		t.Fatalf("%d is no problem document: %s", w.Code, w.Body)
	}
	r := refusal{status: w.Code}
	if len(problem.Errors) > 0 && problem.Errors[0].Message != "" {
		r.location = problem.Errors[0].Location
	}
	return r
}

func TestChangeSettings(t *testing.T) {
	s := example()
	h := serve(t, s)
	before := s.Systems[0]
	if w := send(t, h, http.MethodPatch, "/filesystems/scratch", `{}`); w.Code != http.StatusOK {
		t.Fatalf("a change of nothing = %d %s", w.Code, w.Body)
	}
	if diff := cmp.Diff(before, s.Systems[0]); diff != "" {
		t.Errorf("a change of nothing changes (-before +after):\n%s", diff)
	}
	w := send(t, h, http.MethodPatch, "/filesystems/scratch", `{"name":"work","size_classes":[1024,4096,1048576,4194304],
		"fileset_depth":2,"filesets":[{"path":"a\\x0ab","name":"A"},{"path":"c"}],"walkers":8,"ops_limit":-1,
		"stall_minutes":0,"nice":0,"idle_io":false,"memory_limit":2147483648,"worker":"node-7"}`)
	if w.Code != http.StatusOK {
		t.Fatalf("change = %d %s", w.Code, w.Body)
	}
	want := before
	want.Name, want.SizeClasses = "work", usage.SizeClasses{1024, 4096, 1 << 20, 4 << 20}
	want.Filesets = usage.FilesetRules{Depth: 2, Named: []usage.NamedFileset{{Path: "a\nb", Name: "A"}, {Path: "c"}}}
	want.Walkers, want.OpsLimit, want.MemoryLimit, want.Worker = 8, -1, 2<<30, "node-7"
	if diff := cmp.Diff(want, s.Systems[0]); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	// What is answered can be sent again.
	if got := get[map[string]any](t, h, "/filesystems/work"); cmp.Equal(got["filesets"], []any{}) || got["worker"] != "node-7" {
		t.Errorf("the settings are answered as %v", got)
	}
}

func TestAddAndRemoveFileSystem(t *testing.T) {
	s := example()
	h := serve(t, s)
	w := send(t, h, http.MethodPost, "/filesystems", `{"name":"lab","root":"/data/x\\x0ay/","nice":5}`)
	if w.Code != http.StatusCreated || w.Header().Get("Location") != "/api/v1/filesystems/lab" {
		t.Fatalf("add = %d %s %s", w.Code, w.Header(), w.Body)
	}
	want := usage.NewFileSystem("lab", "/data/x\ny")
	want.ID, want.Nice = 2, 5
	if diff := cmp.Diff(want, s.Systems[1]); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	if w := send(t, h, http.MethodPost, "/filesystems", `{"name":"lab","root":"/other"}`); w.Code != http.StatusConflict {
		t.Errorf("adding it twice = %d %s", w.Code, w.Body)
	}
	do(t, h, http.MethodPost, "/filesystems/lab/scans")
	if w := do(t, h, http.MethodDelete, "/filesystems/lab"); w.Code != http.StatusConflict {
		t.Errorf("removing what is being scanned = %d %s", w.Code, w.Body)
	}
	do(t, h, http.MethodPost, "/scans/4/cancel")
	if w := do(t, h, http.MethodDelete, "/filesystems/lab"); w.Code != http.StatusNoContent || len(s.Systems) != 1 {
		t.Errorf("remove = %d %s, left %v", w.Code, w.Body, s.Systems)
	}
}

// A setting that cannot be is named, and nothing is changed by the rest of them.
func TestBadSettings(t *testing.T) {
	s := example()
	h := serve(t, s)
	before := s.Systems[0]
	const fs = "/filesystems/scratch"
	const plan, zone = `"plan":"nightly 01:30"`, `"zone":"UTC"`
	for _, tc := range []struct {
		method, path, body string
		want               refusal
	}{
		{http.MethodPatch, fs, `{"nice":20}`, refusal{422, "body.nice"}},
		{http.MethodPatch, fs, `{"memory_limit":1,"worker":"No 7"}`, refusal{422, "body.memory_limit"}},
		{http.MethodPatch, fs, `{"walkers":2,"ops_limit":-2}`, refusal{422, "body.ops_limit"}},
		{http.MethodPatch, fs, `{"walkers":2,"wakers":2}`, refusal{422, "body.wakers"}},
		{http.MethodPatch, fs, `{"walkers":"2"}`, refusal{422, "body.walkers"}},
		{http.MethodPatch, fs, `{"stall_minutes":1.5}`, refusal{422, "body.stall_minutes"}},
		{http.MethodPatch, fs, `{"memory_limit":4096}`, refusal{422, "body.memory_limit"}},
		{http.MethodPatch, fs, `{"memory_limit":1e400}`, refusal{400, "body"}},
		{http.MethodPatch, fs, `{"worker":"No 7"}`, refusal{422, "body.worker"}},
		{http.MethodPatch, fs, `{"name":"7"}`, refusal{422, "body.name"}},
		{http.MethodPatch, fs, `{"size_classes":[1,2,3]}`, refusal{422, "body.size_classes"}},
		{http.MethodPatch, fs, `{"size_classes":[5,6,7,8]}`, refusal{422, "body.size_classes"}},
		{http.MethodPatch, fs, `{"filesets":[{"path":"../up"}]}`, refusal{422, "body.filesets"}},
		{http.MethodPatch, fs, `{"filesets":[{"path":"a"},{"path":"a"}]}`, refusal{422, "body.filesets"}},
		{http.MethodPatch, fs, `{"filesets":[{"path":"a\\b"}]}`, refusal{422, "body.filesets"}},
		{http.MethodPatch, fs, `[]`, refusal{422, "body"}},
		{http.MethodPatch, fs, `{`, refusal{400, "body"}},
		{http.MethodPatch, fs, ``, refusal{400, ""}},
		{http.MethodPatch, "/filesystems/nope", `{}`, refusal{404, "path.fs"}},
		{http.MethodPost, "/filesystems", `{"name":"Lab","root":"/x"}`, refusal{422, "body.name"}},
		{http.MethodPost, "/filesystems", `{"name":"lab","root":"x"}`, refusal{422, "body.root"}},
		{http.MethodPost, "/filesystems", `{"name":"lab","root":"/x\u0000"}`, refusal{422, "body.root"}},
		{http.MethodPost, "/filesystems", `{"name":"lab"}`, refusal{422, "body"}},
		{http.MethodPut, fs + "/schedule", `{"plan":"nightly 25:00",` + zone + `}`, refusal{422, "body.plan"}},
		{http.MethodPut, fs + "/schedule", `{` + plan + `,"zone":"Mars/Base"}`, refusal{422, "body.zone"}},
		{http.MethodPut, fs + "/schedule", `{` + plan + `,"zone":"Local"}`, refusal{422, "body.zone"}},
		{http.MethodPut, fs + "/schedule", `{` + plan + `,"zone":"../../etc/passwd"}`, refusal{422, "body.zone"}},
		{http.MethodPut, fs + "/schedule", `{` + plan + `,` + zone + `,"catch_up_hours":-1}`, refusal{422, "body.catch_up_hours"}},
		{http.MethodPut, fs + "/schedule", `{` + plan + `,` + zone + `,"catchup":1}`, refusal{422, "body.catchup"}},
		{http.MethodPut, "/filesystems/nope/schedule", `{` + plan + `,` + zone + `}`, refusal{404, "path.fs"}},
		{http.MethodGet, fs + "/schedule", "", refusal{404, "path.fs"}},
		{http.MethodDelete, fs + "/schedule", "", refusal{404, "path.fs"}},
		{http.MethodGet, "/schedules/preview?plan=every+0h&zone=UTC", "", refusal{422, "query.plan"}},
		{http.MethodGet, "/schedules/preview?plan=every+6h&zone=", "", refusal{422, "query.zone"}},
		{http.MethodGet, "/schedules/preview?plan=every+6h&zone=UTC&n=0", "", refusal{422, "query.n"}},
		{http.MethodGet, "/schedules/preview?zone=UTC", "", refusal{422, "query.plan"}},
		{http.MethodPut, "/retention", `{"nightly_days":-1,"weekly_days":0,"monthly_days":0}`, refusal{422, "body.nightly_days"}},
		{http.MethodPut, "/retention", `{"nightly_days":60,"weekly_days":30,"monthly_days":0}`, refusal{422, "body.weekly_days"}},
		{http.MethodPut, "/retention", `{"nightly_days":60,"weekly_days":90}`, refusal{422, "body"}},
		{http.MethodPost, "/scans/4711/reject", "", refusal{404, "path.id"}},
	} {
		w := send(t, h, tc.method, tc.path, tc.body)
		if got := refusalOf(t, w); got != tc.want {
			t.Errorf("%s %s %s = %+v, want %+v: %s", tc.method, tc.path, tc.body, got, tc.want, w.Body)
		}
	}
	if diff := cmp.Diff(before, s.Systems[0]); diff != "" || len(s.Systems) != 1 || len(s.Plans) != 0 {
		t.Errorf("refused, but changed (-before +after):\n%s%v", diff, s.Plans)
	}
	for _, mediaType := range []string{"text/csv", "application/x-www-form-urlencoded", "text/plain"} {
		w := send(t, h, http.MethodPatch, fs, `{}`, "Content-Type", mediaType)
		if w.Code != http.StatusUnsupportedMediaType {
			t.Errorf("a body as %s = %d %s", mediaType, w.Code, w.Body)
		}
	}
}

// Nobody sets what he may not see.
func TestScopeOfSettings(t *testing.T) {
	s := example()
	s.Plans = []usage.Schedule{{FileSystemID: 1, Plan: "every 6h", Zone: "UTC", Enabled: true}}
	h := serveAs(t, s, usage.OnlyFileSystems(2))
	for _, call := range [][3]string{
		{http.MethodGet, "/filesystems/scratch", ""}, {http.MethodPatch, "/filesystems/scratch", "{}"},
		{http.MethodDelete, "/filesystems/scratch", ""}, {http.MethodGet, "/filesystems/scratch/schedule", ""},
		{http.MethodPut, "/filesystems/scratch/schedule", `{"plan":"every 6h","zone":"UTC"}`},
		{http.MethodDelete, "/filesystems/scratch/schedule", ""}, {http.MethodPost, "/scans/1/reject", ""},
	} {
		if w := send(t, h, call[0], call[1], call[2]); w.Code != http.StatusNotFound {
			t.Errorf("%s %s = %d, want 404", call[0], call[1], w.Code)
		}
	}
	if w := do(t, h, http.MethodGet, "/schedules"); strings.Contains(w.Body.String(), "scratch") {
		t.Errorf("schedules show what is out of scope: %s", w.Body)
	}
}

func TestSchedule(t *testing.T) {
	s := example()
	h := serve(t, s)
	w := send(t, h, http.MethodPut, "/filesystems/scratch/schedule", `{"plan":" Nightly  01:30","zone":"Europe/Prague"}`)
	want := `{"filesystem":"scratch","plan":"nightly 01:30","zone":"Europe/Prague","enabled":true,"catch_up_hours":12,` +
		`"upcoming":["2026-12-01T01:30:00+01:00","2026-12-02T01:30:00+01:00","2026-12-03T01:30:00+01:00",` +
		`"2026-12-04T01:30:00+01:00","2026-12-05T01:30:00+01:00"]}` + "\n"
	if diff := cmp.Diff(want, w.Body.String()); w.Code != http.StatusOK || diff != "" {
		t.Errorf("set = %d (-want +got):\n%s", w.Code, diff)
	}
	// false and 0 are not taken for absent.
	w = send(t, h, http.MethodPut, "/filesystems/scratch/schedule",
		`{"plan":"every 6h","zone":"UTC","enabled":false,"catch_up_hours":0}`)
	stored := usage.Schedule{FileSystemID: 1, Plan: "every 6h", Zone: "UTC"}
	if diff := cmp.Diff([]usage.Schedule{stored}, s.Plans); w.Code != http.StatusOK || diff != "" {
		t.Errorf("set = %d (-want +got):\n%s", w.Code, diff)
	}
	if !strings.Contains(w.Body.String(), `"upcoming":[]`) {
		t.Errorf("a schedule that is not enabled has occurrences: %s", w.Body)
	}
	s.Plans[0].Plan, s.Plans[0].Enabled, s.Plans[0].NextRun = "by a newer program", true, time.Unix(0, 0)
	if w := do(t, h, http.MethodGet, "/schedules"); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "newer") {
		t.Errorf("a plan that cannot be read hides the list: %d %s", w.Code, w.Body)
	}
	if w := do(t, h, http.MethodDelete, "/filesystems/scratch/schedule"); w.Code != http.StatusNoContent || len(s.Plans) > 0 {
		t.Errorf("remove = %d %s", w.Code, w.Body)
	}
	// The night that has no 2:30.
	type answer struct{ Upcoming []string }
	got := get[answer](t, h, "/schedules/preview?n=1&plan=weekly+sun+02:30&zone=Australia/Lord_Howe")
	if diff := cmp.Diff([]string{"2026-12-06T02:30:00+11:00"}, got.Upcoming); diff != "" {
		t.Errorf("preview (-want +got):\n%s", diff)
	}
}

func TestRetention(t *testing.T) {
	s := example()
	h := serve(t, s)
	w := send(t, h, http.MethodPut, "/retention", `{"nightly_days":30,"weekly_days":365,"monthly_days":0}`)
	if w.Code != http.StatusOK || s.Kept != (usage.Retention{NightlyDays: 30, WeeklyDays: 365}) {
		t.Errorf("set = %d %s, kept %+v", w.Code, w.Body, s.Kept)
	}
	if got := do(t, h, http.MethodGet, "/retention").Body.String(); got != w.Body.String() {
		t.Errorf("set to %s, which is told as %s", w.Body, got)
	}
}

func TestRejectScan(t *testing.T) {
	s := example()
	suspect := s.AddScan(1, night.Add(24*time.Hour), nil)
	suspect.Verdict, suspect.Published = usage.Suspect, time.Time{}
	h := serve(t, s)
	w := do(t, h, http.MethodPost, "/scans/4/reject")
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"rejected":true`) {
		t.Errorf("reject = %d %s", w.Code, w.Body)
	}
	if w := do(t, h, http.MethodPost, "/scans/1/reject"); w.Code != http.StatusConflict {
		t.Errorf("rejecting a clean one = %d %s", w.Code, w.Body)
	}
}

// What runs and what waits is told with what it needs to be understood.
func TestUnfinishedScans(t *testing.T) {
	s := example()
	running := s.AddState(1, night, usage.Running)
	running.Origin, running.Occurrence, running.Attempt = usage.BySchedule, night, 2
	running.Progress.Stalled, running.Progress.LastAnswer = true, night.Add(time.Minute)
	running.Progress.Blocked = []usage.Blocked{{Directory: "a/b", Op: "readdir", Seconds: 70}}
	h := serve(t, s)
	got := get[struct {
		Origin, Occurrence string
		Attempt            int
		Progress           struct {
			Stalled    bool
			LastAnswer string `json:"last_answer"`
			Blocked    []usage.Blocked
		}
	}](t, h, "/scans/4")
	if got.Origin != "schedule" || got.Occurrence != "2026-11-30T00:30:00Z" || got.Attempt != 2 || !got.Progress.Stalled ||
		got.Progress.LastAnswer != "2026-11-30T00:31:00Z" || !cmp.Equal(got.Progress.Blocked, running.Progress.Blocked) {
		t.Errorf("a stalled scan is told as %+v", got)
	}
}
