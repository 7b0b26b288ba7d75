package walk

import (
	"sync/atomic"
	"time"
)

const (
	// quickMost is how long a call takes at most, on the average of a run, that finds
	// all in memory.
	quickMost = 50 * time.Microsecond
	// slowRuns is for how many runs calls are taken to be slow after one that was.
	slowRuns = 8
)

// pace tells whether the calls of a file system are quick. A local one is taken to
// be, until it has to read its disk; one that waits for others never is.
type pace struct {
	local bool
	slow  atomic.Int32 // runs that are still taken to be slow
}

// pacedRun is a series of calls.
type pacedRun struct {
	quick bool
	begun time.Time
}

func (p *pace) begin() pacedRun {
	if !p.local {
		return pacedRun{}
	}
	if p.slow.Load() > 0 {
		p.slow.Add(-1)
		return pacedRun{begun: time.Now()}
	}
	return pacedRun{true, time.Now()}
}

func (p *pace) end(r pacedRun, calls int) {
	if p.local && time.Since(r.begun) > time.Duration(calls)*quickMost {
		p.slow.Store(slowRuns)
	}
}
