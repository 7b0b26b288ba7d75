package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"fstally/internal/postgres"
	"fstally/internal/schedule"
	"fstally/internal/usage"
)

// How often the jobs of the leader come.
const (
	dispatchEvery = 10 * time.Second
	tidyEvery     = time.Hour
)

// housekeepingQueue is worked by servers only.
const housekeepingQueue = "housekeeping"

// stopTimeout bounds how long jobs are waited for once their contexts have ended:
// scanners are ended or left behind in less.
const stopTimeout = 20 * time.Second

// queue starts to work the queue of this supervisor's scans and, for one that keeps
// house, that of the housekeeping. stop ends all jobs and waits for them.
func (s *Supervisor) queue(ctx context.Context) (stop func(), err error) {
	driver, closeDriver, err := s.Store.QueueDriver(ctx)
	if err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(s.scanJob))
	config := &river.Config{
		Schema:     postgres.QueueSchema,
		Queues:     map[string]river.QueueConfig{postgres.ScanQueue(s.Worker): {MaxWorkers: max(1, s.Scans)}},
		Workers:    workers,
		JobTimeout: -1, // a scan may take days
		Logger:     slog.New(quiet{s.Logger.Handler()}),
		// Jobs are rows that nobody looks at when they are done.
		CompletedJobRetentionPeriod: time.Hour,
		CancelledJobRetentionPeriod: time.Hour,
		DiscardedJobRetentionPeriod: time.Hour,
	}
	if s.Housekeeping {
		config.Queues[housekeepingQueue] = river.QueueConfig{MaxWorkers: 2}
		river.AddWorker(workers, river.WorkFunc(s.dispatchJob))
		river.AddWorker(workers, river.WorkFunc(s.tidyJob))
		config.PeriodicJobs = []*river.PeriodicJob{
			periodic(dispatchEvery, dispatchJob{}), periodic(tidyEvery, tidyJob{}),
		}
	} else {
		config.LeaderElectionDisabled = true // it knows one kind of job only, and the leader rescues all
	}
	client, err := river.NewClient(driver, config)
	if err != nil {
		closeDriver()
		return nil, fmt.Errorf("work the queue: %w", err)
	}
	// Not ctx: what ends the jobs is StopAndCancel, after which the queue still tells
	// the database how they ended.
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		closeDriver()
		return nil, fmt.Errorf("work the queue: %w", err)
	}
	return func() {
		defer closeDriver()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		if err := client.StopAndCancel(ctx); err != nil {
			s.Logger.WarnContext(ctx, "stop working the queue", "err", err)
		}
	}, nil
}

// periodic makes a job that the leader inserts, first when it becomes the leader. One
// too many does no harm; one that its worker left behind must not be in the way of
// the next, so none is unique.
func periodic[T river.JobArgs](every time.Duration, args T) *river.PeriodicJob {
	return river.NewPeriodicJob(river.PeriodicInterval(every),
		func() (river.JobArgs, *river.InsertOpts) {
			return args, &river.InsertOpts{Queue: housekeepingQueue, MaxAttempts: 1}
		},
		&river.PeriodicJobOpts{RunOnStart: true})
}

// scanJob runs the scan that waits longest: jobs are only the number of scans to run.
func (s *Supervisor) scanJob(ctx context.Context, _ *river.Job[postgres.ScanJob]) error {
	scan, ok, err := s.Store.ClaimScan(ctx, s.Owner, s.Worker)
	if err != nil || !ok {
		return err
	}
	_ = s.RunScan(ctx, scan) // it is recorded and logged
	return nil
}

// dispatchJob turns due occurrences into queued scans.
type dispatchJob struct{}

// Kind names it in the queue.
func (dispatchJob) Kind() string { return "dispatch" }

func (s *Supervisor) dispatchJob(ctx context.Context, _ *river.Job[dispatchJob]) error {
	return s.dispatch(ctx, time.Time{})
}

// dispatch looks at all schedules as of now, the database's clock if zero.
func (s *Supervisor) dispatch(ctx context.Context, now time.Time) error {
	made, err := s.Store.Dispatch(ctx, now, look)
	for _, scan := range made {
		log := s.Logger.With("scan", scan.ID, "filesystem_id", scan.FileSystemID, "occurrence", scan.Occurrence)
		if scan.State == usage.NotRun {
			log.WarnContext(ctx, "a scheduled scan is left out", "reason", scan.Reason)
		} else {
			log.InfoContext(ctx, "a scheduled scan is queued")
		}
	}
	swept, sweepErr := s.Store.Sweep(ctx)
	if swept > 0 {
		s.Logger.InfoContext(ctx, "queued scans had no job", "scans", swept)
	}
	return errors.Join(err, sweepErr)
}

// look is postgres.Look.
func look(stored usage.Schedule, now time.Time) (usage.Due, error) {
	s, err := schedule.New(stored)
	if err != nil {
		return usage.Due{}, err
	}
	return s.Look(stored.NextRun, now), nil
}

// tidyJob is the hourly housekeeping.
type tidyJob struct{}

// Kind names it in the queue.
func (tidyJob) Kind() string { return "tidy" }

func (s *Supervisor) tidyJob(ctx context.Context, _ *river.Job[tidyJob]) error {
	var failures []error
	for _, task := range s.Tasks {
		if err := task(ctx); err != nil {
			s.Logger.WarnContext(ctx, "housekeeping", "err", err)
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// quiet lets a queue say what is wrong, and keeps the rest of its words out of
// the log.
type quiet struct{ slog.Handler }

// Enabled reports whether a message is a problem.
func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}

// WithAttrs keeps the rule.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }

// WithGroup keeps the rule.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }
