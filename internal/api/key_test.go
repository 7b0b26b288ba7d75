package api_test

import (
	"encoding/json"
	"testing"
)

// The history of one value is that value alone, however small it is.
func TestHistoryOfOneKey(t *testing.T) {
	h := get[struct {
		Series []struct{ Key, Name string }
		Points []struct{ Values []json.Number }
	}](t, serve(t, example()), "/filesystems/scratch/history?group_by=user&by=files&key=0")
	if len(h.Series) != 1 || h.Series[0].Key != "0" || h.Series[0].Name != "root" {
		t.Fatalf("series %+v, want root alone", h.Series)
	}
	for i, p := range h.Points {
		if len(p.Values) != 1 || p.Values[0] != "2" {
			t.Errorf("point %d has %v, want 2 files", i, p.Values)
		}
	}
}
