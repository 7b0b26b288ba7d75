package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fstally/internal/usage"
)

// leaseTime is how long a running scan may be silent before it counts as
// interrupted.
const leaseTime = 2 * time.Minute

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

const insertQueued = `
	INSERT INTO scan (filesystem_id, state, root, size_classes)
	SELECT id, 'queued', root, size_classes FROM filesystem WHERE id = $1
	RETURNING id`

// QueueScan asks for a scan of a file system. A BusyError says which scan is
// queued or running already.
func (s *Store) QueueScan(ctx context.Context, fileSystemID int64) (usage.Scan, error) {
	// The scan in the way may end before it is looked up: then there is room.
	for {
		id, err := one(ctx, s.pool, pgx.RowTo[int64], insertQueued, fileSystemID)
		if violates(err, "scan_active_key") {
			err = busy(ctx, s.pool, fileSystemID)
			if err == nil {
				continue
			}
		}
		if err != nil {
			return usage.Scan{}, fmt.Errorf("queue a scan of file system %d: %w", fileSystemID, err)
		}
		return s.Scan(ctx, usage.Everything(), id)
	}
}

// ClaimScan makes the owner run the scan that is queued longest; ok is false
// when none is. Several callers get several scans.
func (s *Store) ClaimScan(ctx context.Context, owner string) (scan usage.Scan, ok bool, err error) {
	err = s.write(ctx, func(tx pgx.Tx) (err error) {
		const next = `SELECT id FROM scan WHERE state = 'queued' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`
		id, err := one(ctx, tx, pgx.RowTo[int64], next)
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
		id, err := one(ctx, tx, pgx.RowTo[int64], insertQueued, fileSystemID)
		if err == nil {
			scan, err = s.claim(ctx, tx, id, owner)
		}
		return err
	})
	if violates(err, "scan_active_key") {
		if inTheWay := busy(ctx, s.pool, fileSystemID); inTheWay != nil {
			err = inTheWay
		}
	}
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
	claimed, err := scanByID(ctx, tx, usage.Everything(), id)
	return claimed.Scan, err
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
// state but complete. ErrLeaseLost as in Heartbeat.
func (s *Store) EndScan(ctx context.Context, scanID int64, owner string, state usage.ScanState, reason string) error {
	if !state.Ended() || state == usage.Complete {
		return fmt.Errorf("end scan %d: %q is not how a scan without a result ends", scanID, state)
	}
	const end = `
		UPDATE scan SET state = $3, reason = $4, owner = NULL, finished_at = clock_timestamp()
		WHERE id = $1 AND owner = $2 AND state = 'running'`
	tag, err := s.pool.Exec(ctx, end, scanID, owner, state, printable(reason))
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrLeaseLost
	}
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
	Expired bool // silent for longer than leaseTime, all of which the database was up
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
	return now.Sub(heartbeat) > leaseTime && now.Sub(up) > leaseTime
}

// InterruptScan marks a scan as interrupted if that owner still holds it; a
// result that its process left behind may yet complete it.
func (s *Store) InterruptScan(ctx context.Context, scanID int64, owner string) error {
	const interrupt = `
		UPDATE scan SET state = 'interrupted', owner = NULL, finished_at = heartbeat_at,
			reason = 'the process that ran the scan went away'
		WHERE id = $1 AND owner = $2 AND state = 'running'`
	if _, err := s.pool.Exec(ctx, interrupt, scanID, owner); err != nil {
		return fmt.Errorf("mark scan %d as interrupted: %w", scanID, err)
	}
	return nil
}
