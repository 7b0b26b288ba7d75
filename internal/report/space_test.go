package report_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/report"
	"fstally/internal/usage"
)

func TestSpace(t *testing.T) {
	b := usage.ByteCount
	for name, tc := range map[string]struct {
		size, free, found int64
		want              report.Space
	}{
		"C017 used but not seen": {100, 70, 10, report.Space{Known: true, Size: b(100), Used: b(30), Found: b(10), Unseen: b(20), Free: b(70)}},
		"all found":              {100, 0, 100, report.Space{Known: true, Size: b(100), Used: b(100), Found: b(100)}},
		"more found than used":   {100, 70, 35, report.Space{Known: true, Size: b(100), Used: b(30), Found: b(35), Free: b(70), Excess: b(5)}},
		"size unknown":           {0, 0, 35, report.Space{Found: b(35)}},
		"more free than size":    {100, 120, 0, report.Space{Known: true, Size: b(100), Free: b(100)}},
	} {
		t.Run(name, func(t *testing.T) {
			got := report.NewSpace(usage.Capacity{Size: b(tc.size), Free: b(tc.free)}, b(tc.found))
			if diff := cmp.Diff(tc.want, got, equal); diff != "" {
				t.Errorf("space (-want +got):\n%s", diff)
			}
			if share := got.ShareOf(got.Found); share < 0 || share > 1 {
				t.Errorf("share of found = %v", share)
			}
		})
	}
}

func TestInodesUsed(t *testing.T) {
	for name, tc := range map[string]struct {
		total, free, used int64
		share             float64
		ok                bool
	}{
		"limit":         {1000, 260, 740, 0.74, true},
		"no limit":      {0, 0, 0, 0, false},
		"broken statfs": {10, 20, 0, 0, false},
	} {
		used, share, ok := report.InodesUsed(usage.Capacity{InodesTotal: tc.total, InodesFree: tc.free})
		if used != tc.used || share != tc.share || ok != tc.ok {
			t.Errorf("%s: %d, %v, %v", name, used, share, ok)
		}
	}
}
