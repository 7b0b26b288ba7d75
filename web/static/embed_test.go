package static_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fstally/web/static"
)

func get(t *testing.T, address string, header map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	for k, v := range header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	static.Handler().ServeHTTP(w, r)
	return w
}

func TestAssetsAreKeptForEver(t *testing.T) {
	for name, mediaType := range map[string]string{
		"app.css": "text/css; charset=utf-8", "theme.js": "text/javascript; charset=utf-8",
		"dist/app.js": "text/javascript; charset=utf-8", "favicon.svg": "image/svg+xml",
	} {
		address := static.Asset(name)
		answer := get(t, address, nil)
		if answer.Code != http.StatusOK || answer.Header().Get("Content-Type") != mediaType {
			t.Errorf("%s: %d %s", address, answer.Code, answer.Header().Get("Content-Type"))
		}
		if got := answer.Header().Get("Cache-Control"); !strings.Contains(got, "immutable") {
			t.Errorf("%s: Cache-Control %q", address, got)
		}
		path, _, _ := strings.Cut(address, "?")
		if got := get(t, path+"?v=older", nil).Header().Get("Cache-Control"); got != "no-cache" {
			t.Errorf("%s of another version: Cache-Control %q", path, got)
		}
		tag := answer.Header().Get("ETag")
		if got := get(t, address, map[string]string{"If-None-Match": tag}).Code; got != http.StatusNotModified {
			t.Errorf("%s with its tag: %d", address, got)
		}
	}
}

func TestCompressedAssetsAreTheSame(t *testing.T) {
	plain := get(t, static.Asset("app.css"), nil).Body.Bytes()
	answer := get(t, static.Asset("app.css"), map[string]string{"Accept-Encoding": "br, gzip"})
	if got := answer.Header().Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("Content-Encoding %q", got)
	}
	zipped, err := gzip.NewReader(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := io.ReadAll(zipped)
	if err != nil || !bytes.Equal(unzipped, plain) {
		t.Errorf("%d bytes unzipped, %d plain, %v", len(unzipped), len(plain), err)
	}
}

func TestUnknownAssets(t *testing.T) {
	for _, path := range []string{"/static/", "/static/nothing.css", "/static/../embed.go", "/static/dist"} {
		if got := get(t, path, nil).Code; got != http.StatusNotFound {
			t.Errorf("%s: %d", path, got)
		}
	}
}
