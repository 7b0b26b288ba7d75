package jobs

import (
	"testing"
	"time"
)

// Of a database that was away nothing can be concluded about those who use it.
func TestAnswered(t *testing.T) {
	var a answered
	start := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	for i, step := range []struct {
		after  time.Duration
		ok     bool
		steady time.Duration
		news   bool
	}{
		{0, true, 0, true},
		{5 * time.Second, true, 5 * time.Second, false},
		{time.Hour, true, time.Hour, false},
		{time.Hour + 5*time.Second, false, 0, true},
		{time.Hour + 10*time.Second, false, 0, false},
		{2 * time.Hour, true, 0, true},
		{2*time.Hour + time.Minute, true, time.Minute, false},
	} {
		steady, news := a.note(step.ok, start.Add(step.after))
		if steady != step.steady || news != step.news {
			t.Errorf("step %d: steady for %s, news %t", i, steady, news)
		}
	}
	var away answered
	if steady, news := away.note(false, start); steady != 0 || !news {
		t.Errorf("away from the start: %s, %t", steady, news)
	}
}
