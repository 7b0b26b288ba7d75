package server_test

import (
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/danielgtaylor/huma/v2"

	"fstally/internal/server"
	"fstally/internal/server/storetest"
)

// every calls f for each operation of the API.
func every(s *site, f func(op *huma.Operation)) {
	for _, item := range s.api.Document().Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op != nil {
				f(op)
			}
		}
	}
}

// The page shows all that the document has: each operation at its anchor, each
// parameter, each status, and each object.
func TestReferenceIsWhole(t *testing.T) {
	s := open(t, example())
	doc := s.read(t, "/api", http.StatusOK)
	if got := doc.Find("link[rel=stylesheet], script").Length(); got != 3 {
		t.Errorf("the page loads %d things, want those of every page", got)
	}
	operations := 0
	every(s, func(op *huma.Operation) {
		operations++
		article := doc.Find("article#" + op.OperationID)
		text := article.Text()
		for _, want := range []string{op.Method, op.Path, op.Summary, op.Description} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the page does not say %q", op.OperationID, want)
			}
		}
		if doc.Find(`nav.contents a[href="#`+op.OperationID+`"]`).Length() != 1 {
			t.Errorf("%s is not in the contents", op.OperationID)
		}
		for _, p := range op.Parameters {
			row := describedAs(article, p.Name)
			for _, value := range p.Schema.Enum {
				if !strings.Contains(row, value.(string)) { //nolint:errcheck,forcetypeassert // ours are strings
					t.Errorf("%s: parameter %s does not list %v: %q", op.OperationID, p.Name, value, row)
				}
			}
			if !strings.Contains(row, p.Description) || !strings.Contains(row, "in the "+p.In) {
				t.Errorf("%s: parameter %s is shown as %q", op.OperationID, p.Name, row)
			}
		}
		for status, response := range op.Responses {
			if !strings.Contains(text, status) || !strings.Contains(text, response.Description) {
				t.Errorf("%s: the page does not say what %s is", op.OperationID, status)
			}
		}
	})
	if got := doc.Find("article").Length(); got != operations || operations < 10 {
		t.Errorf("%d operations are shown, want %d", got, operations)
	}
	limit := describedAs(doc.Find("article#usage"), "limit")
	if !strings.Contains(limit, "whole number, 1 to 1000") || !strings.Contains(limit, "Default: 10") {
		t.Errorf("limit is shown as %q", limit)
	}
	others := describedAs(doc.Find("article#usage"), "others")
	if !strings.Contains(others, "Others") || !strings.Contains(others, "can be null") {
		t.Errorf("others is shown as %q", others)
	}
	doc.Find(`main a[href^="#"]`).Each(func(_ int, a *goquery.Selection) {
		if anchor := a.AttrOr("href", ""); doc.Find(anchor).Length() != 1 {
			t.Errorf("%q leads to %s, of which there is not one", a.Text(), anchor)
		}
	})
}

// describedAs returns the text of the row that a name heads, with single spaces.
func describedAs(in *goquery.Selection, name string) string {
	row := in.Find("th code").FilterFunction(func(_ int, n *goquery.Selection) bool { return n.Text() == name })
	return strings.Join(strings.Fields(row.First().Closest("tr").Text()), " ")
}

