package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"fstally/internal/usage"
)

// AcceptScan publishes a suspect scan because somebody has looked: it counts in
// the history from then on, and becomes the current scan if no newer one is
// published. What identity it has is that of the file system then. Its details are
// kept as long as those of any night.
//
// ErrNotSuspect: it is believed already, or has no result. ErrPart: it saw a part
// of the file system only, which never stands for the whole.
func (s *Store) AcceptScan(ctx context.Context, scope usage.Scope, scanID int64) (usage.Scan, error) {
	var accepted storedScan
	err := s.write(ctx, func(tx pgx.Tx) error {
		scan, err := scanByID(ctx, tx, scope, scanID)
		if err != nil {
			return err
		}
		const lock = `SELECT id FROM filesystem WHERE id = $1 FOR NO KEY UPDATE` // as imports do
		if _, err := one(ctx, tx, pgx.RowTo[int64], lock, scan.FileSystemID); err != nil {
			return err
		}
		if scan, err = scanByID(ctx, tx, scope, scanID); err != nil { // as it is now that it stays so
			return err
		}
		switch {
		case scan.State != usage.Complete || scan.Verdict != usage.Suspect:
			return ErrNotSuspect
		case slices.Contains(strings.Split(scan.suspicion, ","), "parts"):
			return ErrPart
		}
		verdict := usage.Clean
		if scan.Counters.Errors > 0 {
			verdict = usage.Partial
		}
		const publish = `
			UPDATE scan SET verdict = $2, rejected = false, suspicion = '', published_at = clock_timestamp(),
				reason = reason || ' It was looked at and accepted.'
			WHERE id = $1`
		if _, err := tx.Exec(ctx, publish, scanID, verdict); err != nil {
			if violates(err, "scan_occurrence_key") {
				return fmt.Errorf("another attempt was published first: %w", ErrEnded)
			}
			return err
		}
		if err := makeCurrent(ctx, tx, scan.Scan); err != nil {
			return err
		}
		accepted, err = scanByID(ctx, tx, scope, scanID)
		return err
	})
	if err != nil {
		return usage.Scan{}, fmt.Errorf("accept scan %d: %w", scanID, err)
	}
	return accepted.Scan, nil
}

// RejectScan records that somebody has looked at a suspect scan and does not believe
// it: it is no finding any more, and no later scan is believed because it found the
// same. It can still be accepted. ErrNotSuspect as in AcceptScan.
func (s *Store) RejectScan(ctx context.Context, scope usage.Scope, scanID int64) (usage.Scan, error) {
	const reject = `
		UPDATE scan SET rejected = true,
			reason = CASE WHEN rejected THEN reason ELSE reason || ' It was looked at and rejected.' END
		WHERE id = $1 AND state = 'complete' AND verdict = 'suspect'`
	var rejected storedScan
	err := s.write(ctx, func(tx pgx.Tx) error {
		if _, err := scanByID(ctx, tx, scope, scanID); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, reject, scanID)
		if err == nil && tag.RowsAffected() == 0 {
			err = ErrNotSuspect
		}
		if err == nil {
			rejected, err = scanByID(ctx, tx, scope, scanID)
		}
		return err
	})
	if err != nil {
		return usage.Scan{}, fmt.Errorf("reject scan %d: %w", scanID, err)
	}
	return rejected.Scan, nil
}

// makeCurrent lets the pages show a scan that was published, unless they show one
// that started later; one that started in the future, by a clock that was wrong, does
// not count.
func makeCurrent(ctx context.Context, tx pgx.Tx, scan usage.Scan) error {
	const turn = `
		UPDATE filesystem AS f SET current_scan_id = $2, fs_type = $4,
			identity = CASE WHEN $5 = ''::bytea THEN identity ELSE $5 END
		WHERE id = $1 AND NOT EXISTS (
			SELECT FROM scan AS s
			WHERE s.id = f.current_scan_id AND s.started_at > $3 AND s.started_at <= clock_timestamp())`
	_, err := tx.Exec(ctx, turn, scan.FileSystemID, scan.ID, scan.Started, scan.FSType, []byte(scan.Identity))
	return err
}
