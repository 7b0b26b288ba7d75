package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"fstally/internal/postgres"
	"fstally/internal/usage"
)

// Supervisor runs queued scans. Fill in the fields, then call Run.
type Supervisor struct {
	Store   *postgres.Store
	Scanner []string // the command that scans: the program and "scan"
	Spool   string   // folder for results on their way, only for this user
	Owner   string   // from Owner
	Logger  *slog.Logger
	// Worker is whose file systems are scanned: "" for those of fstally serve.
	Worker string
	// Allow refuses file systems that must not be scanned here, with the reason; nil
	// allows all.
	Allow func(usage.FileSystem) error
	// Scans bounds how many scans run at a time, each of its own file system.
	Scans int
	// Housekeeping is true for servers: one of them, the leader, looks at schedules and
	// at what was lost every few seconds, and runs Tasks every hour.
	Housekeeping bool
	Tasks        []func(context.Context) error
	// Progress is told what a scan says of itself, for a terminal; nil for none.
	Progress func(usage.Scan, usage.Progress)
	// GiveUp is how long the import of a result is tried while the database is away;
	// 0 for as long as Run does. After that it waits in the spool folder.
	GiveUp time.Duration

	answered   answered
	complained time.Time   // of a result that an earlier process left
	working    atomic.Bool // the queue is worked
}

// How long to wait, and how often to look.
const (
	heartbeatEvery = time.Second // far below the lease; also how soon a cancel is noticed
	reapEvery      = 5 * time.Second
	finalTimeout   = 10 * time.Second // to tell the store how a scan ended when everything stops
	complainEvery  = time.Minute      // of a database that is away
)

// errCancelled: somebody asked for the end of this scan.
var errCancelled = errors.New("cancelled")

// ErrStopped is what RunScan returns when its ctx ends.
var ErrStopped = errors.New("fstally was stopped while the scan ran")

// Run recovers, then runs queued scans until ctx ends, and returns when all children
// have ended or are left behind.
func (s *Supervisor) Run(ctx context.Context) error {
	if err := s.Recover(ctx); err != nil {
		return err
	}
	stop, err := s.queue(ctx)
	if err != nil {
		return err
	}
	defer stop()
	s.working.Store(true)
	defer s.working.Store(false)
	tick := time.NewTicker(reapEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if s.reap(ctx) { // the database answers
				s.importSpooled(ctx)
			}
		}
	}
}

// Ready returns an error while Run does not work the queue: scans would wait.
func (s *Supervisor) Ready(context.Context) error {
	if !s.working.Load() {
		return errors.New("queued scans are not worked yet, or no longer")
	}
	return nil
}

// Recover takes up what an earlier process left behind: it marks scans whose
// owner is gone, and imports results that are complete.
func (s *Supervisor) Recover(ctx context.Context) error {
	if err := os.MkdirAll(s.Spool, 0o700); err != nil {
		return fmt.Errorf("make the spool folder: %w", err)
	}
	s.reap(ctx)
	s.importSpooled(ctx)
	return nil
}

// RunScan runs a scan that this owner has claimed, imports its result, and
// records how it ended. The error, which is recorded too, is for callers that
// wait for this one scan.
func (s *Supervisor) RunScan(ctx context.Context, scan usage.Scan) error {
	log := s.Logger.With("scan", scan.ID, "filesystem_id", scan.FileSystemID)
	log.InfoContext(ctx, "scan started")
	err := s.scanAndImport(ctx, scan)
	if err == nil {
		log.InfoContext(ctx, "scan stored")
		return nil
	}
	state := usage.Failed
	switch {
	case errors.Is(err, errCancelled):
		state = usage.Cancelled
	case ctx.Err() != nil:
		state, err = usage.Interrupted, ErrStopped
	case errors.Is(err, errKilled):
		state = usage.Interrupted
	}
	log.WarnContext(ctx, "scan ended without a result", "state", state, "reason", err)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalTimeout)
	defer cancel()
	if endErr := s.Store.EndScan(ctx, scan.ID, s.Owner, state, err.Error()); endErr != nil {
		log.ErrorContext(ctx, "record how the scan ended", "err", endErr)
	}
	return err
}

