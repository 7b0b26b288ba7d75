package scan

import (
	"sync"
	"sync/atomic"
	"time"

	"fstally/internal/usage"
	"fstally/internal/walk"
)

// reportEvery is how often progress is told.
const reportEvery = time.Second

// The phases that Run goes through.
const (
	walking = "walking"
	naming  = "naming"
)

// meter counts what passes through the sinks. Walkers add once per batch, so it
// costs them nothing per entry.
type meter struct {
	base    usage.Progress
	watch   *walk.Watch
	entries atomic.Int64
	blocks  atomic.Int64 // of every name, hard links included: this is an estimate
	dir     atomic.Pointer[usage.Dir]
	inPhase atomic.Pointer[string]
}

func newMeter(base usage.Progress) *meter {
	m := &meter{base: base, watch: new(walk.Watch)}
	m.phase(base.Phase)
	return m
}

func (m *meter) phase(name string) { m.inPhase.Store(&name) }

// sink returns next with the meter before it.
func (m *meter) sink(next walk.Sink) walk.Sink { return meteredSink{m, next} }

type meteredSink struct {
	meter *meter
	next  walk.Sink
}

func (s meteredSink) Add(dir *usage.Dir, entries []usage.Entry) {
	var blocks int64
	for i := range entries {
		blocks += max(0, entries[i].Blocks)
	}
	s.meter.entries.Add(int64(len(entries)))
	s.meter.blocks.Add(blocks)
	s.meter.dir.Store(dir)
	s.next.Add(dir, entries)
}

func (s meteredSink) Leave(dir *usage.Dir) { s.next.Leave(dir) }

func (m *meter) progress() usage.Progress {
	p := m.base
	p.Entries = m.entries.Load()
	p.Allocated = (&usage.Entry{Blocks: m.blocks.Load()}).Measures().Allocated
	p.Phase = *m.inPhase.Load()
	if d := m.dir.Load(); d != nil {
		p.Directory = usage.Escape(d.Path())
	}
	if p.Phase == walking {
		quiet := m.watch.Quiet()
		p.LastAnswer = time.Now().Add(-quiet).Round(time.Second)
		p.Stalled = quiet >= stalledAfter
		p.Blocked, _ = blockedIn(m.watch.Blocked(blockedAfter))
	}
	return p
}

// report tells progress to f until the returned function is called, which tells
// it once more and waits for the end.
func (m *meter) report(f func(usage.Progress)) (stop func()) {
	if f == nil {
		return func() {}
	}
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(reportEvery)
		defer tick.Stop()
		for {
			f(m.progress())
			select {
			case <-tick.C:
			case <-done:
				f(m.progress())
				return
			}
		}
	})
	return func() {
		close(done)
		ended.Wait()
	}
}
