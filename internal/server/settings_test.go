package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/server"
	"fstally/internal/usage"
)

func TestSettings(t *testing.T) {
	store := example()
	store.Kept = usage.Retention{NightlyDays: 60, WeeklyDays: 400}
	s := newSite(t, store, func(c *server.Config) { c.AllowAnonymous, c.Schema = true, 3 })
	doc := s.read(t, "/settings", http.StatusOK)
	wantWords(t, doc, "this server", "walkers by its type", "Nothing is deleted at once", "Schema of the store3", "Versiontest", "--allow-anonymous")
	if got := doc.Find("#nightly_days").AttrOr("value", ""); got != "60" {
		t.Errorf("nights are kept for %q", got)
	}
	w := s.do(t, http.MethodPost, "/settings/retention", url.Values{"nightly_days": {"30"}, "weekly_days": {"365"}, "monthly_days": {"0"}})
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/settings?saved=retention" {
		t.Fatalf("saving = %d %s", w.Code, w.Body)
	}
	if want := (usage.Retention{NightlyDays: 30, WeeklyDays: 365}); store.Kept != want {
		t.Errorf("kept %+v, want %+v", store.Kept, want)
	}
	for _, bad := range []url.Values{
		{"nightly_days": {"400"}, "weekly_days": {"7"}, "monthly_days": {"0"}},
		{"nightly_days": {"400"}, "weekly_days": {"seven"}, "monthly_days": {"0"}},
	} {
		w := s.do(t, http.MethodPost, "/settings/retention", bad)
		doc := parse(t, w)
		if field := doc.Find("#weekly_days"); w.Code != http.StatusUnprocessableEntity || field.AttrOr("aria-invalid", "") != "true" ||
			doc.Find("#nightly_days").AttrOr("value", "") != "400" {
			t.Errorf("%v = %d: %s", bad, w.Code, words(doc))
		}
	}
	if store.Kept.NightlyDays != 30 {
		t.Error("what was refused was stored")
	}
}

