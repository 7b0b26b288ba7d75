package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"fstally/internal/usage"
)

// readyTimeout bounds the wait for the database.
const readyTimeout = 2 * time.Second

// health says that the process answers.
func health(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "ok\n") }

// ready says whether the site does what it is for, and else why not: in words that
// anybody may read, as this is open to everybody. The log has more.
func (s *site) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
	defer cancel()
	status, answer := http.StatusOK, readiness{Ready: true}
	if reason, err := s.unready(ctx); err != nil {
		s.Logger.WarnContext(ctx, "not ready", "reason", reason, "error", err)
		status, answer = http.StatusServiceUnavailable, readiness{Reason: reason}
	}
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer) // whoever no longer listens does not need it
		return
	}
	text := answer.Reason
	if answer.Ready {
		text = "ok"
	}
	writeText(w, status, text+"\n")
}

// readiness is the answer to a program.
type readiness struct {
	Ready  bool   `json:"ready"`
	Reason string `json:"reason,omitempty"` // why not
}

// unready returns what is missing; a nil error for nothing.
func (s *site) unready(ctx context.Context) (reason string, err error) {
	err = s.Reader.Ready(ctx)
	switch {
	case err == nil:
	case errors.Is(err, usage.ErrUnavailable) || ctx.Err() != nil:
		return "the database does not answer", err
	default:
		return "the database does not fit this program: another version of fstally may have migrated it", err
	}
	if s.Ready != nil {
		if err := s.Ready(ctx); err != nil {
			return "no scans are run", err
		}
	}
	return "", nil
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}
