// Package server is the web site: routes, access, and one file for each page.
//
// routes.go is the table of all addresses. A request passes the middleware of
// middleware.go (id, log, recovery, headers, limits), the Host check of host.go,
// which a DNS-rebinding page does not pass, and, unless its route is open, the
// gate of access.go, which puts the caller's usage.Scope into the context. A
// handler loads what its page shows through Reader, shapes it with package
// report, and returns a templ component or an error: render.go writes the one,
// errors.go the other, and only there. Pages are rendered into a buffer first,
// so that a failure never leaves half a page.
//
// The JSON API is a handler of its own (package api) that is mounted here, behind
// the same gate.
package server