func TestAddFileSystem(t *testing.T) {
	store := example()
	s := open(t, store)
	add := func(name, root string) (int, string, string) {
		w := s.do(t, http.MethodPost, "/settings/add", url.Values{"name": {name}, "root": {root}})
		return w.Code, w.Header().Get("Location"), words(parse(t, w))
	}
	if code, to, _ := add("home", " /gpfs/home/ "); code != http.StatusSeeOther || to != "/fs/home/settings?saved=added" {
		t.Fatalf("adding = %d to %q", code, to)
	}
	added := store.Systems[1]
	want := usage.NewFileSystem("home", "/gpfs/home")
	want.ID = added.ID
	if diff := cmp.Diff(want, added); diff != "" {
		t.Errorf("a new file system (-want +got):\n%s", diff)
	}
	doc := s.read(t, "/fs/home/settings?saved=added", http.StatusOK)
	wantWords(t, doc, "home is watched from now on", "Set a schedule")
	for _, tc := range []struct{ name, root, want string }{
		{"Home", "/x", "is not a name"},
		{"x", "gpfs", "not a path from the root"},
		{"home", "/elsewhere", "Another file system has this name"},
		{"other", "/gpfs/scratch", "The file system scratch watches it already"},
		{"other", `/a\`, "a backslash must be written"},
	} {
		if code, _, text := add(tc.name, tc.root); code != http.StatusUnprocessableEntity || !strings.Contains(text, tc.want) {
			t.Errorf("%+v = %d: %s", tc, code, text)
		}
	}
	if len(store.Systems) != 2 {
		t.Errorf("%d file systems", len(store.Systems))
	}
}

func TestSettingsOfAFileSystem(t *testing.T) {
	store := example()
	odd := []usage.NamedFileset{
		{Path: "proj/a", Name: "one"}, {Path: "b=c"}, {Path: " ends ", Name: "d=e/f"}, {Path: "x\ny", Name: `back\slash`}, {Path: "\xff"},
	}
	store.Systems[0].Filesets.Named = odd
	store.Systems[0].MemoryLimit = 100_000_001
	s := open(t, store)
	form := url.Values{}
	doc := s.read(t, "/fs/scratch/settings", http.StatusOK)
	for _, field := range doc.Find(`form[action="/fs/scratch/settings"] [name]`).EachIter() {
		value := field.AttrOr("value", field.Text())
		if field.Is("textarea") {
			value = strings.ReplaceAll(strings.TrimPrefix(value, "\n"), "\n", "\r\n") // as browsers do
		}
		if _, on := field.Attr("checked"); on || !field.Is("[type=checkbox]") {
			form.Set(field.AttrOr("name", ""), value)
		}
	}
	before := store.Systems[0]
	save := func() (int, string, string) {
		w := s.do(t, http.MethodPost, "/fs/scratch/settings", form)
		return w.Code, w.Header().Get("Location"), words(parse(t, w))
	}
	if code, _, text := save(); code != http.StatusSeeOther {
		t.Fatalf("what is stored cannot be saved: %d %s", code, text)
	}
	if diff := cmp.Diff(before, store.Systems[0]); diff != "" {
		t.Errorf("saving without a change changes (-before +after):\n%s", diff)
	}
	form.Set("walkers", "x")
	form.Set("nice", "20")
	form.Set("worker", "Node 7")
	form.Set("memory_limit", "lots")
	form.Set("filesets", "a=x\nb=x")
	code, _, text := save()
	if code != http.StatusUnprocessableEntity {
		t.Errorf("wrong settings = %d", code)
	}
	for _, want := range []string{"Write a number, without a unit", "use 0 to 19", "not a name for a worker", "is not a size", "given twice"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q: %s", want, text)
		}
	}
	if diff := cmp.Diff(before, store.Systems[0]); diff != "" {
		t.Errorf("what was refused was stored:\n%s", diff)
	}
	for name, value := range map[string]string{
		"name": "scratch2", "walkers": "8", "ops_limit": "-1", "stall_minutes": "5", "nice": "19", "worker": "node7", "memory_limit": "2 GiB",
		"size_classes": "4 KiB, 64 KiB, 1 MiB, 1 GiB", "fileset_depth": "2", "filesets": "weather=proj/nwp\r\n\r\n",
	} {
		form.Set(name, value)
	}
	form.Set("idle_io", "on")
	if code, to, text := save(); code != http.StatusSeeOther || to != "/fs/scratch2/settings?saved=1" {
		t.Fatalf("saving = %d to %q: %s", code, to, text)
	}
	want := before
	want.Name, want.Walkers, want.OpsLimit, want.StallAfter, want.Nice, want.Worker = "scratch2", 8, -1, 5*time.Minute, 19, "node7"
	want.MemoryLimit, want.SizeClasses, want.IdleIO = 2<<30, usage.SizeClasses{4 << 10, 64 << 10, 1 << 20, 1 << 30}, true
	want.Filesets = usage.FilesetRules{Depth: 2, Named: []usage.NamedFileset{{Path: "proj/nwp", Name: "weather"}}}
	if diff := cmp.Diff(want, store.Systems[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantWords(t, s.read(t, "/fs/scratch2/settings?saved=1", http.StatusOK), "The settings are saved", "fstally worker node7 --fs scratch2")
}

func TestRemoveFileSystem(t *testing.T) {
	store := example()
	s := open(t, store)
	remove := func(name string) (int, string) {
		w := s.do(t, http.MethodPost, "/fs/scratch/settings/remove", url.Values{"confirm": {name}})
		return w.Code, words(parse(t, w))
	}
	if code, text := remove("Scratch"); code != http.StatusUnprocessableEntity || !strings.Contains(text, "This is not its name") {
		t.Errorf("another name = %d: %s", code, text)
	}
	running := store.AddState(1, night, usage.Running)
	if code, text := remove("scratch"); code != http.StatusConflict || !strings.Contains(text, "cancel that first") {
		t.Errorf("while a scan runs = %d: %s", code, text)
	}
	if len(store.Systems) != 1 {
		t.Fatal("it was removed")
	}
	running.State = usage.Cancelled
	if code, _ := remove("scratch"); code != http.StatusSeeOther || len(store.Systems) != 0 {
		t.Errorf("removing = %d, %d are left", code, len(store.Systems))
	}
	wantWords(t, s.read(t, "/settings?saved=removed", http.StatusOK), "is removed", "No file system yet")
}

// While the database is away the new pages say so, and come back by themselves.
func TestStoreIsAway(t *testing.T) {
	store := planned()
	store.Err = usage.ErrUnavailable
	s := open(t, store)
	for _, path := range []string{
		"/", "/schedules", "/settings", "/fs/scratch/schedule", "/fs/scratch/settings", "/fs/scratch/scans", "/scans/40", "/scans/40/events",
	} {
		w := s.get(t, path)
		doc := parse(t, w)
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || doc.Find(`[data-await="/readyz"]`).Length() != 1 {
			t.Errorf("GET %s = %d, Retry-After %q", path, w.Code, w.Header().Get("Retry-After"))
		}
		wantWords(t, doc, "The database does not answer")
	}
	for path, form := range map[string]url.Values{
		"/fs/scratch/schedule": {"kind": {"nightly"}, "at": {"01:30"}, "zone": {"UTC"}, "catch_up": {"0"}},
		"/settings/add":        {"name": {"new"}, "root": {"/new"}},
	} {
		w := s.do(t, http.MethodPost, path, form)
		if w.Code != http.StatusServiceUnavailable || parse(t, w).Find("[data-await]").Length() != 0 {
			t.Errorf("POST %s = %d", path, w.Code)
		}
	}
}
