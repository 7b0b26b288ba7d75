package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"fstally/internal/usage"
)

const (
	// requestTimeout bounds what a request may wait for, the store above all.
	requestTimeout = 30 * time.Second
	// maxBody bounds the body of a request; the forms of the site are tiny.
	maxBody = 64 << 10
)

// requestID gives every request an id that its log lines and its error carry.
// One that the client sends is not taken: it could be anything.
func requestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := rand.Text()[:12]
		w.Header().Set("X-Request-Id", id)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), middleware.RequestIDKey, id)))
	})
}

// observe logs and counts every request. The query is left out, since it may
// hold a token, and names are escaped.
func (s *site) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path // as it came; the base is stripped later
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		start := time.Now()
		next.ServeHTTP(ww, r)
		took := time.Since(start)

		route, status := chi.RouteContext(r.Context()).RoutePattern(), ww.Status()
		if status == 0 {
			status = http.StatusOK
		}
		if route != eventsRoute { // which answers as long as a scan runs
			s.metrics.count(r.Method, route, status, took)
		}
		level := slog.LevelDebug // who wants each request, has a proxy or asks for it
		if status >= http.StatusBadRequest && route != "/readyz" {
			level = slog.LevelInfo
		}
		s.Logger.LogAttrs(r.Context(), level, "request",
			slog.String("id", middleware.GetReqID(r.Context())),
			slog.String("method", usage.Escape(r.Method)),
			slog.String("path", usage.Escape(path)),
			slog.Int("status", status),
			slog.Int("bytes", ww.BytesWritten()),
			slog.Duration("took", took),
			slog.String("remote", r.RemoteAddr),
		)
	})
}

// recoverPanics turns a panic into an error page and a log line.
func (s *site) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(cause) // net/http's own way to hang up
			}
			s.fail(w, r, fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
		}()
		next.ServeHTTP(w, r)
	})
}

// securityHeaders let pages use nothing but what the site itself serves; images
// from data and blob addresses are the charts that a browser saves as PNG.
// The referrer stays within the site and does not go away altogether, because
// browsers would then hide the origin of the site's own forms too.
func securityHeaders(next http.Handler) http.Handler {
	const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
		"connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "private, no-cache")
		next.ServeHTTP(w, r)
	})
}

// stripBase takes the base path off a request, unless a proxy did so before.
func (s *site) stripBase(next http.Handler) http.Handler {
	if s.BasePath == "" {
		return next
	}
	strip := func(path string) string {
		rest, found := strings.CutPrefix(path, s.BasePath)
		switch {
		case !found || rest != "" && rest[0] != '/':
			return path
		case rest == "":
			return "/"
		default:
			return rest
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r2 := *r
		u := *r.URL
		u.Path = strip(u.Path)
		if u.RawPath != "" {
			u.RawPath = strip(u.RawPath)
		}
		r2.URL = &u
		next.ServeHTTP(w, &r2)
	})
}

// limits bounds time and body of a request. A piece of an upload is bounded by the
// upload, and by the time that the API gives its bytes.
func limits(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch && strings.HasPrefix(r.URL.Path, apiPrefix+"/uploads/") {
			next.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
		defer cancel()
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// crossOrigin refuses what the page of another site sends with the visitor's
// cookie. The site's own names are trusted, because a proxy may change Host.
func (s *site) crossOrigin() (func(http.Handler) http.Handler, error) {
	protection := http.NewCrossOriginProtection()
	for _, host := range s.Hosts {
		if strings.ContainsAny(host, ":/") {
			return nil, fmt.Errorf("host %q: use a name without scheme, port and path", host)
		}
		for _, scheme := range []string{"http://", "https://"} {
			if err := protection.AddTrustedOrigin(scheme + host); err != nil {
				return nil, fmt.Errorf("host %q: %w", host, err)
			}
		}
	}
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, &pageError{
			status:  http.StatusForbidden,
			message: "This request came from the page of another site",
			remedy:  "Open the page here and try again. Behind a proxy, name the site in FSTALLY_HOSTS.",
		})
	}))
	return protection.Handler, nil
}
