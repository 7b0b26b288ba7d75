package report_test

import (
	"testing"

	"fstally/internal/report"
	"fstally/internal/usage"
)

func TestRest(t *testing.T) {
	two, three := usage.Measures{Files: 2}, usage.Measures{Files: 3}
	for name, tc := range map[string]struct {
		rows []*usage.Measures
		want int64
		ok   bool
	}{
		"no series": {nil, 10, true},
		"two":       {[]*usage.Measures{&two, &three}, 5, true},
		"unknown":   {[]*usage.Measures{&two, nil}, 0, false},
	} {
		rest, ok := report.Rest(usage.Point{Total: usage.Measures{Files: 10}, Rows: tc.rows})
		if rest.Files != tc.want || ok != tc.ok {
			t.Errorf("%s: %d, %v, want %d, %v", name, rest.Files, ok, tc.want, tc.ok)
		}
	}
}