// Every link to try a call opens something, and so do the commands.
func TestReferenceCanBeTried(t *testing.T) {
	s := newSite(t, example(), func(c *server.Config) { c.BasePath = "/storage" })
	cookie := s.cookie(t)
	w := s.get(t, "/storage/api", "Cookie", cookie, "Host", "localhost:8080", "X-Forwarded-Proto", "https")
	doc, err := goquery.NewDocumentFromReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	doc.Find("article .tools a").Each(func(_ int, a *goquery.Selection) {
		tried++
		w := s.get(t, a.AttrOr("href", ""), "Cookie", cookie, "Accept", "text/html,*/*;q=0.8")
		want := "application/json"
		if strings.HasPrefix(a.Text(), "CSV") {
			want = "text/csv; charset=utf-8; header=present"
		}
		if got := w.Header().Get("Content-Type"); w.Code != http.StatusOK || got != want {
			t.Errorf("%s = %d %s, want %s: %s", a.AttrOr("href", ""), w.Code, got, want, w.Body)
		}
	})
	if tried < 15 {
		t.Errorf("only %d calls can be tried", tried)
	}
	want := `curl -s -H "Authorization: Bearer $TOKEN" ` +
		`'https://localhost:8080/storage/api/v1/filesystems/scratch/usage?by=allocated&group_by=user&limit=10&order=measure&scan=latest'`
	if got := doc.Find("article#usage pre").Text(); got != want {
		t.Errorf("the command is\n%s\nwant\n%s", got, want)
	}
	want = `curl -s -X POST -H "Authorization: Bearer $TOKEN" 'https://localhost:8080/storage/api/v1/scans/40/cancel'`
	if got := doc.Find("article#cancel-scan pre").Text(); got != want {
		t.Errorf("the command is\n%s\nwant\n%s", got, want)
	}
	want = `curl -s -X PUT -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' ` +
		`-d '{"plan":"nightly 01:30","zone":"Europe/Berlin"}' 'https://localhost:8080/storage/api/v1/filesystems/scratch/schedule'`
	if got := doc.Find("article#set-schedule pre").Text(); got != want {
		t.Errorf("the command is\n%s\nwant\n%s", got, want)
	}
	for name, words := range map[string]string{"plan": "in the body", "catch_up_hours": "0 to 8760"} {
		if got := describedAs(doc.Find("article#set-schedule"), name); !strings.Contains(got, words) {
			t.Errorf("%s is described as %q", name, got)
		}
	}
	if got := doc.Find("article#upload .tools a").Length(); got != 0 {
		t.Error("an upload that is not there can be tried")
	}
	if got := doc.Find("article#user pre").Text(); !strings.Contains(got, "/users/1001?") {
		t.Errorf("the command is about another user than the largest: %s", got)
	}
}

// cookie logs in.
func (s *site) cookie(t *testing.T) string {
	t.Helper()
	w := s.get(t, "/?token="+strings.ReplaceAll(token, " ", "+"))
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("login = %d with %d cookies", w.Code, len(cookies))
	}
	return cookies[0].Name + "=" + cookies[0].Value
}

// A host can be named by whoever sends the request: in a command it is one word
// of the shell, and nothing else.
func TestReferenceQuotesTheHost(t *testing.T) {
	s := open(t, example())
	host := "localhost:8080';touch${IFS}/tmp/x;'$(id)`id`"
	w := s.get(t, "/api", "Host", host)
	doc, err := goquery.NewDocumentFromReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	command := doc.Find("article#list-filesystems pre").Text()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(command, "curl -s", "printf %s", 1)).Output()
	if err != nil || !strings.HasPrefix(string(out), "http://localhost") || !strings.HasSuffix(string(out), "/filesystems") {
		t.Errorf("%s is to the shell %q, %v", command, out, err)
	}
}

// Without anything to show, and without a token, there are still commands.
func TestReferenceOfNothing(t *testing.T) {
	s := open(t, &storetest.Store{})
	doc := s.read(t, "/api", http.StatusOK)
	want := `curl -s 'http://localhost:8080/api/v1/filesystems/scratch/usage?by=allocated&group_by=user&limit=10&order=measure&scan=latest'`
	if got := doc.Find("article#usage pre").Text(); got != want {
		t.Errorf("the command is\n%s\nwant\n%s", got, want)
	}
	wantWords(t, doc, "calls need no token")

	store := &storetest.Store{}
	store.Watch("fresh", "/fresh")
	doc = open(t, store).read(t, "/api", http.StatusOK)
	if got := doc.Find("article#usage pre").Text(); !strings.Contains(got, "/filesystems/fresh/usage?") {
		t.Errorf("the command is about nothing that is there: %s", got)
	}
}

// What the gate in front of the API answers is in the document of the API too.
func TestTheGateIsDocumented(t *testing.T) {
	s := newSite(t, example(), nil)
	every(s, func(op *huma.Operation) {
		path := "/api/v1" + strings.NewReplacer("{fs}", "scratch", "{id}", "1", "{uid}", "0").Replace(op.Path)
		for name, headers := range map[string][]string{
			"no token":   {},
			"wrong host": {"Host", "evil.example"},
			"other site": {"Sec-Fetch-Site", "cross-site"},
		} {
			w := s.do(t, op.Method, path, nil, headers...)
			response := op.Responses[strconv.Itoa(w.Code)]
			if w.Code < 400 || response == nil || response.Content[w.Header().Get("Content-Type")] == nil {
				t.Errorf("%s, %s: %d %s is not in the document", op.OperationID, name, w.Code, w.Header().Get("Content-Type"))
			}
		}
	})
}
