package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5/middleware"

	"fstally/internal/usage"
)

const problemType = "application/problem+json"

// writeProblem answers with a problem document (RFC 9457) from outside an
// endpoint, such as for a request without a token.
func writeProblem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(huma.NewError(status, detail))
}

// problemMeaning says when an endpoint answers with a status, and what then helps.
func problemMeaning(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "The body is missing or no JSON."
	case http.StatusUnauthorized:
		return "The access token is missing or not valid."
	case http.StatusForbidden:
		return "A browser sent this from the page of another site."
	case http.StatusNotFound:
		return "There is no such file system or scan that the caller may see, or the scan has no numbers."
	case http.StatusConflict:
		return "It does not fit the state of things: a scan is queued or running already, or has ended, or the name is taken."
	case http.StatusTooManyRequests:
		return "As many uploads are under way as there may be: try again when one has ended."
	case http.StatusInsufficientStorage:
		return "The disk of the server has no room for it. What was sent is kept: go on when there is room."
	case http.StatusRequestEntityTooLarge:
		return "The body is larger than anything that has a meaning here."
	case http.StatusUnsupportedMediaType:
		return "The body is not sent as application/json."
	case http.StatusGone:
		return "The details of this scan are no longer kept, only its sums: leave out the filter or take another scan."
	case http.StatusMisdirectedRequest:
		return "The host name is not one of the site's: it belongs into FSTALLY_HOSTS."
	case http.StatusUnprocessableEntity:
		return "A parameter is wrong or unknown: errors names it. A mistyped filter never answers for everything."
	case http.StatusInternalServerError:
		return "Something went wrong inside; the log has it under the id of the header X-Request-Id."
	case http.StatusServiceUnavailable:
		return "The database does not answer, or the request took too long: try again later."
	default:
		return http.StatusText(status)
	}
}

// invalid is the answer to a parameter that no answer fits. The location is
// "query.NAME", "path.NAME" or "body.NAME".
func invalid(location, value string, err error) error {
	return huma.Error422UnprocessableEntity("validation failed",
		&huma.ErrorDetail{Location: location, Message: err.Error(), Value: value})
}

// notFound is the answer for what does not exist or is not the caller's to see.
func notFound(location, value, message string) error {
	return huma.Error404NotFound(message, &huma.ErrorDetail{Location: location, Message: "not found", Value: value})
}

// conflict is an error of a request that was understood, but does not fit the
// state of things, such as to cancel what has ended. Its text is for the caller.
type conflict interface {
	error
	Conflict() bool
}

// problem maps the kinds of errors to statuses. What is nobody's to see but the
// administrator's is logged, with the id that the answer carries.
func (a *api) problem(ctx context.Context, err error) error {
	var ready huma.StatusError
	var busy interface{ BusyScan() int64 }
	var conflict conflict
	switch {
	case errors.As(err, &ready):
		return ready
	case errors.Is(err, usage.ErrThinned):
		return huma.Error410Gone("The details of this scan are no longer kept, only its sums are: " +
			"leave out the filter or choose another scan.")
	case errors.Is(err, usage.ErrNotFound):
		return huma.Error404NotFound("not found")
	case errors.As(err, &busy):
		return huma.Error409Conflict(fmt.Sprintf("Scan %d of this file system is queued or running: "+
			"wait for it or cancel it.", busy.BusyScan()))
	case errors.As(err, &conflict) && conflict.Conflict():
		return huma.Error409Conflict(conflict.Error())
	case errors.Is(err, usage.ErrUnavailable):
		a.Logger.ErrorContext(ctx, "api request failed", "id", middleware.GetReqID(ctx), "error", err)
		return huma.Error503ServiceUnavailable("The database does not answer: try again in a minute.")
	case ctx.Err() != nil:
		return huma.Error503ServiceUnavailable("The request took too long: narrow it or try again later.")
	default:
		a.Logger.ErrorContext(ctx, "api request failed", "id", middleware.GetReqID(ctx), "error", err)
		return huma.Error500InternalServerError(fmt.Sprintf("Something went wrong here; the log has it under request %s.",
			middleware.GetReqID(ctx)))
	}
}
