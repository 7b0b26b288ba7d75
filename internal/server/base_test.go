package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"fstally/internal/server"
)

// C142: behind a proxy under /storage, which may strip the prefix or not, no
// address leads out of it.
func TestBasePath(t *testing.T) {
	for name, prefix := range map[string]string{"left": "/storage", "stripped": ""} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, example(), func(c *server.Config) { c.BasePath = "/storage" })
			w := s.get(t, prefix+"/fs/scratch/capacity?token="+url.QueryEscape(token))
			cookie := w.Result().Cookies()[0]
			if got := w.Header().Get("Location"); got != "/storage/fs/scratch/capacity" || cookie.Path != "/storage/" {
				t.Errorf("login = Location %q, cookie path %q", got, cookie.Path)
			}
			seen, queue := map[string]bool{}, []string{"/storage/", "/storage/nothing", "/storage/login", "/storage/scans/1/progress"}
			for len(queue) > 0 {
				path, _, _ := strings.Cut(queue[0], "#")
				queue = queue[1:]
				if seen[path] || len(seen) > 150 {
					continue
				}
				seen[path] = true
				w := s.get(t, prefix+strings.TrimPrefix(path, "/storage"), "Cookie", cookie.Name+"="+cookie.Value)
				if w.Code >= 500 || w.Code == http.StatusUnauthorized || w.Code == 404 && path != "/storage/nothing" {
					t.Errorf("GET %s = %d", path, w.Code)
				}
				queue = append(queue, links(t, path, w.Body.String(), w.Header())...)
			}
			if len(seen) < 20 {
				t.Errorf("only %d addresses were found: %v", len(seen), seen)
			}
			w = s.do(t, http.MethodPost, prefix+"/fs/scratch/scan", url.Values{}, "Cookie", cookie.Name+"="+cookie.Value)
			if got := w.Header().Get("Location"); got != "/storage/scans/41" {
				t.Errorf("start leads to %q", got)
			}
			w = s.do(t, http.MethodPost, prefix+"/api/v1/scans/41/cancel", nil, "Authorization", "Bearer "+token)
			if got := w.Header().Get("Location"); got != "/storage/api/v1/scans/41" {
				t.Errorf("cancel by the API leads to %q", got)
			}
			w = s.get(t, prefix+"/api/v1/filesystems/nope/scans", "Authorization", "Bearer "+token)
			if !strings.Contains(w.Body.String(), "see /storage/api/v1/filesystems for") {
				t.Errorf("the API sends elsewhere: %s", w.Body)
			}
			if w := s.get(t, prefix+"/api/v1/nothing"); w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("the API without a token = %v", w.Header())
			}
		})
	}
}

// links returns the addresses of an answer, all of which must be below the base.
func links(t *testing.T, path, body string, header http.Header) []string {
	t.Helper()
	var found []string
	add := func(address string) {
		if !strings.HasPrefix(address, "/storage/") {
			t.Errorf("%s leads to %q", path, address)
			return
		}
		found = append(found, address)
	}
	if location := header.Get("Location"); location != "" {
		add(location)
	}
	if !strings.HasPrefix(header.Get("Content-Type"), "text/html") {
		return found
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, attribute := range []string{"href", "src", "data-live", "action"} {
		doc.Find("[" + attribute + "]").Each(func(_ int, n *goquery.Selection) {
			address, _ := n.Attr(attribute)
			if strings.HasPrefix(address, "#") {
				return
			}
			if attribute == "action" && n.AttrOr("method", "get") == "post" {
				links := len(found)
				add(address) // checked, but not followed
				found = found[:links]
				return
			}
			add(address)
		})
	}
	return found
}

// A path that only begins like the base is not below it.
func TestBasePathIsWhole(t *testing.T) {
	s := newSite(t, example(), func(c *server.Config) { c.BasePath, c.AllowAnonymous = "/storage", true })
	if w := s.get(t, "/storageroom/fs/scratch/capacity"); w.Code != http.StatusNotFound {
		t.Errorf("/storageroom = %d", w.Code)
	}
	if w := s.get(t, "/storage"); w.Code != http.StatusOK {
		t.Errorf("/storage = %d", w.Code)
	}
}
