package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"fstally/internal/usage"
)

const selectSchedule = `
	SELECT filesystem_id, plan, zone, enabled, catch_up_hours, next_run_at
	FROM schedule`

func readSchedule(row pgx.CollectableRow) (s usage.Schedule, err error) {
	var hours int64
	err = row.Scan(&s.FileSystemID, &s.Plan, &s.Zone, &s.Enabled, &hours, (*zeronull.Timestamptz)(&s.NextRun))
	s.CatchUp = time.Duration(hours) * time.Hour
	if !s.NextRun.IsZero() {
		s.NextRun = s.NextRun.UTC()
	}
	return s, err
}

// Schedules returns the schedules of the file systems in the scope, by file system.
func (s *Store) Schedules(ctx context.Context, scope usage.Scope) ([]usage.Schedule, error) {
	var seen []usage.Schedule
	err := s.read(ctx, func(tx pgx.Tx) error {
		list, err := all(ctx, tx, readSchedule, selectSchedule+` ORDER BY filesystem_id`)
		for _, found := range list {
			if scope.Sees(found.FileSystemID) {
				seen = append(seen, found)
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the schedules: %w", err)
	}
	return seen, nil
}

// SetSchedule gives a file system a schedule, in the place of the one that it has.
// Plan and zone are the caller's to check. NextRun is not taken: it is known after the
// next Dispatch, and what the old schedule missed is not made up for.
func (s *Store) SetSchedule(ctx context.Context, schedule usage.Schedule) error {
	const set = `
		INSERT INTO schedule (filesystem_id, plan, zone, enabled, catch_up_hours)
		SELECT id, $2, $3, $4, $5 FROM filesystem WHERE id = $1
		ON CONFLICT (filesystem_id) DO UPDATE SET plan = $2, zone = $3, enabled = $4, catch_up_hours = $5,
			next_run_at = NULL, looked_at = NULL`
	tag, err := s.pool.Exec(ctx, set, schedule.FileSystemID, printable(schedule.Plan), printable(schedule.Zone),
		schedule.Enabled, int64(schedule.CatchUp/time.Hour))
	if err == nil && tag.RowsAffected() == 0 {
		err = usage.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("set the schedule of file system %d: %w", schedule.FileSystemID, explainUnavailable(err))
	}
	return nil
}

// RemoveSchedule takes the schedule of a file system away; usage.ErrNotFound where it
// has none.
func (s *Store) RemoveSchedule(ctx context.Context, fileSystemID int64) error {
	tag, err := s.pool.Exec(ctx, `DELETE FROM schedule WHERE filesystem_id = $1`, fileSystemID)
	if err == nil && tag.RowsAffected() == 0 {
		err = usage.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("remove the schedule of file system %d: %w", fileSystemID, explainUnavailable(err))
	}
	return nil
}

// Look is what package schedule does: it tells what is due of a schedule, whose NextRun
// is what the last look found.
type Look func(schedule usage.Schedule, now time.Time) (usage.Due, error)

// clockTolerance is how far the clock may be behind the last look before it counts as
// set back.
const clockTolerance = time.Minute

// Dispatch turns what is due into queued scans: each schedule in a transaction of its
// own that locks it, so that of several callers one does. now is the database's clock
// if zero. An occurrence becomes one scan at most, whatever clocks do; where a scan is
// queued or runs already, or nobody was there in time, a row in state usage.NotRun
// records why there is none. It returns the new rows. A schedule that fails does not
// stop the others.
func (s *Store) Dispatch(ctx context.Context, now time.Time, look Look) (made []usage.Scan, err error) {
	if now.IsZero() {
		if now, err = one(ctx, s.pool, pgx.RowTo[time.Time], `SELECT clock_timestamp()`); err != nil {
			return nil, fmt.Errorf("look for due scans: %w", explainUnavailable(err))
		}
	}
	const due = `
		SELECT filesystem_id
		FROM schedule
		WHERE enabled AND (next_run_at IS NULL OR next_run_at <= $1 OR looked_at > $2)
		ORDER BY next_run_at, filesystem_id`
	ids, err := all(ctx, s.pool, pgx.RowTo[int64], due, now, now.Add(clockTolerance))
	if err != nil {
		return nil, fmt.Errorf("look for due scans: %w", explainUnavailable(err))
	}
	var failures []error
	for _, id := range ids {
		scans, err := s.dispatch(ctx, id, now, look)
		if err != nil {
			failures = append(failures, fmt.Errorf("look at the schedule of file system %d: %w", id, err))
		}
		made = append(made, scans...)
	}
	return made, errors.Join(failures...)
}

func (s *Store) dispatch(
	ctx context.Context, fileSystemID int64, now time.Time, look Look,
) (made []usage.Scan, err error) {
	err = s.write(ctx, func(tx pgx.Tx) error {
		made = nil
		const lock = selectSchedule + `
			WHERE filesystem_id = $1 AND enabled AND (next_run_at IS NULL OR next_run_at <= $2 OR looked_at > $3)
			FOR NO KEY UPDATE SKIP LOCKED`
		schedule, err := one(ctx, tx, readSchedule, lock, fileSystemID, now, now.Add(clockTolerance))
		if errors.Is(err, usage.ErrNotFound) { // somebody else has it, or had it
			return nil
		}
		if err != nil {
			return err
		}
		due, err := look(schedule, now)
		if err != nil {
			return err
		}
		if due.Missed > 0 {
			scan, err := recordNotRun(ctx, tx, fileSystemID, due.LastMissed, missedReason(due))
			if err != nil {
				return err
			}
			made = append(made, scan...)
		}
		if !due.Run.IsZero() {
			scan, err := s.runDue(ctx, tx, fileSystemID, due.Run)
			if err != nil {
				return err
			}
			made = append(made, scan...)
		}
		const advance = `UPDATE schedule SET next_run_at = $2, looked_at = $3 WHERE filesystem_id = $1`
		_, err = tx.Exec(ctx, advance, fileSystemID, zeronull.Timestamptz(due.Next), now)
		return err
	})
	return made, err
}

// runDue queues the scan of an occurrence, or records why not. Nothing comes back for
// an occurrence that had its turn: the clock was set back over it.
func (s *Store) runDue(ctx context.Context, tx pgx.Tx, fileSystemID int64, occurrence time.Time) ([]usage.Scan, error) {
	var id int64
	for { // the scan in the way may end before it is looked up: then there is room
		var err error
		id, err = one(ctx, tx, pgx.RowTo[int64], insertQueued, fileSystemID, usage.BySchedule, occurrence)
		if err == nil {
			break
		}
		if !errors.Is(err, usage.ErrNotFound) {
			return nil, err
		}
		const lookup = `SELECT id FROM scan WHERE filesystem_id = $1 AND occurrence = $2 AND attempt = 1`
		if _, err := one(ctx, tx, pgx.RowTo[int64], lookup, fileSystemID, occurrence); !errors.Is(err, usage.ErrNotFound) {
			return nil, err // nil: it had its turn
		}
		err = busy(ctx, tx, fileSystemID)
		if inTheWay, ok := errors.AsType[*BusyError](err); ok {
			reason := fmt.Sprintf("Scan %d was not over yet.", inTheWay.ScanID)
			return recordNotRun(ctx, tx, fileSystemID, occurrence, reason)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := s.enqueue(ctx, tx, id, time.Time{}); err != nil {
		return nil, err
	}
	scan, err := scanOf(ctx, tx, id)
	return []usage.Scan{scan}, err
}

// recordNotRun records that an occurrence became no scan; nothing comes back where it
// had its turn.
func recordNotRun(
	ctx context.Context, tx pgx.Tx, fileSystemID int64, occurrence time.Time, reason string,
) ([]usage.Scan, error) {
	const insert = `
		INSERT INTO scan (filesystem_id, state, origin, occurrence, finished_at, reason, root, size_classes)
		SELECT id, 'skipped', 'schedule', $2, clock_timestamp(), $3, root, size_classes FROM filesystem WHERE id = $1
		ON CONFLICT DO NOTHING
		RETURNING id`
	id, err := one(ctx, tx, pgx.RowTo[int64], insert, fileSystemID, occurrence, reason)
	if errors.Is(err, usage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("record that there was no scan: %w", err)
	}
	scan, err := scanOf(ctx, tx, id)
	return []usage.Scan{scan}, err
}

func missedReason(due usage.Due) string {
	if due.Missed == 1 {
		return "fstally was not running when this scan was due."
	}
	return fmt.Sprintf("fstally was not running when this scan and %d before it were due.", due.Missed-1)
}
