// Package routes finds the addresses of the site that a list of requests leaves
// out, so that neither a benchmark nor a test of all pages forgets a new one.
package routes

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
)

// api is where the document of the API's addresses stands.
const api = "/api/v1"

// Missing returns the patterns of GET addresses, pages and API, that no request
// fits, sorted. The site must let everybody in.
func Missing(site http.Handler, requests []string) ([]string, error) {
	patterns, err := all(site)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, pattern := range patterns {
		fits := matcher(pattern)
		if !slices.ContainsFunc(requests, func(r string) bool {
			path, _, _ := strings.Cut(r, "?")
			return fits.MatchString(path)
		}) {
			missing = append(missing, pattern)
		}
	}
	return missing, nil
}

// all returns the patterns of the router and of the API's own document.
func all(site http.Handler) ([]string, error) {
	router, ok := site.(chi.Routes)
	if !ok {
		return nil, fmt.Errorf("a site of type %T cannot list its routes", site)
	}
	patterns := make(map[string]bool)
	err := chi.Walk(router, func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if method == http.MethodGet && pattern != api+"/*" {
			patterns[pattern] = true
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("walk the routes: %w", err)
	}
	w := httptest.NewRecorder()
	site.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+api+"/openapi.json", http.NoBody))
	var document struct {
		Paths map[string]map[string]any
	}
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
		return nil, fmt.Errorf("read the API's document: %w", err)
	}
	if len(document.Paths) == 0 {
		return nil, errors.New("the API's document has no paths")
	}
	for path, operations := range document.Paths {
		if _, ok := operations["get"]; ok {
			patterns[api+path] = true
		}
	}
	delete(patterns, api+"/uploads/{id}") // there for minutes only, and not read from the store
	return slices.Sorted(maps.Keys(patterns)), nil
}

var parameter = regexp.MustCompile(`\\\{[^/]*\\\}`)

// matcher turns "/fs/{fs}/users/*" into an expression.
func matcher(pattern string) *regexp.Regexp {
	text := parameter.ReplaceAllString(regexp.QuoteMeta(pattern), `[^/]+`)
	return regexp.MustCompile("^" + strings.ReplaceAll(text, `\*`, `.+`) + "$")
}
