package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/a-h/templ"
)

// answer is what a handler of a page returns: a redirect, data or a page.
type answer struct {
	redirect  string // path of the site to go to, below its base
	data      any    // sent as JSON
	content   templ.Component
	status    int  // of content; 0 for 200
	setCookie bool // remember the browser
}

// handler makes a page, or fails.
type handler func(r *http.Request) (answer, error)

// page answers with what the handler returns. A page is rendered as a whole
// before its first byte is sent.
func (s *site) page(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a, err := h(r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if a.setCookie {
			s.setCookie(w, r)
		}
		var body bytes.Buffer
		switch {
		case a.redirect != "":
			s.redirect(w, r, a.redirect, http.StatusSeeOther)
			return
		case a.content != nil:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			err = a.content.Render(r.Context(), &body)
		default:
			w.Header().Set("Content-Type", "application/json")
			err = json.NewEncoder(&body).Encode(a.data)
		}
		if err != nil {
			s.fail(w, r, fmt.Errorf("render %s: %w", r.URL.Path, err))
			return
		}
		if a.status != 0 {
			w.WriteHeader(a.status)
		}
		_, _ = w.Write(body.Bytes())
	}
}
