package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"fstally/internal/usage"
)

func TestDetailsThatAreGone(t *testing.T) {
	store := example()
	s := open(t, store)
	store.Err = fmt.Errorf("scan 1: %w", usage.ErrThinned)
	w := s.get(t, "/")
	if w.Code != http.StatusGone || !strings.Contains(w.Body.String(), "no longer kept") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
