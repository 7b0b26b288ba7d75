package report_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"fstally/internal/report"
	"fstally/internal/usage"
)

// bucketsOf folds file sizes as a scan does, each with one byte of size too few
// or many being a fault.
func bucketsOf(sizes ...int64) []usage.BucketRow {
	rows := make([]usage.BucketRow, usage.SizeBuckets)
	for i := range rows {
		rows[i].Bucket = usage.SizeBucket(i)
	}
	for _, n := range sizes {
		row := &rows[usage.BucketOf(usage.ByteCount(n))]
		row.Files++
		row.Size = row.Size.Add(usage.ByteCount(n))
		row.Allocated = row.Allocated.Add(usage.ByteCount((n + 4095) / 4096 * 4096))
	}
	return rows
}

// Folding buckets into classes must give what classing each file gives.
func TestClassBarsAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, classes := range []usage.SizeClasses{usage.DefaultSizeClasses(), {0, 1, 3, 6}, {4096, 8192, 1 << 40, math.MaxInt64}} {
		var sizes []int64
		want := make([]int64, 5)
		for range 2000 {
			n := r.Int64() >> r.IntN(63)
			sizes = append(sizes, n)
			want[classes.Of(n)]++
		}
		for i, bar := range report.ClassBars(classes, bucketsOf(sizes...)) {
			if bar.Files != want[i] {
				t.Errorf("classes %v: bar %d (%d..%d] has %d files, want %d", classes, i, bar.Over, bar.UpTo, bar.Files, want[i])
			}
		}
	}
}

func TestBars(t *testing.T) {
	bars := report.Bars(bucketsOf(3, 3, 10, 10, 10, 24))
	if len(bars) != 7 { // 3, 4, 6, 8, 12, 16, 24
		t.Fatalf("%d bars, want one per bucket from 3 to 24: %+v", len(bars), bars)
	}
	if b := bars[4]; b.Over != 8 || b.UpTo != 12 || b.Files != 3 || b.FilesShare != 0.5 || b.Size != usage.ByteCount(30) {
		t.Errorf("bar of 10 bytes = %+v", b)
	}
	var share float64
	for _, b := range bars {
		share += b.AllocatedShare
	}
	if math.Abs(share-1) > 1e-9 {
		t.Errorf("allocated shares sum to %v", share)
	}
	if got := report.Bars(bucketsOf()); got != nil {
		t.Errorf("bars of no file = %v", got)
	}
}

func TestQuantile(t *testing.T) {
	for name, tc := range map[string]struct {
		sizes []int64
		want  report.Range
		exact bool
	}{
		"empty files":     {[]int64{0, 0, 0, 9}, report.Range{Over: -1, UpTo: 0}, true},
		"one":             {[]int64{5000}, report.Range{Over: 4096, UpTo: 6144}, false},
		"lower of two":    {[]int64{1, 100}, report.Range{Over: 0, UpTo: 1}, true},
		"the middle":      {[]int64{1, 100, 1 << 40}, report.Range{Over: 96, UpTo: 128}, false},
		"largest of size": {[]int64{math.MaxInt64}, report.Range{Over: 3 << 61, UpTo: math.MaxInt64}, false},
	} {
		got, ok := report.Quantile(bucketsOf(tc.sizes...), 0.5)
		if !ok || got != tc.want || got.Exact() != tc.exact {
			t.Errorf("%s: median = %+v, %v, want %+v", name, got, ok, tc.want)
		}
	}
	if _, ok := report.Quantile(bucketsOf(), 0.5); ok {
		t.Error("no file has a median")
	}
}

func TestMeanAndEmpty(t *testing.T) {
	rows := bucketsOf(0, 0, math.MaxInt64, math.MaxInt64)
	if mean, ok := report.Mean(rows); !ok || mean.String() != "4611686018427387903" {
		t.Errorf("mean = %s, %v", mean, ok)
	}
	if got := report.Empty(rows); got != 2 {
		t.Errorf("empty files = %d", got)
	}
	if _, ok := report.Mean(bucketsOf()); ok {
		t.Error("no file has a mean")
	}
}
