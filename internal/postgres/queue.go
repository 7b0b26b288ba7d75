package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// QueueSchema is the schema of River's tables.
const QueueSchema = "river"

// ScanJob wakes a worker because a scan is queued. The row of the scan is what
// counts: a job that is lost is inserted again (Sweep), and one too many finds
// nothing to do.
type ScanJob struct {
	ScanID int64 `json:"scan_id"`
}

// Kind names it in the queue.
func (ScanJob) Kind() string { return "scan" }

// ScanQueue names the queue of a worker, "" for fstally serve.
func ScanQueue(worker string) string {
	if worker == "" {
		return "scan"
	}
	return "scan_" + worker
}

// newQueue returns a client that inserts into the queue.
func newQueue(pool *pgxpool.Pool) (*river.Client[pgx.Tx], error) {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Schema: QueueSchema, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	return client, nil
}

// queueConnections bounds the connections that working the queue takes, one of
// which listens.
const queueConnections = 4

// QueueDriver returns what a client needs that works the queue: connections of its
// own, as those that broke are cleared away in the store's pool. The caller closes it.
func (s *Store) QueueDriver(ctx context.Context) (driver *riverpgxv5.Driver, closeDriver func(), err error) {
	config := s.pool.Config()
	config.MaxConns, config.MinConns = queueConnections, 0
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, nil, fmt.Errorf("connect the queue: %w", err)
	}
	return riverpgxv5.New(pool), pool.Close, nil
}

// enqueue inserts the job of a queued scan, which becomes visible with it; at is
// when it may begin, zero for at once.
func (s *Store) enqueue(ctx context.Context, tx pgx.Tx, scanID int64, at time.Time) error {
	const lookup = `SELECT f.worker FROM scan AS s JOIN filesystem AS f ON f.id = s.filesystem_id WHERE s.id = $1`
	worker, err := one(ctx, tx, pgx.RowTo[string], lookup, scanID)
	if err != nil {
		return fmt.Errorf("find the worker of scan %d: %w", scanID, err)
	}
	opts := &river.InsertOpts{Queue: ScanQueue(worker), MaxAttempts: 1, ScheduledAt: at}
	if _, err := s.queue.InsertTx(ctx, tx, ScanJob{ScanID: scanID}, opts); err != nil {
		return fmt.Errorf("put scan %d into the queue: %w", scanID, err)
	}
	return nil
}

// Sweep inserts jobs for queued scans that have none: their worker was killed
// between taking the job and the scan, their file system has another worker now, or
// they come from a backup, which holds no jobs. It returns for how many.
func (s *Store) Sweep(ctx context.Context) (n int, err error) {
	err = s.write(ctx, func(tx pgx.Tx) error {
		const orphans = `
			SELECT s.id
			FROM scan AS s
			JOIN filesystem AS f ON f.id = s.filesystem_id
			WHERE s.state = 'queued' AND COALESCE(s.not_before, '-infinity') <= clock_timestamp()
				AND NOT EXISTS (
					SELECT FROM river.river_job AS j
					WHERE j.kind = 'scan' AND j.state IN ('available', 'pending', 'retryable', 'scheduled')
						AND j.queue = CASE f.worker WHEN '' THEN 'scan' ELSE 'scan_' || f.worker END
						AND (j.args ->> 'scan_id')::bigint = s.id)
			ORDER BY s.id
			FOR KEY SHARE OF s SKIP LOCKED`
		ids, err := all(ctx, tx, pgx.RowTo[int64], orphans)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := s.enqueue(ctx, tx, id, time.Time{}); err != nil {
				return err
			}
		}
		n = len(ids)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("look for queued scans without a job: %w", err)
	}
	return n, nil
}

// QueueDepth counts the scans that wait and those that run.
func (s *Store) QueueDepth(ctx context.Context) (queued, running int64, err error) {
	const count = `
		SELECT count(*) FILTER (WHERE state = 'queued'), count(*) FILTER (WHERE state = 'running')
		FROM scan
		WHERE state IN ('queued', 'running')`
	err = s.read(ctx, func(tx pgx.Tx) error { return tx.QueryRow(ctx, count).Scan(&queued, &running) })
	if err != nil {
		return 0, 0, fmt.Errorf("count the queued scans: %w", err)
	}
	return queued, running, nil
}

// migrateQueue brings River's tables to the version of its library: each step is one
// transaction with its record, and several callers take turns.
func migrateQueue(ctx context.Context, url string, log *slog.Logger) error {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return err
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	setDefaults(config.ConnConfig.RuntimeParams, sessionSettings())
	config.MaxConns = 2 // one holds the lock
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer pool.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{
		Schema: QueueSchema, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	var exists bool
	if err := pool.QueryRow(ctx, `SELECT to_regnamespace($1) IS NOT NULL`, QueueSchema).Scan(&exists); err != nil {
		return err
	}
	if exists {
		if valid, err := migrator.Validate(ctx, nil); err != nil || valid.OK {
			return err
		}
	}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		const lock = `SELECT set_config('lock_timeout', '0', true), pg_advisory_xact_lock($1)`
		if _, err := tx.Exec(ctx, lock, int64(queueLock)); err != nil {
			return err
		}
		// On the other connection, as each step commits by itself.
		if _, err := pool.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS `+QueueSchema); err != nil {
			return err
		}
		done, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
		if err == nil && len(done.Versions) > 0 && log != nil {
			log.InfoContext(ctx, "migrated the queue", "version", done.Versions[len(done.Versions)-1].Version)
		}
		return err
	})
}
