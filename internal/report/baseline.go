package report

import (
	"time"

	"fstally/internal/usage"
)

// Baseline returns the scan to compare with for "n days before": the newest
// point that is at least n days older by the site's calendar, but not more than
// half as much again, so that a missed night is bridged and a month without
// scans is not called a week. It returns nil where there is none.
func Baseline(points []usage.Point, scan *usage.Scan, n int) *usage.Point {
	i := baseline(len(points), func(i int) string { return points[i].Scan.Day }, scan.Day, n)
	if i < 0 {
		return nil
	}
	return &points[i]
}

// BaselineDay is Baseline before the numbers are read: the index of the day to
// compare a shown one with, -1 for none.
func BaselineDay(days []usage.HistoryDay, shown string, n int) int {
	return baseline(len(days), func(i int) string { return days[i].Day }, shown, n)
}

func baseline(count int, dayOf func(int) string, shown string, n int) int {
	at, err := time.Parse(time.DateOnly, shown)
	if err != nil {
		return -1
	}
	latest := at.AddDate(0, 0, -n).Format(time.DateOnly)
	earliest := at.AddDate(0, 0, -n-(n+1)/2).Format(time.DateOnly)
	best := -1
	for i := range count {
		if d := dayOf(i); d <= latest && d >= earliest && (best < 0 || d > dayOf(best)) {
			best = i
		}
	}
	return best
}

// FoundSamples returns one measure of the totals over the history.
func FoundSamples(points []usage.Point, by usage.Measure) []Sample {
	samples := make([]Sample, len(points))
	for i, p := range points {
		samples[i] = Sample{Time: p.Scan.Started, Value: by.Of(p.Total)}
	}
	return samples
}

// UsedSamples returns the used space over the history, without the scans at
// which the size of the file system was not known.
func UsedSamples(points []usage.Point) []Sample {
	var samples []Sample
	for _, p := range points {
		if !p.Scan.Capacity.Size.IsZero() {
			samples = append(samples, Sample{Time: p.Scan.Started, Value: p.Scan.Capacity.Used()})
		}
	}
	return samples
}
