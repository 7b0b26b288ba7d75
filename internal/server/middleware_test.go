package server_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"fstally/internal/server"
	"fstally/internal/server/storetest"
	"fstally/internal/usage"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func escapePath(s string) string { return url.PathEscape(s) }

func TestSecurityHeaders(t *testing.T) {
	s := newSite(t, example(), nil)
	auth := []string{"Authorization", "Bearer " + token}
	for _, path := range []string{
		"/", "/login", "/fs/scratch/capacity", "/fs/scratch/files", "/scans/1", "/nothing", "/api/v1/filesystems",
		"/static/app.css", "/healthz", "/metrics",
	} {
		h := s.get(t, path, auth...).Header()
		policy := h.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") ||
			!strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("GET %s: policy %q", path, policy)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
		} {
			if h.Get(name) != want {
				t.Errorf("GET %s: %s = %q", path, name, h.Get(name))
			}
		}
		if h.Get("X-Request-Id") == "" {
			t.Errorf("GET %s has no request id", path)
		}
		if cache := h.Get("Cache-Control"); path != "/static/app.css" && !strings.Contains(cache, "no-") {
			t.Errorf("GET %s: Cache-Control %q", path, cache)
		}
	}
}

// Pages obey the policy: no inline script or style.
func TestPagesNeedNothingInline(t *testing.T) {
	s := open(t, example())
	for _, path := range []string{"/fs/scratch/capacity", "/fs/scratch/files", "/scans/1", "/login", "/nothing"} {
		checkMarkup(t, path, s.get(t, path).Body.Bytes())
	}
}

// What goes wrong inside stays inside, and is found in the log by the id.
func TestInternalErrorsAreHidden(t *testing.T) {
	store := example()
	s := open(t, store)
	store.Err = errors.New("password=hunter2 at 10.0.0.1")
	for _, path := range []string{"/", "/fs/scratch/capacity", "/fs/scratch/files", "/scans/1", "/scans/1/progress"} {
		w := s.get(t, path)
		id := w.Header().Get("X-Request-Id")
		if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "hunter2") ||
			!strings.Contains(w.Body.String(), id) {
			t.Errorf("GET %s = %d, id %s: %s", path, w.Code, id, w.Body)
		}
		if n := strings.Count(s.log.String(), "hunter2"); n != 1 || !strings.Contains(s.log.String(), id) {
			t.Errorf("GET %s: the log has the cause %d times: %s", path, n, s.log)
		}
		s.log.Reset()
	}
	if w := s.get(t, "/readyz"); w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "hunter2") {
		t.Errorf("readyz = %d %s", w.Code, w.Body)
	}
	if w := s.get(t, "/healthz"); w.Code != http.StatusOK {
		t.Errorf("healthz without a database = %d", w.Code)
	}
}

// panics is a store with a fault.
type panics struct{ *storetest.Store }

func (panics) FileSystems(context.Context, usage.Scope) ([]usage.FileSystem, error) { panic("secret") }

func TestPanicsAreErrors(t *testing.T) {
	s := newSite(t, example(), func(c *server.Config) {
		c.Reader = panics{example()}
		c.AllowAnonymous = true
	})
	for _, path := range []string{"/", "/api/v1/filesystems"} {
		w := s.get(t, path)
		if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("GET %s = %d %s", path, w.Code, w.Body)
		}
	}
	if !strings.Contains(s.log.String(), "panic: secret") {
		t.Errorf("the log has no panic: %s", s.log)
	}
}

func TestBodiesAreLimited(t *testing.T) {
	s := newSite(t, example(), nil)
	w := s.do(t, http.MethodPost, "/login", url.Values{"token": {strings.Repeat("x", 1<<20)}})
	if w.Code < 400 || w.Code >= 500 {
		t.Errorf("a body of 1 MiB = %d", w.Code)
	}
}

func TestCompressionAndHead(t *testing.T) {
	s := open(t, example())
	w := s.get(t, "/fs/scratch/capacity", "Accept-Encoding", "gzip")
	if w.Header().Get("Content-Encoding") != "gzip" || w.Body.Len() > 20_000 {
		t.Errorf("capacity = %q, %d bytes", w.Header().Get("Content-Encoding"), w.Body.Len())
	}
	if w := s.do(t, http.MethodHead, "/fs/scratch/capacity", nil); w.Code != http.StatusOK {
		t.Errorf("HEAD = %d", w.Code)
	}
}

func TestMetrics(t *testing.T) {
	s := open(t, example())
	s.get(t, "/fs/scratch/capacity")
	s.get(t, "/fs/none/capacity")
	s.get(t, "/nothing/1")
	s.do(t, "BREW", "/nothing/2", nil)
	s.get(t, "/api/v1/filesystems/scratch/usage")
	body := s.get(t, "/metrics").Body.String()
	for _, want := range []string{
		`fstally_http_requests_total{method="GET",route="/fs/{fs}/capacity",status="200"} 1`,
		`fstally_http_requests_total{method="GET",route="/fs/{fs}/capacity",status="404"} 1`,
		`fstally_http_requests_total{method="GET",route="none",status="404"} 1`,
		`fstally_http_requests_total{method="other",`,
		`fstally_http_requests_total{method="GET",route="/api/v1/filesystems/{fs}/usage",status="200"} 1`,
		`fstally_scan_entries{filesystem="scratch"} 106`,
		`fstally_scan_duration_seconds{filesystem="scratch"} 7200`,
		`fstally_scan_running{filesystem="scratch"} 0`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in:\n%s", want, grep(body, "fstally_"))
		}
	}
	// C084: what was removed is no longer told of.
	s.store.Systems = nil
	if body := s.get(t, "/metrics").Body.String(); strings.Contains(body, `filesystem="scratch"`) {
		t.Error("a file system that was removed is still there")
	}
}

func grep(text, part string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
