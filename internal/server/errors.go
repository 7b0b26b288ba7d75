package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-chi/chi/v5/middleware"

	"fstally/internal/usage"
	"fstally/web/page"
)

// pageError is a failure that the visitor can understand and do something about.
type pageError struct {
	status  int
	message string // what happened, with the thing by its name
	remedy  string // what to do
}

func (e *pageError) Error() string { return e.message }

// conflict is an error of a request that was understood, but does not fit the
// state of things. Its text is for the visitor.
type conflict interface {
	error
	Conflict() bool
}

// badParameter is the answer to a parameter of an address that no page fits.
func badParameter(name, value, remedy string) error {
	return &pageError{
		status:  http.StatusBadRequest,
		message: fmt.Sprintf("%s=%s does not work", name, usage.Escape(value)),
		remedy:  remedy,
	}
}

func noPage(r *http.Request) (answer, error) {
	return answer{}, &pageError{
		status:  http.StatusNotFound,
		message: fmt.Sprintf("There is no page %s", usage.Escape(r.URL.Path)),
		remedy:  "Check the address.",
	}
}

func noMethod(r *http.Request) (answer, error) {
	return answer{}, &pageError{
		status:  http.StatusMethodNotAllowed,
		message: fmt.Sprintf("%s does not take %s", usage.Escape(r.URL.Path), usage.Escape(r.Method)),
	}
}

// explain maps the kinds of errors to what the visitor is told. Kinds that are
// nobody's fault but ours are internal, and logged.
func explain(ctx context.Context, err error) (e *pageError, internal bool) {
	var told *pageError
	var conflict conflict
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &told):
		return told, false
	case errors.Is(err, usage.ErrThinned):
		return &pageError{
			http.StatusGone, "The details of this scan are no longer kept", "Its sums are: take another scan, or no filter.",
		}, false
	case errors.Is(err, usage.ErrNotFound):
		return &pageError{http.StatusNotFound, "This does not exist", "It may have been removed: check the address."}, false
	case errors.As(err, &conflict) && conflict.Conflict():
		return &pageError{http.StatusConflict, "This cannot be done now", conflict.Error()}, false
	case errors.As(err, &tooLarge):
		return &pageError{http.StatusRequestEntityTooLarge, "The request is too large", ""}, false
	case errors.Is(err, usage.ErrUnavailable):
		return &pageError{
			http.StatusServiceUnavailable, "The database does not answer", "It may be starting: try again in a minute.",
		}, true
	case ctx.Err() != nil:
		return &pageError{
			http.StatusServiceUnavailable, "This took too long", "The database may be busy: try again in a minute.",
		}, true
	default:
		return &pageError{
			http.StatusInternalServerError, "Something went wrong here", "The log of fstally has the reason.",
		}, true
	}
}

// retryAfter is when to try again while the store is away, in seconds.
const retryAfter = "10"

// fail answers with an error: the only place where errors become answers, and
// where they are logged.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	e, internal := explain(r.Context(), err)
	id := ""
	if internal {
		id = middleware.GetReqID(r.Context())
		s.Logger.ErrorContext(r.Context(), "request failed", "id", id, "path", usage.Escape(r.URL.Path), "error", err)
	}
	away := e.status == http.StatusServiceUnavailable
	if away {
		w.Header().Set("Retry-After", retryAfter)
	}
	if isAPI(r) {
		writeProblem(w, e.status, e.message+". "+e.remedy)
		return
	}
	model := page.Error{
		Frame: s.frame(r, http.StatusText(e.status)), Status: e.status, Message: e.message, Remedy: e.remedy, RequestID: id,
		Again: away && isRead(r),
	}
	// What went wrong may be the request's context.
	var body bytes.Buffer
	if err := page.ErrorPage(model).Render(context.WithoutCancel(r.Context()), &body); err != nil {
		s.Logger.ErrorContext(r.Context(), "error page failed", "id", id, "error", err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(e.status)
	_, _ = w.Write(body.Bytes())
}

// writeProblem answers a program with a problem document (RFC 9457).
func writeProblem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct {
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}{http.StatusText(status), status, detail})
}
