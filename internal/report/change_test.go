package report_test

import (
	"math"
	"testing"

	"fstally/internal/report"
	"fstally/internal/usage"
)

func size(n int64) usage.Measures { return usage.Measures{Size: usage.ByteCount(n)} }

func TestChange(t *testing.T) {
	const gib = 1 << 30
	huge := usage.Measures{Size: usage.BytesFromWords(1, 0)}
	for _, tc := range []struct {
		name       string
		from, to   usage.Measures
		diff, text string
		exact      string
		share      float64
		percentage bool
		isNew      bool
	}{
		{"grew", size(4 * gib), size(5 * gib), "1073741824", "+1 GiB", "+1,073,741,824 bytes", 0.25, true, false},
		{"shrank", size(4 * gib), size(2 * gib), "-2147483648", "−2 GiB", "−2,147,483,648 bytes", -0.5, true, false},
		{"stayed", size(gib), size(gib), "0", "0 B", "0 bytes", 0, true, false},
		{"C129 new", size(0), size(5 * gib), "5368709120", "+5 GiB", "+5,368,709,120 bytes", 0, false, true},
		{"nothing", size(0), size(0), "0", "0 B", "0 bytes", 0, false, false},
		{"beyond 64 bits", size(0), huge, "18446744073709551616", "+16 EiB",
			"+18,446,744,073,709,551,616 bytes", 0, false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := report.Change{By: usage.Size, From: tc.from, To: tc.to}
			if got := c.Diff().String(); got != tc.diff {
				t.Errorf("diff = %s, want %s", got, tc.diff)
			}
			if got := c.Format(); got != tc.text {
				t.Errorf("text = %q, want %q", got, tc.text)
			}
			if got := c.Exact(); got != tc.exact {
				t.Errorf("exact = %q, want %q", got, tc.exact)
			}
			share, ok := c.Share()
			if share != tc.share || ok != tc.percentage || math.IsNaN(share) || math.IsInf(share, 0) {
				t.Errorf("share = %v, %v, want %v, %v", share, ok, tc.share, tc.percentage)
			}
			if c.New() != tc.isNew {
				t.Errorf("new = %v, want %v", c.New(), tc.isNew)
			}
		})
	}
}

func TestChangesSince(t *testing.T) {
	rows := []usage.Row{{ID: 1, Key: "1", Measures: mib(5)}, {ID: 2, Key: "2", Measures: mib(3)}, {ID: 3, Key: "3", Measures: mib(2)}}
	top := report.NewTop(usage.User, usage.Files, tableOf(usage.Files, rows, 2))

	all := top.ChangesSince(map[string]usage.Measures{"1": mib(7), "2": {}}, mib(8))
	if got := all.Items[0].Format() + " " + all.Items[1].Format() + " " + all.Others.Format() + " " + all.Total.Format(); got != "−2 +3 +1 +2" {
		t.Errorf("changes = %s", got)
	}
	if !all.Items[1].New() {
		t.Error("a user that was not there is not new")
	}

	some := top.ChangesSince(map[string]usage.Measures{"1": mib(7)}, mib(8))
	if some.Items[1] != nil || some.Others != nil {
		t.Errorf("what is unknown changed by %v, %v", some.Items[1], some.Others)
	}
	if some.Items[0] == nil || some.Total == nil {
		t.Error("what is known is unknown")
	}
}
