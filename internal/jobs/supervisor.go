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
	// Scans bounds how many scans run at a time, each of its own file system.
	Scans int
	// Progress is told what a scan says of itself, for a terminal; nil for none.
	Progress func(usage.Scan, usage.Progress)
}

// How long to wait, and how often to look.
const (
	pollEvery      = 2 * time.Second // for queued scans, those of other processes included
	heartbeatEvery = 2 * time.Second // far below the lease; also how soon a cancel is noticed
	reapEvery      = 30 * time.Second
	finalTimeout   = 10 * time.Second // to tell the store how a scan ended when everything stops
)

// errCancelled: somebody asked for the end of this scan.
var errCancelled = errors.New("cancelled")

// ErrStopped is what RunScan returns when its ctx ends.
var ErrStopped = errors.New("fstally was stopped while the scan ran")

// Run recovers, then runs queued scans until
// ctx ends, and returns when all children have ended.
func (s *Supervisor) Run(ctx context.Context) error {
	if err := s.Recover(ctx); err != nil {
		return err
	}
	var scans sync.WaitGroup
	defer scans.Wait()
	slots := make(chan struct{}, max(1, s.Scans))
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	lastReap := time.Now()
	for {
		if time.Since(lastReap) > reapEvery {
			s.reap(ctx)
			lastReap = time.Now()
		}
		for s.startNext(ctx, slots, &scans) {
		}
		select {
		case <-ctx.Done():
			return nil
		case <-poll.C:
		}
	}
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

// startNext starts the scan that waits longest; false when none waits, or all
// slots are taken.
func (s *Supervisor) startNext(ctx context.Context, slots chan struct{}, scans *sync.WaitGroup) bool {
	select {
	case slots <- struct{}{}:
	default:
		return false
	}
	scan, ok, err := s.Store.ClaimScan(ctx, s.Owner)
	if err != nil || !ok {
		<-slots
		if err != nil && ctx.Err() == nil {
			s.Logger.WarnContext(ctx, "look for queued scans", "err", err)
		}
		return false
	}
	scans.Go(func() {
		defer func() { <-slots }()
		_ = s.RunScan(ctx, scan) // it is recorded and logged
	})
	return true
}

// RunScan runs a scan that this owner has claimed, imports its result, and
// records how it ended. The error, which is recorded too, is for callers that
// wait for this one scan.
func (s *Supervisor) RunScan(ctx context.Context, scan usage.Scan) error {
	log := s.Logger.With("scan", scan.ID, "filesystem", scan.FileSystemID)
	log.InfoContext(ctx, "scan started")
	err := s.scanAndImport(ctx, scan)
	if err == nil {
		log.InfoContext(ctx, "scan published")
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
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	lease := s.holdLease(ctx, scan, cancel)
	defer lease.release()
	out := s.spoolFile(scan.ID)
	if err := s.scanInChild(ctx, fs, out, lease.progress); err != nil {
		return err
	}
	lease.phase("importing")
	return s.importResult(ctx, out, scan)
}

// lease renews the lease of one scan until it is released.
type lease struct {
	latest atomic.Pointer[usage.Progress]
	tell   func(usage.Progress)
	stop   context.CancelFunc
	ended  sync.WaitGroup
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
		for {
			cancelled, err := s.Store.Heartbeat(ctx, scan.ID, s.Owner, *l.latest.Load())
			switch {
			case ctx.Err() != nil:
				return
			case cancelled:
				cancel(errCancelled)
			case errors.Is(err, postgres.ErrLeaseLost):
				cancel(err)
			case err != nil:
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

// reap marks the scans whose owner is gone.
func (s *Supervisor) reap(ctx context.Context) {
	leases, err := s.Store.RunningScans(ctx)
	if err != nil {
		s.Logger.WarnContext(ctx, "look for interrupted scans", "err", err)
		return
	}
	for _, l := range leases {
		if l.Owner == s.Owner || !l.Expired && !gone(l.Owner) {
			continue
		}
		if err := s.Store.InterruptScan(ctx, l.ScanID, l.Owner); err != nil {
			s.Logger.WarnContext(ctx, "mark a scan as interrupted", "scan", l.ScanID, "err", err)
			continue
		}
		s.Logger.InfoContext(ctx, "scan was interrupted: its process is gone", "scan", l.ScanID)
	}
}
