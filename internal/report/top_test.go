package report_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/report"
	"fstally/internal/usage"
)

// equal compares values that hold usage.Bytes, whose fields are not exported.
var equal = cmp.Comparer(func(a, b usage.Bytes) bool { return a == b })

func mib(n int64) usage.Measures {
	return usage.Measures{
		Files:     n,
		Inodes:    n + 1,
		Size:      usage.ByteCount(n << 20),
		Allocated: usage.ByteCount(n << 20),
	}
}

// tableOf sorts rows as a reader does and keeps the first limit of them.
func tableOf(by usage.Measure, rows []usage.Row, limit int) usage.Table {
	rows = slices.SortedFunc(slices.Values(rows), by.Compare)
	table := usage.Table{Count: int64(len(rows)), Rows: rows[:min(limit, len(rows))]}
	for _, r := range rows {
		table.Total.Add(r.Measures)
	}
	return table
}

// C134: the head of a list stands beside the rest of the whole, and a user who
// is really called "other" is not that rest.
func TestTopIsRelativeToTheWhole(t *testing.T) {
	var rows []usage.Row
	for n := int64(1); n <= 15; n++ {
		row := usage.Row{ID: n, Key: fmt.Sprint(n), Name: fmt.Sprintf("u%d", n), Measures: mib(n)}
		if n == 14 {
			row.Name = "other"
		}
		rows = append(rows, row)
	}
	top := report.NewTop(usage.User, usage.Allocated, tableOf(usage.Allocated, rows, 10))
	if len(top.Items) != 10 || top.Items[1].Name != "other" || top.Items[1].Allocated != usage.ByteCount(14<<20) {
		t.Errorf("items are not the ten largest users, one called other: %v", top.Items)
	}
	want := &report.Others{Count: 5, Measures: usage.Measures{
		Files: 15, Inodes: 20, Size: usage.ByteCount(15 << 20), Allocated: usage.ByteCount(15 << 20),
	}, Share: 0.125}
	if diff := cmp.Diff(want, top.Others, equal); diff != "" {
		t.Errorf("others (-want +got):\n%s", diff)
	}
	if got := top.Keys()[0]; got != "15" {
		t.Errorf("first key = %q", got)
	}
}

func TestTopWithoutOthers(t *testing.T) {
	rows := []usage.Row{{Key: "a", Name: "a"}, {Key: "b", Name: "b"}}
	top := report.NewTop(usage.Type, usage.Size, tableOf(usage.Size, rows, 10))
	if top.Others != nil {
		t.Errorf("others = %+v, want none", top.Others)
	}
	for _, item := range top.Items { // C128
		if item.Share != 0 {
			t.Errorf("share of nothing = %v, want 0", item.Share)
		}
	}
}

func TestItemsAndOthersSumToTotal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() usage.Bytes { return usage.BytesFromWords(r.Uint64N(1<<40), r.Uint64()) }
	for range 200 {
		var rows []usage.Row
		for i := range r.IntN(40) {
			rows = append(rows, usage.Row{ID: int64(i), Key: fmt.Sprint(i), Measures: usage.Measures{
				Files: r.Int64N(1 << 40), Inodes: r.Int64N(1 << 40),
				Size: random(), Allocated: random(), Slack: random(), Offline: random(),
			}})
		}
		by := usage.AllMeasures()[r.IntN(6)]
		top := report.NewTop(usage.User, by, tableOf(by, rows, 1+r.IntN(45)))
		var sum usage.Measures
		var share float64
		for _, item := range top.Items {
			sum.Add(item.Measures)
			share += item.Share
		}
		if top.Others != nil {
			sum.Add(top.Others.Measures)
			share += top.Others.Share
		}
		if diff := cmp.Diff(top.Total, sum, equal); diff != "" {
			t.Fatalf("%d rows by %s: items and others are not the total (-total +sum):\n%s", len(rows), by, diff)
		}
		if len(rows) > 0 && (share < 0.999 || share > 1.001) {
			t.Errorf("shares sum to %v", share)
		}
	}
}
