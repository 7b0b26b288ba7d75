package server_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"fstally/internal/api"
	"fstally/internal/postgres"
	"fstally/internal/server"
	"fstally/internal/server/storetest"
	"fstally/internal/usage"
	"fstally/test/postgrestest"
)

// stored is a site over Postgres that holds what a store in memory does.
func stored(t *testing.T, memory *storetest.Store) (http.Handler, *postgres.Store) {
	t.Helper()
	return storedAt(t, memory, postgrestest.New(t), nil)
}

// storedAt is a site over a database that holds what a store in memory does;
// tracer is told of its statements.
func storedAt(
	t *testing.T, memory *storetest.Store, database string, tracer pgx.QueryTracer,
) (http.Handler, *postgres.Store) {
	t.Helper()
	store, err := postgres.Open(t.Context(), database, postgres.Options{Location: zone, Tracer: tracer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	var names []usage.Identity
	for id, name := range memory.Users {
		names = append(names, usage.Identity{Kind: usage.UserIdentity, ID: id, Name: name})
	}
	for _, fs := range memory.Systems {
		if _, err := store.AddFileSystem(t.Context(), usage.FileSystem{Name: fs.Name, Root: fs.Root}); err != nil {
			t.Fatal(err)
		}
	}
	for _, plan := range memory.Plans {
		if err := store.SetSchedule(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
	}
	var filesets []usage.NamedFileset
	for path, name := range memory.Named {
		filesets = append(filesets, usage.NamedFileset{Path: path, Name: name})
	}
	for _, scan := range memory.AllScans {
		if _, err := store.Import(t.Context(), postgres.ImportRequest{
			FileSystemID: scan.FileSystemID, Summary: memory.Content[scan.ID],
			Meta: &usage.Meta{
				ResultID: uuid.NewString(), Version: "test", Root: scan.Root, FSType: scan.FSType, Host: scan.Host,
				Engine: scan.Engine, Freshness: scan.Freshness, Started: scan.Started, Finished: scan.Finished,
				SizeClasses: scan.SizeClasses, Capacity: scan.Capacity, Filesets: filesets, Identities: names,
			},
		}); err != nil {
			t.Fatal(err)
		}
	}
	config := server.Config{
		Reader: store, Scans: store, AllowAnonymous: true, Location: zone,
		Clock: func() time.Time { return night.Add(9 * time.Hour) }, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	config.API, err = api.New(api.Config{
		Reader: store, Scans: store, Scope: server.Scope, Clock: config.Clock, Logger: config.Logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	site, err := server.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return site, store
}

// ids are the scans of answers, which the two stores may number differently, and
// times that only a real store sets.
var ids = regexp.MustCompile(`"(id|published|queued|created)":("[^"]*"|\d+)|(?m)^(\d{4}-\d\d-\d\d),\d+,`)

// The store in memory, which all other tests use, and Postgres answer alike.
func TestPostgresAnswersAlike(t *testing.T) {
	memory := exampleOf(6)
	tree := storetest.Tree{{UID: 3000000000, Type: "txt", Fileset: "big", Files: 2, Size: 1<<63 - 1}}
	for i, name := range hostile {
		memory.Users[uint32(100+i)] = name
		tree = append(tree, storetest.Line{UID: uint32(100 + i), Type: "t", Fileset: name, Files: 1, Size: 1 << i})
	}
	memory.AddScan(1, night.Add(5*time.Hour), append(tree, storetest.Line{UID: 7, Type: "(none)", Files: 100}))
	site, _ := stored(t, memory)
	want := &pair{open(t, memory)}
	got := &pair{site}

	var paths []string
	for _, d := range usage.AllDimensions() {
		for _, by := range usage.AllMeasures() {
			paths = append(paths, "/usage?limit=7&group_by="+string(d)+"&by="+string(by))
		}
		for _, filter := range []string{
			"user=102", "user=3000000000", "group=100", "pool=0", "type=txt", "type=nothing", "category=data",
			"fileset=" + url.QueryEscape(usage.EscapeKey(hostile[0])), "fileset=(none)", "fileset=" + url.QueryEscape(usage.EscapeKey("(none)")),
			"size_class=over", "size_class=3072&type=t", "age_class=7d",
		} {
			paths = append(paths, "/usage?limit=1000&group_by="+string(d)+"&"+filter)
		}
		paths = append(paths, "/history?top=3&by=files&group_by="+string(d))
	}
	paths = append(paths, "/usage?offset=5&limit=5", "/usage?offset=500", "/top/users?format=csv&limit=100", "/history",
		"/history?from=2026-11-25&to=2026-11-28", "/history?format=csv", "/histogram", "/histogram?fine=true",
		"/histogram?fine=true&type=txt", "/histogram?type=nothing")
	for _, path := range paths {
		if diff := cmp.Diff(want.answer(t, path), got.answer(t, path)); diff != "" {
			t.Errorf("%s (-memory +postgres):\n%s", path, diff)
		}
	}
}

type pair struct{ http.Handler }

func (p *pair) answer(t *testing.T, path string) string {
	t.Helper()
	w := (&site{Handler: p.Handler}).get(t, "/api/v1/filesystems/scratch"+path)
	if w.Code != http.StatusOK {
		t.Errorf("GET %s = %d %s", path, w.Code, w.Body)
	}
	return ids.ReplaceAllString(w.Body.String(), "$1 $3")
}

func TestPagesOverPostgres(t *testing.T) {
	memory := exampleOf(4)
	handler, store := stored(t, memory)
	s := &site{Handler: handler}
	wantWords(t, s.read(t, "/", http.StatusOK), "110 GiB of 200 GiB, 55.0%", "+ 1 GiB", "nothing was found wrong")
	wantWords(t, s.read(t, "/fs/scratch/scans", http.StatusOK), "Mon 30 Nov 2026, 01:30", "Fri 27 Nov 2026, 01:30")
	wantWords(t, s.read(t, "/fs/scratch/history?group_by=user&by=files", http.StatusOK), "Files by user over time", "uid 4242", "100")
	wantWords(t, s.read(t, "/fs/scratch/users/1001", http.StatusOK), "#1", "of 4 users", "tar.gz 100 GiB100.0%", "home 100 GiB100.0%")
	wantWords(t, s.read(t, "/fs/scratch/types/tar.gz", http.StatusOK), "#1", "home 100 GiB100.0%")
	wantWords(t, s.read(t, "/fs/scratch/filesets/home", http.StatusOK), "#1", "tar.gz 100 GiB100.0%")
	for path, says := range map[string]string{
		"users/7": "no user 7", "types/xyz": "no file type xyz", "filesets/a%2Fb": "no fileset a/b", "filesets/%ff": `no fileset \xff`,
	} {
		wantWords(t, s.read(t, "/fs/scratch/"+path, http.StatusNotFound), says)
	}
	wantWords(t, s.read(t, "/fs/scratch/capacity", http.StatusOK),
		"110 GiB of 200 GiB, 55.0%", "100 GiB 4 users, 3 filesets", "+1 GiB in 1 day", "uid 4242 no account", "Mon 30 Nov 2026, 01:30")
	wantWords(t, s.read(t, "/fs/scratch/files?histogram=fine&type=txt", http.StatusOK), "mean 966 MiB")
	if w := s.get(t, "/fs/scratch/capacity?day=2026-11-28"); w.Code != http.StatusSeeOther {
		t.Errorf("the scan of a day = %d", w.Code)
	}
	if w := s.get(t, "/readyz"); w.Code != http.StatusOK {
		t.Errorf("readyz = %d", w.Code)
	}

	w := s.do(t, http.MethodPost, "/fs/scratch/scan", url.Values{})
	page := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(page, "/scans/") {
		t.Fatalf("start = %d to %q", w.Code, page)
	}
	wantWords(t, s.read(t, page, http.StatusOK), "queued")
	if w = s.do(t, http.MethodPost, "/fs/scratch/scan", url.Values{}); w.Header().Get("Location") != page {
		t.Errorf("second start leads to %q, want %q", w.Header().Get("Location"), page)
	}
	if w = s.do(t, http.MethodPost, "/api/v1/filesystems/scratch/scans", nil); w.Code != http.StatusConflict {
		t.Errorf("start by the API = %d %s", w.Code, w.Body)
	}
	if w = s.do(t, http.MethodPost, page+"/cancel", url.Values{}); w.Code != http.StatusSeeOther {
		t.Errorf("cancel = %d %s", w.Code, w.Body)
	}
	if w = s.do(t, http.MethodPost, page+"/cancel", url.Values{}); w.Code != http.StatusConflict {
		t.Errorf("second cancel = %d", w.Code)
	}
	var live struct{ State string }
	w = s.get(t, page+"/progress")
	if err := json.Unmarshal(w.Body.Bytes(), &live); err != nil || live.State != "cancelled" {
		t.Errorf("progress = %s, %v", w.Body, err)
	}
	// A database that is gone.
	store.Close()
	if w := s.get(t, "/fs/scratch/capacity"); w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "pool") {
		t.Errorf("without a database = %d %s", w.Code, w.Body)
	}
	if w := s.get(t, "/readyz"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("readyz without a database = %d", w.Code)
	}
}

// C127: ids that no column holds reach no column.
func TestWildIdsOverPostgres(t *testing.T) {
	memory := &storetest.Store{}
	memory.AddScan(memory.Watch("fs", "/fs"), night, nil)
	handler, _ := stored(t, memory)
	s := &site{Handler: handler}
	const most = "9223372036854775807"
	for _, path := range []string{
		"/api/v1/scans/" + most, "/api/v1/scans/18446744073709551613", "/api/v1/scans/-1", "/api/v1/filesystems/" + most + "/usage",
		"/api/v1/filesystems/18446744073709551613/usage", "/api/v1/filesystems/fs/usage?scan=" + most,
		"/api/v1/filesystems/fs/usage?user=4294967296", "/api/v1/filesystems/fs/usage?type=%00", "/api/v1/filesystems/%00/usage",
		"/api/v1/filesystems/-1/usage", "/fs/-1/capacity", "/fs/" + most + "/capacity", "/fs/fs/capacity?scan=" + most,
		"/fs/fs/files?type=%00", "/scans/" + most, "/scans/-1", "/fs/%ff/capacity", "/fs/fs/capacity?day=0001-01-01",
	} {
		if w := s.get(t, path); w.Code < 400 || w.Code >= 500 {
			t.Errorf("GET %s = %d %s", path, w.Code, w.Body)
		}
	}
	for _, path := range []string{
		"/api/v1/filesystems/fs/scans?before=" + most, "/api/v1/filesystems/fs/usage?user=4294967295&pool=4294967295",
		"/api/v1/filesystems/fs/history?from=0001-01-01&to=9999-12-31", "/api/v1/filesystems/fs/usage?offset=1000000000",
		`/api/v1/filesystems/fs/usage?fileset=\x00\xff`, "/fs/fs/capacity?day=9999-12-31",
	} {
		if w := s.get(t, path); w.Code >= 400 {
			t.Errorf("GET %s = %d %s", path, w.Code, w.Body)
		}
	}
}

// C102: while a scan is published, every page and the API show the scan before or the
// new one, as a whole: never a mix, never nothing.
func TestReadersNeverSeeHalfAScan(t *testing.T) {
	memory := exampleOf(2)
	handler, store := stored(t, memory)
	next := storetest.Tree{
		{UID: 0, Type: "(none)", Files: 2}, {UID: 1000, Type: "txt", Fileset: "home", Files: 7, Size: 5000},
		{UID: 1001, Type: "tar.gz", Fileset: "home", Files: 80, Size: 1 << 30},
		{UID: 4242, Type: "h5", Fileset: "proj", Files: 11, Size: 1 << 20},
	}
	const before, after = 106, 100 // files
	total := func(path string) int64 {
		w := (&site{Handler: handler}).get(t, path)
		if w.Code != http.StatusOK {
			t.Errorf("GET %s = %d while a scan is published", path, w.Code)
			return 0
		}
		var answer struct {
			Total struct{ Files int64 }
			Items []struct{ Files int64 }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Error(err)
			return 0
		}
		var sum int64
		for _, item := range answer.Items {
			sum += item.Files
		}
		if sum != answer.Total.Files {
			t.Errorf("GET %s: rows sum to %d, the total is %d", path, sum, answer.Total.Files)
		}
		return answer.Total.Files
	}
	running, err := store.StartScan(t.Context(), 1, "owner")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Heartbeat(t.Context(), running.ID, "owner", usage.Progress{Entries: 17, Phase: "walking"}); err != nil {
		t.Fatal(err)
	}
	published := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for last := false; ; {
				for _, d := range []usage.Dimension{usage.User, usage.Type, usage.Fileset, usage.SizeClassDim} {
					got := total("/api/v1/filesystems/scratch/usage?limit=1000&group_by=" + string(d))
					if got != after && (last || got != before) {
						t.Errorf("%d files by %s, want %d or %d; published %v", got, d, before, after, last)
					}
				}
				for _, path := range []string{"/", "/fs/scratch/capacity", "/fs/scratch/files"} {
					if w := (&site{Handler: handler}).get(t, path); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "no numbers yet") {
						t.Errorf("GET %s = %d while a scan is published", path, w.Code)
					}
				}
				if last {
					return
				}
				select {
				case <-published:
					last = true // once more, of what is published
				default:
				}
			}
		})
	}
	_, err = store.Import(t.Context(), postgres.ImportRequest{
		FileSystemID: 1, ScanID: running.ID, Owner: "owner", Summary: next.Summary(),
		Meta: &usage.Meta{
			ResultID: uuid.NewString(), Version: "test", Root: "/gpfs/scratch", FSType: "xfs", Host: "node1", Engine: "fastwalk",
			Freshness: "exact", Started: night.Add(time.Hour), Finished: night.Add(2 * time.Hour), SizeClasses: usage.DefaultSizeClasses(),
		},
	})
	close(published)
	readers.Wait()
	if err != nil {
		t.Fatal(err)
	}
}
