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
	shown, err := time.Parse(time.DateOnly, scan.Day)
	if err != nil {
		return nil
	}
	latest := shown.AddDate(0, 0, -n).Format(time.DateOnly)
	earliest := shown.AddDate(0, 0, -n-(n+1)/2).Format(time.DateOnly)
	var best *usage.Point
	for i := range points {
		d := points[i].Scan.Day
		if d <= latest && d >= earliest && (best == nil || d > best.Scan.Day) {
			best = &points[i]
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
