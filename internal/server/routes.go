package server

import (
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
	"fstally/web/static"
)

// routes is the table of all addresses.
func (s *site) routes() (http.Handler, error) {
	crossOrigin, err := s.crossOrigin()
	if err != nil {
		return nil, err
	}
	r := chi.NewRouter()
	r.Use(requestID, s.observe, s.stripBase, s.recoverPanics, securityHeaders, s.checkHost, crossOrigin,
		middleware.GetHead)
	bounded := chi.Chain(limits, compress())
	r.NotFound(bounded.HandlerFunc(s.gate(s.page(noPage))).ServeHTTP)
	r.MethodNotAllowed(bounded.HandlerFunc(s.gate(s.page(noMethod))).ServeHTTP)

	// For as long as there is something to tell.
	r.Get(eventsRoute, s.gate(s.events))

	r.Group(func(r chi.Router) {
		r.Use(bounded...)
		s.boundedRoutes(r)
	})
	return r, nil
}

// eventsRoute is the address of the progress of a scan as a stream.
const eventsRoute = "/scans/{id}/events"

// boundedRoutes is the table of the addresses that answer at once.
func (s *site) boundedRoutes(r chi.Router) {
	// Open to everyone.
	r.Get("/healthz", health)
	r.Get("/readyz", s.ready)
	r.Handle(static.Prefix+"*", static.Handler())
	r.Get("/login", s.page(s.loginPage))
	r.Post("/login", s.page(s.login))

	// Behind the gate.
	r.Group(func(r chi.Router) {
		r.Use(func(next http.Handler) http.Handler { return s.gate(next.ServeHTTP) })

		r.Get("/", s.page(s.firstPage))
		r.Get("/users/{uid}", s.page(s.person))
		r.Get("/fs/{fs}", s.page(s.fileSystemPage))
		r.Get("/fs/{fs}/capacity", s.page(s.capacity))
		r.Get("/fs/{fs}/files", s.page(s.files))
		for _, d := range page.ListDimensions() {
			r.Get("/fs/{fs}/"+component.ListFolder(d), s.page(s.list(d)))
		}
		r.Get("/fs/{fs}/users/*", s.page(s.entity(usage.User)))
		r.Get("/fs/{fs}/types/*", s.page(s.entity(usage.Type)))
		r.Get("/fs/{fs}/filesets/*", s.page(s.entity(usage.Fileset)))
		r.Get("/fs/{fs}/history", s.page(s.timeline))
		r.Get("/fs/{fs}/scans", s.page(s.scans))
		r.Post("/fs/{fs}/scan", s.page(s.startScan))
		r.Get("/fs/{fs}/schedule", s.page(s.schedule))
		r.Post("/fs/{fs}/schedule", s.page(s.setSchedule))
		r.Post("/fs/{fs}/schedule/remove", s.page(s.removeSchedule))
		r.Get("/fs/{fs}/settings", s.page(s.fsSettings))
		r.Post("/fs/{fs}/settings", s.page(s.setFSSettings))
		r.Post("/fs/{fs}/settings/remove", s.page(s.removeFileSystem))

		r.Get("/scans/{id}", s.page(s.scan))
		r.Get("/scans/{id}/progress", s.page(s.progress))
		r.Post("/scans/{id}/cancel", s.page(s.cancelScan))
		r.Post("/scans/{id}/accept", s.page(s.acceptScan))
		r.Post("/scans/{id}/reject", s.page(s.rejectScan))

		r.Get("/schedules", s.page(s.schedules))
		r.Get("/settings", s.page(s.settings))
		r.Post("/settings/add", s.page(s.addFileSystem))
		r.Post("/settings/retention", s.page(s.setRetention))

		r.Get(component.ReferencePath, s.page(s.reference))
		r.Mount(apiPrefix, s.API)
		r.Method(http.MethodGet, "/metrics", s.metrics)
	})
}

// firstSegments are the first parts of the addresses above, which no base path
// may begin with: it could not be told from them.
func firstSegments() []string {
	return []string{
		"healthz", "readyz", "static", "login", "users", "fs", "scans", "schedules", "settings", "api", "metrics",
	}
}
