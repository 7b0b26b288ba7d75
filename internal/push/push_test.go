package push_test

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"fstally/internal/push"
	"fstally/internal/usage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newClient(t *testing.T, c push.Config) *push.Client {
	t.Helper()
	c.Token = "secret-of-the-site"
	client, err := push.NewClient(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func TestAddresses(t *testing.T) {
	for _, tc := range []struct {
		url, token string
		insecure   bool
		want       string // in the error; "" for none
	}{
		{url: "https://fs.example.org", token: "t"},
		{url: "https://fs.example.org/storage/", token: "t"},
		{url: "http://localhost:8080", token: "t"},
		{url: "http://127.0.0.1:8080", token: "t"},
		{url: "http://[::1]:8080", token: "t"},
		{url: "http://fs.example.org", token: "t", insecure: true},
		{url: "http://fs.example.org", token: "t", want: "https"},
		{url: "http://localhost.example.org", token: "t", want: "https"},
		{url: "fs.example.org", token: "t", want: "not the address"},
		{url: "ftp://fs.example.org", token: "t", want: "not the address"},
		{url: "https://user:word@fs.example.org", token: "t", want: "not the address"},
		{url: "https://fs.example.org/?token=x", token: "t", want: "not the address"},
		{url: "https://fs.example.org", want: "no access token"},
		{url: "https://fs.example.org", token: "a\nb", want: "characters"},
	} {
		_, err := push.NewClient(push.Config{URL: tc.url, Token: tc.token, InsecureHTTP: tc.insecure})
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v", tc, err)
		}
	}
}

// The token goes to the server that was named, and nowhere else.
func TestRedirects(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s came along, with %q", r.Method, r.URL, r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL+"/there", http.StatusTemporaryRedirect))
	defer server.Close()
	_, err := newClient(t, push.Config{URL: server.URL}).FileSystem(t.Context(), "scratch")
	if err == nil || push.Passing(err) || !strings.Contains(err.Error(), elsewhere.URL) {
		t.Errorf("a redirect: %v", err)
	}
}

const settings = `{"id":7,"name":"scratch","root":"/gpfs/a\\xff","size_classes":[1024,2048,4096,8192],"fileset_depth":2,
	"filesets":[{"path":"p/a\\x0a","name":"A"},{"path":"q"}],"walkers":3,"ops_limit":-1,"stall_minutes":9,"nice":5,
	"idle_io":true,"memory_limit":1073741824,"more":"of a later version"}`

func TestCertificates(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/storage/api/v1/filesystems/scratch" || r.Header.Get("Authorization") != "Bearer secret-of-the-site" {
			t.Errorf("asked for %s with %q", r.URL, r.Header.Get("Authorization"))
		}
		_, _ = io.WriteString(w, settings)
	}))
	defer server.Close()
	server.Config.ErrorLog = nil
	url := server.URL + "/storage/"
	_, err := newClient(t, push.Config{URL: url}).FileSystem(t.Context(), "scratch")
	if err == nil || push.Passing(err) {
		t.Errorf("a certificate of nobody: %v", err)
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	got, err := newClient(t, push.Config{URL: url, CAs: ca}).FileSystem(t.Context(), "scratch")
	if err != nil {
		t.Fatal(err)
	}
	want := usage.NewFileSystem("scratch", "/gpfs/a\xff")
	want.ID, want.SizeClasses, want.Walkers, want.OpsLimit = 7, usage.SizeClasses{1024, 2048, 4096, 8192}, 3, -1
	want.Filesets = usage.FilesetRules{Depth: 2, Named: []usage.NamedFileset{{Path: "p/a\n", Name: "A"}, {Path: "q"}}}
	want.StallAfter, want.Nice, want.IdleIO, want.MemoryLimit = 9*60e9, 5, true, 1<<30
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if _, err := push.NewClient(push.Config{URL: url, Token: "t", CAs: []byte("none")}); err == nil {
		t.Error("a file without certificates is taken")
	}
}

