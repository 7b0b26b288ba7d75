package server_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/PuerkitoBio/goquery"

	"fstally/internal/api"
	"fstally/internal/server"
	"fstally/internal/server/storetest"
	"fstally/internal/usage"
)

const token = "correct horse battery staple"

var (
	zone  = time.FixedZone("CET", 3600)
	night = time.Date(2026, 11, 30, 1, 30, 0, 0, zone)
)

// hostile are names that mean something to HTML, JSON, a terminal or a log.
var hostile = []string{
	`"><svg onload=alert(1)>`, `</script><script>alert(1)</script>`, `');alert(1);('`, `<img src=x onerror=alert(1)>`,
	"javascript:alert(1)", "a\nb", "\x1b[2J", "exe.\u202egnp", "report\x96final", `c\x2dd`, `fs"1`, "(none)", "a\u2028b",
}

// site is a running site and its store.
type site struct {
	http.Handler
	api   server.API
	store *storetest.Store
	log   *bytes.Buffer
}

// newSite serves a store; change may alter its configuration.
func newSite(t *testing.T, store *storetest.Store, change func(*server.Config)) *site {
	t.Helper()
	s := &site{store: store, log: &bytes.Buffer{}}
	config := server.Config{
		Reader: store, Scans: store, Token: token, Location: zone,
		Clock:  func() time.Time { return night.Add(9 * time.Hour).UTC() },
		Logger: slog.New(slog.NewJSONHandler(s.log, nil)), Version: "test",
	}
	if change != nil {
		change(&config)
	}
	var err error
	config.API, err = api.New(api.Config{
		Reader: config.Reader, Scans: store, Scope: server.Scope,
		Base: config.BasePath, Clock: config.Clock, Logger: config.Logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.api = config.API
	if s.Handler, err = server.New(config); err != nil {
		t.Fatal(err)
	}
	return s
}

// open is a site that asks for no token.
func open(t *testing.T, store *storetest.Store) *site {
	t.Helper()
	return newSite(t, store, func(c *server.Config) { c.AllowAnonymous = true })
}

// do sends a request to localhost; headers are pairs.
func (s *site) do(t *testing.T, method, target string, form url.Values, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(form.Encode()))
	r.Host = "localhost:8080"
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func (s *site) get(t *testing.T, target string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	return s.do(t, http.MethodGet, target, nil, header...)
}

// read returns a page that must answer with a status.
func (s *site) read(t *testing.T, target string, status int) *goquery.Document {
	t.Helper()
	w := s.get(t, target)
	if w.Code != status {
		t.Fatalf("GET %s = %d, want %d: %s", target, w.Code, status, w.Body)
	}
	doc, err := goquery.NewDocumentFromReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// words returns what is to be read on a page, with single spaces.
func words(doc *goquery.Document) string {
	body := doc.Find("body").Clone()
	body.Find("script").Remove()
	return strings.Join(strings.Fields(body.Text()), " ")
}

func wantWords(t *testing.T, doc *goquery.Document, wanted ...string) {
	t.Helper()
	text := words(doc)
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q: %s", want, text)
		}
	}
}

// example is forty nights of a file system that grows by 1 GiB a night.
func example() *storetest.Store { return exampleOf(40) }

func exampleOf(nights int) *storetest.Store {
	s := &storetest.Store{Users: map[uint32]string{0: "root", 1000: "alice", 1001: "others"}}
	fs := s.Watch("scratch", "/gpfs/scratch")
	s.Plans = []usage.Schedule{{
		FileSystemID: fs, Plan: "nightly 01:30", Zone: "Europe/Prague", Enabled: true, CatchUp: 12 * time.Hour,
	}}
	for day := 1 - nights; day <= 0; day++ {
		tree := storetest.Tree{
			{UID: 0, Type: "(none)", Files: 2},
			{UID: 1000, Type: "txt", Fileset: "home", Files: 3, Size: 5000},
			{UID: 1001, Type: "tar.gz", Fileset: "home", Files: int64(100 + day), Size: 1 << 30},
			{UID: 4242, Type: "h5", Fileset: "proj", Files: 1, Size: 1 << 20},
		}
		scan := s.AddScan(fs, night.AddDate(0, 0, day), tree)
		scan.Capacity = usage.Capacity{
			Size: usage.ByteCount(200 << 30), Free: usage.ByteCount(200<<30 - int64(110+day)<<30),
			InodesTotal: 1000, InodesFree: 500, Source: "statfs",
		}
	}
	return s
}

// many is a file system with more users, types and filesets than a list shows.
func many() *storetest.Store {
	s := &storetest.Store{Users: map[uint32]string{14: "other"}}
	fs := s.Watch("many", "/many")
	var tree storetest.Tree
	for n := uint32(1); n <= 15; n++ {
		tree = append(tree, storetest.Line{
			UID: n, Type: "t" + string(rune('a'+n)), Fileset: "set" + string(rune('a'+n)), Files: int64(n), Size: 1 << 20,
		})
	}
	s.AddScan(fs, night, tree)
	return s
}