func (s *Supervisor) scanAndImport(ctx context.Context, scan usage.Scan) error {
	fs, err := s.Store.FileSystem(ctx, usage.Everything(), strconv.FormatInt(scan.FileSystemID, 10))
	if err != nil {
		return err
	}
	if s.Allow != nil {
		if err := s.Allow(fs); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	lease := s.holdLease(ctx, scan, cancel)
	defer lease.release()
	out := s.spoolFile(scan.ID)
	if err := s.scanInChild(ctx, fs, out, lease.progress); err != nil {
		return err
	}
	lease.importing.Store(true)
	lease.phase("importing")
	return s.importResult(ctx, out, scan)
}

// lease renews the lease of one scan until it is released.
type lease struct {
	latest atomic.Pointer[usage.Progress]
	// importing: who holds the lease is then the import's to see, which ends it.
	importing atomic.Bool
	tell      func(usage.Progress)
	stop      context.CancelFunc
	ended     sync.WaitGroup
}

// holdLease starts to renew the lease of the scan. It cancels the scan when the
// store says so, or when the lease has gone to somebody else. A database that
// does not answer is waited for: the scan goes on.
func (s *Supervisor) holdLease(ctx context.Context, scan usage.Scan, cancel context.CancelCauseFunc) *lease {
	ctx, stop := context.WithCancel(ctx)
	l := &lease{stop: stop, tell: func(usage.Progress) {}}
	if s.Progress != nil {
		l.tell = func(p usage.Progress) { s.Progress(scan, p) }
	}
	l.latest.Store(&usage.Progress{})
	l.ended.Go(func() {
		tick := time.NewTicker(heartbeatEvery)
		defer tick.Stop()
		var complained time.Time
		for {
			cancelled, err := s.Store.Heartbeat(ctx, scan.ID, s.Owner, *l.latest.Load())
			switch {
			case ctx.Err() != nil:
				return
			case cancelled:
				cancel(errCancelled)
			case errors.Is(err, postgres.ErrLeaseLost) && l.importing.Load():
				return
			case errors.Is(err, postgres.ErrLeaseLost):
				cancel(err)
				return
			case err != nil && time.Since(complained) > complainEvery:
				complained = time.Now()
				s.Logger.WarnContext(ctx, "renew the lease of a scan; the scan goes on", "scan", scan.ID, "err", err)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return l
}

func (l *lease) progress(p usage.Progress) {
	l.latest.Store(&p)
	l.tell(p)
}

func (l *lease) phase(name string) {
	p := *l.latest.Load()
	p.Phase = name
	l.progress(p)
}

func (l *lease) release() {
	l.stop()
	l.ended.Wait()
}

// reap marks the scans whose owner is gone. Of other hosts and of itself it knows only
// the lease, which says nothing while the database was away: neither for this process,
// nor, after a failover to a server that was up all the time, for the owner. ok is
// false while the database does not answer.
func (s *Supervisor) reap(ctx context.Context) (ok bool) {
	leases, err := s.Store.RunningScans(ctx)
	steady, news := s.answered.note(err == nil, time.Now())
	if err != nil {
		if news && ctx.Err() == nil {
			s.Logger.WarnContext(ctx, "the database does not answer; scans go on and their results wait", "err", err)
		}
		return false
	}
	for _, l := range leases {
		expired := l.Expired && steady >= postgres.LeaseTime
		if !expired && (l.Owner == s.Owner || !gone(l.Owner)) {
			continue
		}
		if err := s.Store.InterruptScan(ctx, l.ScanID, l.Owner); err != nil {
			s.Logger.WarnContext(ctx, "mark a scan as interrupted", "scan", l.ScanID, "err", err)
			continue
		}
		s.Logger.InfoContext(ctx, "scan was interrupted: its process is gone", "scan", l.ScanID, "owner", l.Owner)
	}
	return true
}

// answered remembers since when the database has answered without a break. The zero
// value has not heard of it yet.
type answered struct {
	since time.Time // zero while it does not
	asked bool
}

// note takes an answer, or its absence, and returns for how long there were only
// answers, and whether this one was other than the last.
func (a *answered) note(ok bool, now time.Time) (steady time.Duration, news bool) {
	news = !a.asked || ok == a.since.IsZero()
	a.asked = true
	switch {
	case !ok:
		a.since = time.Time{}
		return 0, news
	case a.since.IsZero():
		a.since = now
	}
	return now.Sub(a.since), news
}
