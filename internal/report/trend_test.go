package report_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"fstally/internal/report"
	"fstally/internal/usage"
)

var start = time.Date(2026, 1, 1, 1, 30, 0, 0, time.UTC)

// nightly returns one sample per night.
func nightly(values ...int64) []report.Sample {
	samples := make([]report.Sample, len(values))
	for i, v := range values {
		samples[i] = report.Sample{Time: start.AddDate(0, 0, i), Value: usage.ByteCount(v)}
	}
	return samples
}

func TestTrendNeedsHistory(t *testing.T) {
	for name, samples := range map[string][]report.Sample{
		"none": nil,
		"one":  nightly(1),
		"two":  nightly(1, 2),
		"three in a day": {
			{Time: start, Value: usage.ByteCount(1)},
			{Time: start.Add(time.Hour), Value: usage.ByteCount(2)},
			{Time: start.Add(20 * time.Hour), Value: usage.ByteCount(3)},
		},
		"others too old": append(nightly(1, 2), report.Sample{Time: start.AddDate(1, 0, 0), Value: usage.ByteCount(3)}),
	} {
		if got := report.NewTrend(samples); got != nil {
			t.Errorf("%s: trend = %+v, want too little history", name, got)
		}
	}
}

func TestTrendOfALine(t *testing.T) {
	trend := report.NewTrend(nightly(100, 110, 120, 130, 140))
	if trend == nil || trend.PerDay != 10 || trend.Low != 10 || trend.High != 10 || trend.Samples != 5 {
		t.Fatalf("trend of +10 a day = %+v", trend)
	}
}

// A clean-up in the middle must not turn the pace, as it would with least squares.
func TestTrendPassesOverACleanUp(t *testing.T) {
	var values []int64
	for i := range int64(60) {
		v := 10_000 + 10*i
		if i >= 50 {
			v -= 300
		}
		values = append(values, v)
	}
	trend := report.NewTrend(nightly(values...))
	if trend.PerDay < 7 || trend.PerDay > 10 {
		t.Errorf("pace = %v a day, want about 10", trend.PerDay)
	}
}

func TestTrendBandHoldsThePace(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	held := 0
	for range 200 {
		var values []int64
		for i := range 30 {
			values = append(values, 1_000_000+int64(100*i)+int64(300*r.NormFloat64()))
		}
		trend := report.NewTrend(nightly(values...))
		if trend.Low > trend.PerDay || trend.High < trend.PerDay {
			t.Fatalf("band [%v, %v] does not hold %v", trend.Low, trend.High, trend.PerDay)
		}
		if trend.Low <= 100 && 100 <= trend.High {
			held++
		}
	}
	if held < 140 || held > 190 { // 160 expected, within five standard deviations
		t.Errorf("the 80%% band held the true pace %d times of 200", held)
	}
}

func TestForecast(t *testing.T) {
	b := usage.ByteCount
	grows := &report.Trend{PerDay: 10, Low: 5, High: 20}
	for name, tc := range map[string]struct {
		trend       *report.Trend
		used, limit int64
		want        report.Outlook
	}{
		"too little history": {nil, 1, 100, report.TooLittleHistory},
		"size unknown":       {grows, 1, 0, report.NoLimit},
		"full":               {grows, 100, 100, report.Full},
		"steady":             {&report.Trend{}, 1, 100, report.NotGrowing},
		"shrinks":            {&report.Trend{PerDay: -3, Low: -5, High: 1}, 1, 100, report.NotGrowing},
		"in centuries":       {&report.Trend{PerDay: 1e-300, High: 1}, 1, math.MaxInt64, report.NotSoon},
		"in ten days":        {grows, 900, 1000, report.FullAt},
	} {
		f := report.NewForecast(tc.trend, start, b(tc.used), b(tc.limit))
		if f.Outlook != tc.want {
			t.Errorf("%s: outlook = %v, want %v", name, f.Outlook, tc.want)
		}
		if (f.Outlook == report.FullAt) == f.At.IsZero() {
			t.Errorf("%s: outlook %v with date %v", name, f.Outlook, f.At)
		}
	}

	f := report.NewForecast(grows, start, b(900), b(1000))
	at := func(days int) time.Time { return start.AddDate(0, 0, days) }
	if !f.At.Equal(at(10)) || !f.Earliest.Equal(at(5)) || !f.Latest.Equal(at(20)) {
		t.Errorf("full at %v, between %v and %v", f.At, f.Earliest, f.Latest)
	}
	open := report.NewForecast(&report.Trend{PerDay: 10, Low: -1, High: 20}, start, b(900), b(1000))
	if !open.Latest.IsZero() {
		t.Errorf("a band that holds no growth ends at %v", open.Latest)
	}
}

func TestBaseline(t *testing.T) {
	var points []usage.Point
	for _, day := range []string{"2026-01-01", "2026-01-20", "2026-01-28", "2026-01-29", "2026-01-31", "2026-02-01"} {
		points = append(points, usage.Point{Scan: usage.Scan{Day: day}})
	}
	shown := &usage.Scan{Day: "2026-01-31"}
	for n, want := range map[int]string{1: "2026-01-29", 2: "2026-01-29", 7: "2026-01-20", 30: "2026-01-01", 60: ""} {
		var got string
		if p := report.Baseline(points, shown, n); p != nil {
			got = p.Scan.Day
		}
		if got != want {
			t.Errorf("%d days before %s = %q, want %q", n, shown.Day, got, want)
		}
	}
	if p := report.Baseline(points, &usage.Scan{}, 1); p != nil {
		t.Errorf("a scan without a day is compared with %s", p.Scan.Day)
	}
}
