package pagetest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/a-h/templ"

	"fstally/internal/usage"
	"fstally/web/page"
	"fstally/web/static"
)

// ContentPolicy is the Content-Security-Policy that the pages are made for. The
// images that are not the site's own are charts on their way to a PNG file.
const ContentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Handler serves each of Pages at /pages/NAME, with a list of them at /.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+static.Prefix, static.Handler())
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		for _, p := range Pages("") {
			_, _ = fmt.Fprintf(w, "<p><a href=\"/pages/%[1]s\">%[1]s</a></p>\n", templ.EscapeString(p.Name))
		}
	})
	running := runningScan(usage.Running) // it never gets on
	live := page.NewLive(running.Frame, running.Of, running.Before, nil)
	mux.HandleFunc("GET /scans/{id}/progress", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(live)
	})
	mux.HandleFunc("GET /scans/{id}/events", func(w http.ResponseWriter, r *http.Request) {
		data, err := json.Marshal(live)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "event: progress\ndata: %s\n\n", data)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	for _, p := range Pages("") {
		mux.HandleFunc("GET /pages/"+p.Name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", ContentPolicy)
			templ.Handler(p).ServeHTTP(w, r)
		})
	}
	return mux
}