// script answers requests of an upload, in the order of its lines; each is a method, a
// status and a body.
func script(t *testing.T, lines ...string) (server *httptest.Server, done func()) {
	t.Helper()
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if len(lines) == 0 {
			t.Errorf("%s %s comes after the end", r.Method, r.URL)
			w.WriteHeader(http.StatusTeapot)
			return
		}
		line := lines[0]
		lines = lines[1:]
		var method, body string
		var status int
		if _, err := fmt.Sscanf(line, "%s %d %s", &method, &status, &body); err != nil || method != r.Method {
			t.Errorf("%s %s comes instead of %q", r.Method, r.URL, line)
		}
		if body == "hang-up" {
			panic(http.ErrAbortHandler)
		}
		if status != http.StatusOK {
			w.Header().Set("Content-Type", "application/problem+json")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	return server, func() {
		server.Close()
		if len(lines) > 0 {
			t.Errorf("did not come: %q", lines)
		}
	}
}

// What the server of a script says.
const (
	begun    = `PUT 200 {"state":"receiving","offset":0}`
	some     = `PATCH 200 {"state":"receiving","offset":4}`
	complete = `PATCH 200 {"state":"importing","offset":6}`
	imported = `POST 200 {"state":"imported","scan":{"id":5,"verdict":"clean"}}`
	away     = ` 503 {"detail":"away"}`
)

func TestSend(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lines   []string
		want    push.Stored
		refused bool
		fails   string
		passing bool
		told    int // errors before it succeeds
	}{
		"at once":        {lines: []string{begun, some, complete, imported}, want: push.Stored{ScanID: 5, Verdict: usage.Clean}},
		"stored before":  {lines: []string{`PUT 200 {"state":"imported","scan":{"id":4}}`}, want: push.Stored{ScanID: 4, Already: true}},
		"all was there":  {lines: []string{`PUT 200 {"state":"importing","offset":6}`, imported}, want: push.Stored{ScanID: 5, Verdict: usage.Clean}},
		"not yet marked": {lines: []string{`PUT 200 {"state":"receiving","offset":6}`, complete, imported}, want: push.Stored{ScanID: 5, Verdict: usage.Clean}},
		"away each time": {
			lines: []string{
				"PUT" + away, begun, "PATCH 200 hang-up", `PUT 200 {"state":"receiving","offset":2}`, complete, "POST" + away,
				`PUT 200 {"state":"importing","offset":6}`, imported,
			},
			want: push.Stored{ScanID: 5, Verdict: usage.Clean}, told: 3,
		},
		"another sender": {
			lines: []string{begun, `PATCH 409 {"detail":"busy"}`, `PUT 200 {"state":"importing","offset":6}`, imported},
			want:  push.Stored{ScanID: 5, Verdict: usage.Clean}, told: 1,
		},
		"answer lost": {
			lines: []string{begun, complete, "POST 200 hang-up", `PUT 200 {"state":"imported","scan":{"id":5}}`},
			want:  push.Stored{ScanID: 5}, told: 1,
		},
		"damaged on the way": {
			lines: []string{begun, complete, `POST 409 {"detail":"damaged"}`, begun, complete, imported},
			want:  push.Stored{ScanID: 5, Verdict: usage.Clean}, told: 1,
		},
		"damaged each time": {
			lines: slices.Repeat([]string{begun, complete, `POST 409 {"detail":"damaged"}`}, 3), fails: "damaged", told: 2, passing: true,
		},
		"refused":       {lines: []string{begun, complete, `POST 422 {"detail":"foreign"}`}, refused: true, fails: "foreign"},
		"no such token": {lines: []string{`PUT 401 {"detail":"token"}`}, fails: "token"},
		"other file":    {lines: []string{`PUT 409 {"detail":"other"}`}, fails: "other"},
		"no fstally":    {lines: []string{"PUT 200 <html>"}, fails: "check the address"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they wait
			file := filepath.Join(t.TempDir(), "r.fst")
			if err := os.WriteFile(file, []byte("result"), 0o600); err != nil {
				t.Fatal(err)
			}
			server, done := script(t, tc.lines...)
			defer done()
			client := newClient(t, push.Config{URL: server.URL, Piece: 4})
			told := 0
			stored, err := client.Send(t.Context(), push.Result{File: file, ID: "id", FileSystem: "scratch"},
				func(sent, size int64) {
					if sent < 0 || sent > size || size != 6 {
						t.Errorf("progress: %d of %d", sent, size)
					}
				}, func(error) { told++ })
			if diff := cmp.Diff(tc.want, stored); diff != "" || told != tc.told {
				t.Errorf("told %d times; (-want +got):\n%s", told, diff)
			}
			_, refused := errors.AsType[*push.RefusedError](err)
			if (err == nil) != (tc.fails == "") || err != nil && !strings.Contains(err.Error(), tc.fails) || refused != tc.refused {
				t.Errorf("error: %v", err)
			}
			if push.Passing(err) != tc.passing {
				t.Errorf("passing: %v", push.Passing(err))
			}
		})
	}
}

func TestSpool(t *testing.T) {
	dir := t.TempDir()
	s, err := push.OpenSpool(dir, "scratch")
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := s.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lock(); !errors.As(err, new(*push.BusyError)) {
		t.Errorf("locked twice: %v", err)
	}
	unlock()
	if unlock, err = s.Lock(); err != nil {
		t.Fatal(err)
	}
	unlock()

	const id = "0b6b1bd1-7b0e-4a54-9d3c-0f6f1f4b7c1e"
	for _, name := range []string{s.File(id), s.File("README"), s.File(id) + ".refused", filepath.Join(dir, "scratch", "."+id+".fst.12")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	waiting, err := s.Waiting()
	if diff := cmp.Diff([]push.Result{{File: s.File(id), ID: id}}, waiting); diff != "" || err != nil {
		t.Errorf("waiting: %v (-want +got):\n%s", err, diff)
	}
	if _, err := s.Remembered(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("remembered before the first time: %v", err)
	}
	want := usage.NewFileSystem("scratch", "/gpfs/a\xff")
	want.Filesets.Named = []usage.NamedFileset{{Path: "p/\xfe", Name: "\xfd"}}
	if err := s.Remember(&want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Remembered()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("remembered: %v (-want +got):\n%s", err, diff)
	}
}
