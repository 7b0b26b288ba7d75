package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// lockKey is the second half of the key of the lock on a partition. Imports share
// it while they write into the partition; who drops the partition holds it alone.
// Neither ever waits for it.
func (p partition) lockKey() int32 {
	const tierSpan = 10_000_000 // days, far beyond the year 9999
	days := p.from.Unix() / (24 * 60 * 60)
	return int32(p.tier)*tierSpan + int32(days)
}

// holdPartition reports whether details of that tier and day can be stored, and if
// so keeps the partition until the transaction ends. They cannot where the
// partition is on its way out, or half gone since a run of ThinOut was interrupted:
// what is stored there now must be stored thinned, as what is there already is.
func holdPartition(ctx context.Context, tx pgx.Tx, t Tier, day time.Time) (bool, error) {
	p := partitionOf(t, day)
	held, err := one(ctx, tx, pgx.RowTo[bool],
		`SELECT pg_try_advisory_xact_lock_shared($1::integer, $2)`, partitionLocks, p.lockKey())
	if err != nil {
		return false, fmt.Errorf("hold the partition %s: %w", p.suffix, err)
	}
	if !held {
		return false, nil
	}
	tables, err := listPartitions(ctx, tx)
	if err != nil {
		return false, err
	}
	whole := 0
	for _, table := range tables[p.suffix] {
		if table.state == attached {
			whole++
		}
	}
	return whole == len(detailTables()), nil
}

// waitError is why a partition is left for the next run; the text is for the log.
type waitError string

func (e waitError) Error() string { return string(e) }

// olderTransactions are those that began before now, by virtual transaction id,
// which a transaction has from its beginning, before its snapshot, and shows to
// every role.
const olderTransactions = `
	SELECT l.virtualxid
	FROM pg_locks AS l
	JOIN pg_stat_activity AS a ON a.pid = l.pid
	WHERE l.locktype = 'virtualxid' AND l.granted AND a.pid <> pg_backend_pid()
		AND a.datid = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND a.usesysid IS NOT NULL -- autovacuum has none, and reads no details`

// awaitOlder waits until every transaction that began before it is over: only then
// does everybody know what was committed before. waitError after the deadline.
func awaitOlder(ctx context.Context, conn *pgx.Conn, deadline time.Time) error {
	older, err := all(ctx, conn, pgx.RowTo[string], olderTransactions)
	if err != nil {
		return fmt.Errorf("list the transactions of others: %w", err)
	}
	const count = `
		SELECT count(*) FROM pg_locks WHERE locktype = 'virtualxid' AND granted AND virtualxid = ANY ($1)`
	for pause := 5 * time.Millisecond; len(older) > 0; pause = min(2*pause, time.Second) {
		left, err := one(ctx, conn, pgx.RowTo[int64], count, older)
		if err != nil {
			return fmt.Errorf("wait for older transactions: %w", err)
		}
		if left == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return waitError("a transaction that may still read it has been open for long")
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// standsInTheWay reports whether err is that others hold a lock.
func standsInTheWay(err error) bool {
	const deadlockDetected = "40P01"
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == lockNotAvailable || pg.Code == deadlockDetected)
}

// tryLock reports whether a lock of the session was free, and takes it.
func tryLock(ctx context.Context, conn *pgx.Conn, key int64) (bool, error) {
	return one(ctx, conn, pgx.RowTo[bool], `SELECT pg_try_advisory_lock($1)`, key)
}

func unlock(ctx context.Context, conn *pgx.Conn, key int64) error {
	_, err := conn.Exec(ctx, `SELECT pg_advisory_unlock($1)`, key)
	return err
}
