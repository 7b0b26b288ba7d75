package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"fstally/internal/server/storetest"
	"fstally/internal/usage"
)

// thinned is a store whose scans have no details any more.
type thinned struct{ *storetest.Store }

func (t thinned) Usage(ctx context.Context, scope usage.Scope, q usage.Query) (usage.Table, error) {
	if !q.Filter.IsZero() {
		return usage.Table{}, fmt.Errorf("scan %d: %w", q.ScanID, usage.ErrThinned)
	}
	return t.Store.Usage(ctx, scope, q)
}

func TestDetailsThatAreGone(t *testing.T) {
	h := serveAs(t, thinned{example()}, usage.Everything())
	for path, want := range map[string]int{
		"/filesystems/scratch/usage":              http.StatusOK,
		"/filesystems/scratch/usage?user=1801":    http.StatusGone,
		"/filesystems/nothing/usage?user=1801":    http.StatusNotFound,
		"/filesystems/scratch/top/users?type=bam": http.StatusGone,
	} {
		w := do(t, h, http.MethodGet, path)
		if w.Code != want || want == http.StatusGone && !strings.Contains(w.Body.String(), "no longer kept") {
			t.Errorf("GET %s = %d %s, want %d", path, w.Code, w.Body, want)
		}
	}
}
