package report

import (
	"math"
	"slices"
	"time"

	"fstally/internal/usage"
)

const (
	// TrendDays is how far back the pace of growth is measured: long enough to
	// pass over a clean-up or a burst, short enough to be "this pace".
	TrendDays = 90
	// minPoints and minDays are what a pace needs at the least.
	minPoints = 3
	minDays   = 2.0
	// BandLevel is the confidence level of the band of a trend.
	BandLevel = 0.8
	// bandZ is the quantile of the normal distribution for BandLevel: 90%.
	bandZ = 1.2815515655446004
	// horizon is how far a forecast reaches; beyond it a date says nothing.
	horizon = 10 * 365 * day

	day = 24 * time.Hour
)

// Sample is one value of a history.
type Sample struct {
	Time  time.Time
	Value usage.Bytes // counts too
}

// Trend is the pace of a value, per day, from its recent history: the median
// of the slopes between all pairs of samples (Theil 1950, Sen 1968), which a
// single clean-up or a burst does not turn. Low and High are Sen's bounds at
// BandLevel, from Kendall's variance of the slopes' ranks. Neighbouring
// nights are alike, so the true band is rather wider.
type Trend struct {
	PerDay, Low, High float64
	Samples           int
	From, To          time.Time // of the samples used
}

// NewTrend measures the pace over the last 90 days before the newest sample.
// It returns nil where there is too little history: fewer than three samples,
// or less than two days between the first and the last.
func NewTrend(samples []Sample) *Trend {
	if len(samples) == 0 {
		return nil
	}
	samples = slices.SortedFunc(slices.Values(samples), func(a, b Sample) int { return a.Time.Compare(b.Time) })
	newest := samples[len(samples)-1].Time
	samples = slices.DeleteFunc(samples, func(s Sample) bool { return newest.Sub(s.Time) > TrendDays*day })
	if len(samples) < minPoints || days(samples[0].Time, newest) < minDays {
		return nil
	}
	slopes := pairSlopes(samples)
	n := float64(len(samples))
	// Sen (1968), section 3: the slopes of these ranks bound the true one.
	half := bandZ * math.Sqrt(n*(n-1)*(2*n+5)/18) / 2
	middle := float64(len(slopes)) / 2
	return &Trend{
		PerDay:  median(slopes),
		Low:     slopes[clampIndex(math.Floor(middle-half), len(slopes))],
		High:    slopes[clampIndex(math.Ceil(middle+half), len(slopes))],
		Samples: len(samples),
		From:    samples[0].Time,
		To:      newest,
	}
}

// pairSlopes returns the slopes per day between all pairs of samples that have
// different times, ascending.
func pairSlopes(samples []Sample) []float64 {
	var slopes []float64
	for i, a := range samples {
		for _, b := range samples[i+1:] {
			if d := days(a.Time, b.Time); d > 0 {
				slopes = append(slopes, (b.Value.Float64()-a.Value.Float64())/d)
			}
		}
	}
	slices.Sort(slopes)
	return slopes
}

func days(from, to time.Time) float64 { return to.Sub(from).Hours() / 24 }

func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func clampIndex(i float64, n int) int { return int(min(max(i, 0), float64(n-1))) }

// Outlook says what a forecast can say.
type Outlook int

// The outlooks.
const (
	TooLittleHistory Outlook = iota
	NoLimit                  // the size is unknown
	Full                     // nothing is left already
	NotGrowing               // the pace is 0 or less
	NotSoon                  // full only after ten years
	FullAt                   // Forecast.At holds
)

// Forecast says when a growing value meets its limit if the pace stays as it is.
type Forecast struct {
	Outlook Outlook
	Trend   *Trend // nil with TooLittleHistory
	// At, Earliest and Latest are set with FullAt. Latest is zero where the
	// slow end of the band reaches the limit within ten years at no time.
	At, Earliest, Latest time.Time
}

// NewForecast carries the pace on from the value used at the time from. The
// limit is 0 where it is unknown.
func NewForecast(trend *Trend, from time.Time, used, limit usage.Bytes) Forecast {
	f := Forecast{Trend: trend}
	switch {
	case limit.IsZero():
		f.Outlook = NoLimit
		return f
	case used.Cmp(limit) >= 0:
		f.Outlook = Full
		return f
	case trend == nil:
		f.Outlook = TooLittleHistory
		return f
	case trend.PerDay <= 0:
		f.Outlook = NotGrowing
		return f
	}
	left := limit.Sub(used).Float64()
	at, ok := reach(from, left, trend.PerDay)
	if !ok {
		f.Outlook = NotSoon
		return f
	}
	f.Outlook, f.At = FullAt, at
	f.Earliest, _ = reach(from, left, max(trend.High, trend.PerDay))
	f.Latest, _ = reach(from, left, min(trend.Low, trend.PerDay))
	return f
}

// reach returns when a value that grows perDay a day has grown by left.
func reach(from time.Time, left, perDay float64) (time.Time, bool) {
	if perDay <= 0 || left/perDay > horizon.Hours()/24 {
		return time.Time{}, false
	}
	return from.Add(time.Duration(left / perDay * float64(day))), true
}
