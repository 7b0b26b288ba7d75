package report

import (
	"slices"
	"time"
)

// Gaps returns the indexes of scans, of which it gets the times, oldest first, that
// come so long after the one before that a line between them would claim what nobody
// measured: more than two and a half times the usual distance, which is the median,
// and more than a day and a half.
func Gaps(times []time.Time) []int {
	found := []int{}
	if len(times) < 3 {
		return found
	}
	distances := make([]time.Duration, 0, len(times)-1)
	for i := 1; i < len(times); i++ {
		distances = append(distances, times[i].Sub(times[i-1]))
	}
	sorted := slices.Sorted(slices.Values(distances))
	usual := sorted[len(sorted)/2]
	for i, d := range distances {
		if d > usual*5/2 && d > 36*time.Hour {
			found = append(found, i+1)
		}
	}
	return found
}
