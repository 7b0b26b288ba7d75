package server_test

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"fstally/internal/api"
	"fstally/internal/server"
	"fstally/internal/server/storetest"
)

func TestTokenIsAskedFor(t *testing.T) {
	s := newSite(t, example(), nil)
	for _, path := range []string{
		"/", "/fs/scratch/capacity", "/fs/scratch/files", "/scans/1", "/scans/1/progress", "/nothing", "/fs/none/capacity",
	} {
		w := s.get(t, path)
		if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), `name="token"`) {
			t.Errorf("GET %s without a token = %d", path, w.Code)
		}
		if strings.Contains(w.Body.String(), "scratch/") && path == "/" {
			t.Errorf("GET %s without a token tells a name", path)
		}
	}
	for _, path := range []string{"/api/v1/filesystems", "/api/v1/openapi.json", "/api/v1/nothing", "/metrics"} {
		for _, auth := range []string{"", "Bearer wrong", "Basic " + token, "Bearer ", token} {
			w := s.get(t, path, "Authorization", auth)
			if w.Code != http.StatusUnauthorized || w.Header().Get("Content-Type") != "application/problem+json" ||
				w.Header().Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("GET %s with %q = %d %v", path, auth, w.Code, w.Header())
			}
		}
		if path == "/api/v1/nothing" {
			continue
		}
		if w := s.get(t, path, "Authorization", "Bearer "+token); w.Code != http.StatusOK {
			t.Errorf("GET %s with the token = %d", path, w.Code)
		}
	}
	for _, path := range []string{"/fs/scratch/scan", "/scans/1/cancel", "/api/v1/filesystems/scratch/scans"} {
		if w := s.do(t, http.MethodPost, path, url.Values{}); w.Code != http.StatusUnauthorized {
			t.Errorf("POST %s without a token = %d", path, w.Code)
		}
	}
	if len(s.store.Queued) > 0 {
		t.Error("a scan was started without a token")
	}
	for _, path := range []string{"/healthz", "/readyz", "/static/app.css", "/login"} {
		if w := s.get(t, path); w.Code != http.StatusOK {
			t.Errorf("GET %s without a token = %d", path, w.Code)
		}
	}
}

func TestTokenInTheAddressBecomesACookie(t *testing.T) {
	s := newSite(t, example(), nil)
	w := s.get(t, "/fs/scratch/files?type=a%26b&token="+url.QueryEscape(token))
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/fs/scratch/files?type=a%26b" {
		t.Fatalf("= %d to %q, want the address without the token", w.Code, w.Header().Get("Location"))
	}
	cookie := w.Result().Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Secure {
		t.Errorf("cookie = %v", cookie)
	}
	if strings.Contains(cookie.String(), token) || strings.Contains(cookie.String(), url.QueryEscape(token)) {
		t.Errorf("the cookie holds the token: %v", cookie)
	}
	for _, path := range []string{"/fs/scratch/capacity", "/api/v1/filesystems"} {
		if w := s.get(t, path, "Cookie", cookie.Name+"="+cookie.Value); w.Code != http.StatusOK {
			t.Errorf("GET %s with the cookie = %d", path, w.Code)
		}
		if w := s.get(t, path, "Cookie", cookie.Name+"="+strings.Repeat("0", 64)); w.Code != http.StatusUnauthorized {
			t.Errorf("GET %s with a wrong cookie = %d", path, w.Code)
		}
	}
	if strings.Contains(s.log.String(), "correct") {
		t.Errorf("the token is in the log: %s", s.log)
	}
	if w := s.get(t, "/?token=wrong"); w.Code != http.StatusUnauthorized || len(w.Result().Cookies()) > 0 {
		t.Errorf("a wrong token = %d, cookies %v", w.Code, w.Result().Cookies())
	}
	// A new token forgets everyone.
	other := newSite(t, example(), func(c *server.Config) { c.Token = "another token of some length" })
	if w := other.get(t, "/", "Cookie", cookie.Name+"="+cookie.Value); w.Code != http.StatusUnauthorized {
		t.Errorf("the cookie of an old token = %d", w.Code)
	}
}

func TestCookieIsSecureBehindTLS(t *testing.T) {
	w := newSite(t, example(), nil).get(t, "/?token="+url.QueryEscape(token), "X-Forwarded-Proto", "https")
	if !w.Result().Cookies()[0].Secure {
		t.Error("the cookie would go over plain HTTP")
	}
}

func TestLogin(t *testing.T) {
	s := newSite(t, example(), nil)
	w := s.do(t, http.MethodPost, "/login", url.Values{"token": {"wrong"}, "next": {"/scans/1"}})
	if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "not valid") ||
		!strings.Contains(w.Body.String(), `value="/scans/1"`) {
		t.Errorf("a wrong token = %d %s", w.Code, w.Body)
	}
	// No address leads away from the site.
	for next, want := range map[string]string{
		"/fs/scratch/files?type=txt": "/fs/scratch/files?type=txt", "": "/", "//evil.example": "/",
		"https://evil.example/": "/", `/\evil.example`: "/", "javascript:alert(1)": "/", "/a\nb": "/",
		"/\tevil": "/", "evil": "/", "/%2f/evil.example": "/%2f/evil.example", "/\x00": "/",
	} {
		w := s.do(t, http.MethodPost, "/login", url.Values{"token": {token}, "next": {next}})
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != want || len(w.Result().Cookies()) != 1 {
			t.Errorf("login, next %q = %d to %q, want %q", next, w.Code, w.Header().Get("Location"), want)
		}
	}
}

