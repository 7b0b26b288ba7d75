package server

import (
	"context"
	"net/http"
	"time"
)

// readyTimeout bounds the wait for the database.
const readyTimeout = 2 * time.Second

// health says that the process answers.
func health(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "ok\n") }

// ready says whether pages can be shown.
func (s *site) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	if err := s.Reader.Ping(ctx); err != nil {
		s.Logger.WarnContext(ctx, "not ready", "error", err)
		writeText(w, http.StatusServiceUnavailable, "the database does not answer\n")
		return
	}
	writeText(w, http.StatusOK, "ok\n")
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}
