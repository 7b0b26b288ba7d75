package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fstally/internal/usage"
)

// LeaseTime is how long a running scan may be silent before it counts as
// interrupted.
const LeaseTime = 2 * time.Minute

// busy returns a BusyError when a scan of the file system is queued or runs.
func busy(ctx context.Context, q querier, fileSystemID int64) error {
	id, err := one(ctx, q, pgx.RowTo[int64],
		`SELECT id FROM scan WHERE filesystem_id = $1 AND state IN ('queued', 'running')`, fileSystemID)
	switch {
	case errors.Is(err, usage.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return &BusyError{ScanID: id}
}

// insertQueued makes the row of a first attempt; $2 is its origin, $3 the
// occurrence, null for one that is due now. Nothing comes back where a scan of the
// file system is queued or running already, or the occurrence had its turn.
const insertQueued = `
	INSERT INTO scan (filesystem_id, state, origin, occurrence, root, size_classes)
	SELECT id, 'queued', $2, COALESCE($3, clock_timestamp()), root, size_classes FROM filesystem WHERE id = $1
	ON CONFLICT DO NOTHING
	RETURNING id`

// QueueScan asks for a scan of a file system. A BusyError says which scan is
// queued or running already.
func (s *Store) QueueScan(ctx context.Context, fileSystemID int64) (scan usage.Scan, err error) {
	err = s.write(ctx, func(tx pgx.Tx) error {
		id, err := queueNow(ctx, tx, fileSystemID, usage.ByHand)
		if err == nil {
			err = s.enqueue(ctx, tx, id, time.Time{})
		}
		if err == nil {
			scan, err = scanOf(ctx, tx, id)
		}
		return err
	})
	if err != nil {
		return usage.Scan{}, fmt.Errorf("queue a scan of file system %d: %w", fileSystemID, err)
	}
	return scan, nil
}

// queueNow makes the row of a scan that is due now.
func queueNow(ctx context.Context, tx pgx.Tx, fileSystemID int64, origin usage.Origin) (id int64, err error) {
	// The scan in the way may end before it is looked up: then there is room.
	for {
		id, err = one(ctx, tx, pgx.RowTo[int64], insertQueued, fileSystemID, origin, nil)
		if !errors.Is(err, usage.ErrNotFound) {
			return id, err
		}
		if err := busy(ctx, tx, fileSystemID); err != nil {
			return 0, err
		}
		const lookup = `SELECT id FROM filesystem WHERE id = $1`
		if _, err := one(ctx, tx, pgx.RowTo[int64], lookup, fileSystemID); err != nil {
			return 0, err
		}
	}
}

// scanOf returns a scan within a transaction.
func scanOf(ctx context.Context, tx pgx.Tx, id int64) (usage.Scan, error) {
	found, err := scanByID(ctx, tx, usage.Everything(), id)
	return found.Scan, err
}

// ClaimScan makes the owner run the scan that has waited longest of those of a
// worker's file systems, "" for fstally serve; ok is false when none does. Several
// callers get several scans.
func (s *Store) ClaimScan(ctx context.Context, owner, worker string) (scan usage.Scan, ok bool, err error) {
	err = s.write(ctx, func(tx pgx.Tx) (err error) {
		const next = `
			SELECT s.id
			FROM scan AS s
			JOIN filesystem AS f ON f.id = s.filesystem_id
			WHERE s.state = 'queued' AND f.worker = $1 AND COALESCE(s.not_before, '-infinity') <= clock_timestamp()
			ORDER BY COALESCE(s.not_before, s.queued_at), s.id
			LIMIT 1
			FOR NO KEY UPDATE OF s SKIP LOCKED`
		id, err := one(ctx, tx, pgx.RowTo[int64], next, worker)
		if err == nil {
			scan, err = s.claim(ctx, tx, id, owner)
		}
		return err
	})
	switch {
	case errors.Is(err, usage.ErrNotFound):
		return usage.Scan{}, false, nil
	case err != nil:
		return usage.Scan{}, false, fmt.Errorf("claim a queued scan: %w", err)
	}
	return scan, true, nil
}

// StartScan makes the owner run a new scan of a file system at once. A BusyError
// says which scan is queued or running already.
func (s *Store) StartScan(ctx context.Context, fileSystemID int64, owner string) (scan usage.Scan, err error) {
	err = s.write(ctx, func(tx pgx.Tx) error {
		id, err := queueNow(ctx, tx, fileSystemID, usage.ByCommand)
		if err == nil {
			scan, err = s.claim(ctx, tx, id, owner)
		}
		return err
	})
	if err != nil {
		return usage.Scan{}, fmt.Errorf("start a scan of file system %d: %w", fileSystemID, err)
	}
	return scan, nil
}

// claim makes the owner run a queued scan.
func (s *Store) claim(ctx context.Context, tx pgx.Tx, id int64, owner string) (usage.Scan, error) {
	const run = `
		UPDATE scan SET state = 'running', owner = $2, started_at = clock_timestamp(), heartbeat_at = clock_timestamp()
		WHERE id = $1
		RETURNING started_at`
	started, err := one(ctx, tx, pgx.RowTo[time.Time], run, id, owner)
	if err != nil {
		return usage.Scan{}, err
	}
	if _, err := tx.Exec(ctx, `UPDATE scan SET day = $2 WHERE id = $1`, id, s.day(started)); err != nil {
		return usage.Scan{}, err
	}
	return scanOf(ctx, tx, id)
}

// Heartbeat renews the owner's lease and shows its progress. cancelled tells the
// owner to stop. ErrLeaseLost: the scan ended or has another owner; what the
// owner still does to it is in vain.
func (s *Store) Heartbeat(
	ctx context.Context, scanID int64, owner string, p usage.Progress,
) (cancelled bool, err error) {
	const renew = `
		UPDATE scan SET heartbeat_at = clock_timestamp(), progress = $3
		WHERE id = $1 AND owner = $2 AND state = 'running'
		RETURNING cancel_requested`
	cancelled, err = one(ctx, s.pool, pgx.RowTo[bool], renew, scanID, owner, p)
	if errors.Is(err, usage.ErrNotFound) {
		err = ErrLeaseLost
	}
	if err != nil {
		return false, fmt.Errorf("renew the lease of scan %d: %w", scanID, err)
	}
	return cancelled, nil
}

// EndScan ends a scan that its owner runs and that has no result, in any ended
// state but complete; one that is interrupted is queued again, as InterruptScan says.
// ErrLeaseLost as in Heartbeat.
func (s *Store) EndScan(ctx context.Context, scanID int64, owner string, state usage.ScanState, reason string) error {
	if !state.Ended() || state == usage.Complete {
		return fmt.Errorf("end scan %d: %q is not how a scan without a result ends", scanID, state)
	}
	const end = `
		UPDATE scan SET state = $3, reason = $4, owner = NULL, finished_at = GREATEST(clock_timestamp(), started_at)
		WHERE id = $1 AND owner = $2 AND state = 'running'`
	err := s.write(ctx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, end, scanID, owner, state, printable(reason))
		if err == nil && tag.RowsAffected() == 0 {
			err = ErrLeaseLost
		}
		if err == nil && state == usage.Interrupted {
			err = s.queueAgain(ctx, tx, scanID)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("end scan %d: %w", scanID, err)
	}
	return nil
}

// CancelScan ends a queued scan at once and asks the owner of a running one to
// stop, which shows at its next Heartbeat. ErrEnded: there is nothing to stop.
func (s *Store) CancelScan(ctx context.Context, scope usage.Scope, scanID int64) (usage.Scan, error) {
	const cancel = `
		UPDATE scan SET cancel_requested = true,
			state = CASE state WHEN 'queued' THEN 'cancelled' ELSE state END,
			finished_at = CASE state WHEN 'queued' THEN clock_timestamp() ELSE finished_at END
		WHERE id = $1 AND state IN ('queued', 'running')`
	var scan storedScan
	err := s.write(ctx, func(tx pgx.Tx) error {
		if _, err := scanByID(ctx, tx, scope, scanID); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, cancel, scanID)
		if err == nil && tag.RowsAffected() == 0 {
			err = ErrEnded
		}
		if err != nil {
			return fmt.Errorf("cancel scan %d: %w", scanID, err)
		}
		scan, err = scanByID(ctx, tx, scope, scanID)
		return err
	})
	return scan.Scan, err
}

// Lease says who runs a scan.
type Lease struct {
	ScanID  int64
	Owner   string
	Expired bool // silent for longer than LeaseTime, all of which the database was up
}

// RunningScans returns the leases of all running scans.
func (s *Store) RunningScans(ctx context.Context) ([]Lease, error) {
	const list = `
		SELECT id, owner, heartbeat_at, clock_timestamp(), pg_postmaster_start_time()
		FROM scan
		WHERE state = 'running'
		ORDER BY id`
	leases, err := all(ctx, s.pool, func(row pgx.CollectableRow) (l Lease, err error) {
		var heartbeat, now, up time.Time
		err = row.Scan(&l.ScanID, &l.Owner, &heartbeat, &now, &up)
		l.Expired = leaseExpired(heartbeat, now, up)
		return l, err
	}, list)
	if err != nil {
		return nil, fmt.Errorf("list the running scans: %w", err)
	}
	return leases, nil
}

// leaseExpired applies the rule of Lease.Expired; all times are the database's.
func leaseExpired(heartbeat, now, up time.Time) bool {
	return now.Sub(heartbeat) > LeaseTime && now.Sub(up) > LeaseTime
}

// InterruptScan marks a scan as interrupted if that owner still holds it, or as
// cancelled if somebody asked for its end; a result that its process left behind may
// yet complete it. Unless it was the last attempt, another one is queued.
func (s *Store) InterruptScan(ctx context.Context, scanID int64, owner string) error {
	const interrupt = `
		UPDATE scan SET owner = NULL, finished_at = GREATEST(heartbeat_at, started_at),
			state = CASE WHEN cancel_requested THEN 'cancelled' ELSE 'interrupted' END,
			reason = 'the process that ran the scan went away'
		WHERE id = $1 AND owner = $2 AND state = 'running'
		RETURNING state`
	err := s.write(ctx, func(tx pgx.Tx) error {
		state, err := one(ctx, tx, pgx.RowTo[usage.ScanState], interrupt, scanID, owner)
		switch {
		case errors.Is(err, usage.ErrNotFound): // it ended, or somebody else was faster
			return nil
		case err == nil && state == usage.Interrupted:
			return s.queueAgain(ctx, tx, scanID)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("mark scan %d as interrupted: %w", scanID, err)
	}
	return nil
}

// queueAgain queues the next attempt of a scan that was interrupted, a little later
// each time, unless it was the last one, its owner decides that itself, somebody asked
// for its end, or an attempt was published.
func (s *Store) queueAgain(ctx context.Context, tx pgx.Tx, scanID int64) error {
	const insert = `
		INSERT INTO scan (filesystem_id, state, origin, occurrence, attempt, not_before, root, size_classes)
		SELECT s.filesystem_id, 'queued', s.origin, s.occurrence, s.attempt + 1,
			clock_timestamp() + s.attempt * $2::interval, f.root, f.size_classes
		FROM scan AS s
		JOIN filesystem AS f ON f.id = s.filesystem_id
		WHERE s.id = $1 AND s.origin = ANY ($3) AND s.attempt < $4 AND NOT s.cancel_requested
			AND NOT EXISTS (SELECT FROM scan AS p
				WHERE p.filesystem_id = s.filesystem_id AND p.occurrence = s.occurrence AND p.published_at IS NOT NULL)
		ON CONFLICT DO NOTHING
		RETURNING id, not_before`
	var id int64
	var notBefore time.Time
	retried := []usage.Origin{usage.BySchedule, usage.ByHand}
	err := tx.QueryRow(ctx, insert, scanID, s.retryAfter, retried, s.attempts).Scan(&id, &notBefore)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("queue another attempt: %w", err)
	}
	return s.enqueue(ctx, tx, id, notBefore)
}