// The page that asks for the token leads back to the address that was wanted.
func TestLoginKeepsTheAddress(t *testing.T) {
	s := newSite(t, example(), nil)
	doc := s.read(t, "/fs/scratch/files?type=txt&scan=3", http.StatusUnauthorized)
	if next, _ := doc.Find("input[name=next]").Attr("value"); next != "/fs/scratch/files?scan=3&type=txt" {
		t.Errorf("next = %q", next)
	}
}

func TestAnonymousIsSaid(t *testing.T) {
	s := open(t, example())
	for _, path := range []string{"/fs/scratch/capacity", "/fs/scratch/files", "/scans/1", "/nothing", "/login"} {
		w := s.get(t, path)
		if !strings.Contains(strings.ToLower(w.Body.String()), "without a token") &&
			!strings.Contains(strings.ToLower(w.Body.String()), "anonymous") {
			t.Errorf("GET %s does not say that everyone can read it", path)
		}
	}
}

// A page whose name was pointed at us is another site (DNS rebinding).
func TestHost(t *testing.T) {
	s := newSite(t, example(), func(c *server.Config) { c.Hosts = []string{"Tally.example.org"} })
	for host, known := range map[string]bool{
		"localhost": true, "localhost:8080": true, "LOCALHOST.:80": true, "127.0.0.1:8080": true, "10.1.2.3": true,
		"[::1]:8080": true, "[fe80::1]": true, "tally.example.org": true, "TALLY.EXAMPLE.ORG.:443": true,
		"evil.example": false, "evil.example:8080": false, "127.0.0.1.evil.example": false, "localhost.evil.example": false,
		"tally.example.org.evil.example": false, "": false, "a b": false,
	} {
		for _, path := range []string{"/healthz", "/login", "/api/v1/filesystems"} {
			w := s.get(t, path, "Host", host)
			if got := w.Code != http.StatusMisdirectedRequest; got != known {
				t.Errorf("GET %s at %q = %d, known is %v", path, host, w.Code, known)
			}
		}
	}
	w := s.get(t, "/", "Host", `"><script>alert(1)</script>`)
	if w.Code != http.StatusMisdirectedRequest || strings.Contains(w.Body.String(), "<script>alert") {
		t.Errorf("a hostile Host = %d %s", w.Code, w.Body)
	}
}

// C141: what another site's page sends does nothing.
func TestCrossSiteRequestsAreRefused(t *testing.T) {
	s := newSite(t, example(), nil)
	cookie := s.get(t, "/?token="+url.QueryEscape(token)).Result().Cookies()[0]
	s.store.AddState(1, night, "running")
	for _, from := range [][]string{
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
		{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Origin", "http://localhost:9999"},
	} {
		for _, path := range []string{
			"/fs/scratch/scan", "/scans/41/cancel", "/login", "/api/v1/filesystems/scratch/scans", "/api/v1/scans/41/cancel",
		} {
			for _, kind := range []string{"application/x-www-form-urlencoded", "text/plain", "multipart/form-data"} {
				header := append([]string{"Cookie", cookie.Name + "=" + cookie.Value, "Content-Type", kind}, from...)
				if w := s.do(t, http.MethodPost, path, url.Values{"token": {token}}, header...); w.Code != http.StatusForbidden {
					t.Errorf("POST %s from %v = %d, want 403", path, from, w.Code)
				}
			}
		}
	}
	if len(s.store.Queued)+len(s.store.Cancelled) > 0 {
		t.Errorf("queued %v, cancelled %v", s.store.Queued, s.store.Cancelled)
	}
	// GET changes nothing, wherever it comes from.
	for _, path := range []string{"/fs/scratch/scan", "/scans/41/cancel"} {
		if w := s.get(t, path, "Cookie", cookie.Name+"="+cookie.Value); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("GET %s = %d, want 405", path, w.Code)
		}
	}
	w := s.do(t, http.MethodPost, "/scans/41/cancel", url.Values{},
		"Cookie", cookie.Name+"="+cookie.Value, "Origin", "http://localhost:8080")
	if w.Code != http.StatusSeeOther {
		t.Errorf("POST from the site itself = %d %s", w.Code, w.Body)
	}
}

func TestConfigIsChecked(t *testing.T) {
	for name, change := range map[string]func(*server.Config){
		"no token":          func(c *server.Config) { c.Token = "" },
		"base with a slash": func(c *server.Config) { c.BasePath = "/storage/" },
		"base of a host":    func(c *server.Config) { c.BasePath = "//evil" },
		"base is a page":    func(c *server.Config) { c.BasePath = "/fs/x" },
		"host with scheme":  func(c *server.Config) { c.Hosts = []string{"http://a"} },
		"host with port":    func(c *server.Config) { c.Hosts = []string{"a:8080"} },
		"host is no name":   func(c *server.Config) { c.Hosts = []string{"a b"} },
		"no reader":         func(c *server.Config) { c.Reader = nil },
	} {
		store := &storetest.Store{}
		config := server.Config{
			Reader: store, Scans: store, API: &api.Handler{}, Token: token, Location: zone, Clock: time.Now, Logger: slog.New(slog.DiscardHandler),
		}
		change(&config)
		if _, err := server.New(config); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
