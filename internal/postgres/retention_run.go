package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Thinned is what a run of ThinOut did.
type Thinned struct {
	Partitions int   // that are gone: weeks of nights, months of weeks, years of months
	Scans      int64 // whose details went
	Bytes      int64 // of disk, with indexes
	// Postponed is how many partitions are left for the next run, and Why the
	// reason, "" where none is.
	Postponed int
	Why       string
}

// thinning is one run. Its connection is its own, and its session holds the locks:
// when the program dies, they are free.
type thinning struct {
	conn *pgx.Conn
	log  *slog.Logger
	thinningLimits
	thinned Thinned
}

// thinningLimits bound how long others are waited for, and wait.
type thinningLimits struct {
	// deadline ends the waits for older transactions, of the whole run.
	deadline time.Time
	// lockTimeout bounds each wait for a lock on a table. Who wants the same table
	// waits behind it.
	lockTimeout time.Duration
	// attempts are made to get such a lock.
	attempts int
	// concurrently: the server has DETACH ... CONCURRENTLY, under which nobody waits.
	concurrently bool
}

const (
	// thinningWait is how long a run waits for older transactions; those of pages
	// end within a minute (beginRead), those of imports last for minutes.
	thinningWait = 10 * time.Minute
	// detachLockTimeout is longer than the second after which autovacuum gives way
	// (deadlock_timeout). Nobody but imports that make partitions, and those wait
	// longer, waits behind it.
	detachLockTimeout = 5 * time.Second
	detachAttempts    = 20
	// Before Postgres 14 all readers of details wait behind a DETACH that waits.
	blockingLockTimeout = 100 * time.Millisecond
	blockingAttempts    = 200
)

// ThinOut drops the details of scans that are past the days of [Store.Retention] on
// the date of today in the site's zone: by whole partitions, one after the other,
// the oldest first. It can be stopped at any point, and goes on in its next run. One
// runs at a time: others return at once.
//
// A reader either has all details of a scan or is told that they are not kept
// (usage.ErrThinned). So the scans are marked first, then everybody who may not know
// of that is waited for, and only then the tables go: detached without stopping
// readers or imports, and dropped.
func (s *Store) ThinOut(ctx context.Context, today time.Time) (Thinned, error) {
	return s.thinOut(ctx, today, func(*thinningLimits) {})
}

func (s *Store) thinOut(ctx context.Context, today time.Time, adjust func(*thinningLimits)) (Thinned, error) {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return Thinned{}, fmt.Errorf("thin out old scans: %w", explainUnavailable(err))
	}
	conn := pooled.Hijack()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectTimeout)
		defer cancel()
		_ = conn.Close(ctx) // it has been told what to do, and the outcome is known
	}()
	t := thinning{conn: conn, log: s.log}
	var version int
	err = conn.QueryRow(ctx, `SELECT current_setting('server_version_num')::integer`).Scan(&version)
	if err == nil {
		t.thinningLimits = limitsFor(version)
		adjust(&t.thinningLimits)
		err = t.run(ctx, dateOf(today, s.location))
	}
	if err == nil { // at once: the end of a connection takes the server a moment
		_, err = conn.Exec(ctx, `SELECT pg_advisory_unlock_all()`)
	}
	if err != nil {
		return t.thinned, fmt.Errorf("thin out old scans: %w", explainUnavailable(err))
	}
	return t.thinned, nil
}

func limitsFor(serverVersion int) thinningLimits {
	l := thinningLimits{
		deadline: time.Now().Add(thinningWait), lockTimeout: detachLockTimeout, attempts: detachAttempts, concurrently: true,
	}
	if serverVersion < 140000 {
		l.lockTimeout, l.attempts, l.concurrently = blockingLockTimeout, blockingAttempts, false
	}
	return l
}

func (t *thinning) run(ctx context.Context, today time.Time) error {
	const settings = `SELECT set_config('statement_timeout', '0', false), set_config('lock_timeout', $1, false)`
	if _, err := t.conn.Exec(ctx, settings, fmt.Sprint(t.lockTimeout.Milliseconds())); err != nil {
		return err
	}
	free, err := tryLock(ctx, t.conn, thinningLock)
	if err != nil {
		return err
	}
	if !free {
		t.thinned.Why = "another run is at it"
		return nil
	}
	retention, err := readRetention(ctx, t.conn)
	if err != nil {
		return err
	}
	found, err := listPartitions(ctx, t.conn)
	if err != nil {
		return err
	}
	due := slices.DeleteFunc(slices.Collect(maps.Keys(found)), func(suffix string) bool {
		tables := found[suffix]
		return !tables[0].past(retention, today) && !leftOver(tables)
	})
	slices.SortFunc(due, func(a, b string) int {
		return cmp.Or(found[a][0].to.Compare(found[b][0].to), cmp.Compare(a, b))
	})
	for i, suffix := range due {
		p := found[suffix][0].partition
		err := t.dropPartition(ctx, p, p.past(retention, today), found[suffix])
		if wait := waitError(""); errors.As(err, &wait) { // as would the others
			t.thinned.Postponed, t.thinned.Why = t.thinned.Postponed+len(due)-i, wait.Error()
			t.log.WarnContext(ctx, "old details wait for the next run",
				"partition", suffix, "why", wait.Error(), "partitions", t.thinned.Postponed)
			return nil
		}
		if err != nil {
			return fmt.Errorf("partition %s: %w", suffix, err)
		}
	}
	return nil
}

// dropPartition drops a partition of all tables, unless it is pinned or written to.
// One that is not past its days is finished only if a run before has begun.
func (t *thinning) dropPartition(ctx context.Context, p partition, past bool, tables []foundPartition) error {
	if err := t.betweenBackups(ctx, func() error { return nil }); err != nil {
		return err
	}
	free, err := one(ctx, t.conn, pgx.RowTo[bool],
		`SELECT pg_try_advisory_lock($1::integer, $2)`, partitionLocks, p.lockKey())
	if err != nil {
		return err
	}
	if !free { // an import; there is no hurry
		t.thinned.Postponed++
		t.thinned.Why = "an import writes into it"
		return nil
	}
	marked, scans, err := t.mark(ctx, p, past)
	if err == nil && marked {
		err = t.dropTables(ctx, tables)
		t.thinned.Scans += scans
		if err == nil {
			t.thinned.Partitions++
			t.log.InfoContext(ctx, "dropped old details", "partition", p.suffix, "scans", scans)
		}
	}
	if err != nil && !errors.As(err, new(waitError)) {
		return err // the session ends, and its locks with it
	}
	_, unlocked := t.conn.Exec(ctx, `SELECT pg_advisory_unlock($1::integer, $2)`, partitionLocks, p.lockKey())
	return errors.Join(err, unlocked)
}

// mark marks the scans of a partition as thinned, and returns whether all of them
// now are, and how many were not. None is marked where a file system shows one of
// them, or where the partition is not past its days.
func (t *thinning) mark(ctx context.Context, p partition, past bool) (all bool, scans int64, err error) {
	const within = `tier = $1 AND day >= $2 AND day < $3 AND state = 'complete' AND NOT thinned`
	args := []any{int16(p.tier), p.from, p.to}
	const pinnedOrLeft = `
		SELECT count(*) FILTER (WHERE id IN (SELECT current_scan_id FROM filesystem)), count(*)
		FROM scan WHERE ` + within
	err = pgx.BeginFunc(ctx, t.conn, func(tx pgx.Tx) error {
		var pinned, left int64
		if err := tx.QueryRow(ctx, pinnedOrLeft, args...).Scan(&pinned, &left); err != nil {
			return err
		}
		if pinned > 0 || !past && left > 0 {
			return nil
		}
		tag, err := tx.Exec(ctx, `UPDATE scan SET thinned = true WHERE `+within, args...)
		all, scans = true, tag.RowsAffected()
		return err
	})
	if err != nil {
		return false, 0, fmt.Errorf("mark its scans: %w", err)
	}
	return all, scans, nil
}

func (t *thinning) dropTables(ctx context.Context, tables []foundPartition) error {
	if err := awaitOlder(ctx, t.conn, t.deadline); err != nil {
		return err
	}
	for _, table := range tables {
		if err := t.dropTable(ctx, table); err != nil {
			return fmt.Errorf("%s: %w", table.table, err)
		}
	}
	return nil
}

// dropTable detaches and drops the partition of one table, from whatever state a
// run before has left it in.
func (t *thinning) dropTable(ctx context.Context, table foundPartition) error {
	for attempt := 1; ; attempt++ {
		err := t.betweenBackups(ctx, func() error { return t.dropStepwise(ctx, table) })
		if err == nil || !standsInTheWay(err) {
			return err
		}
		if attempt == t.attempts {
			return waitError("others use its tables without a break")
		}
		if !t.concurrently { // readers have waited behind: let them pass
			if err := sleep(ctx, 10*t.lockTimeout); err != nil {
				return err
			}
		}
		if err := awaitOlder(ctx, t.conn, t.deadline); err != nil {
			return err
		}
	}
}

func (t *thinning) dropStepwise(ctx context.Context, table foundPartition) error {
	for {
		found, err := listPartitions(ctx, t.conn)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(found[table.suffix], func(f foundPartition) bool { return f.table == table.table })
		if i < 0 {
			return nil
		}
		next := found[table.suffix][i]
		if err := t.step(ctx, next); err != nil || next.state == detached {
			return err // an import may make it anew, which is then the next run's
		}
	}
}

// step brings a partition one state further. DETACH ... CONCURRENTLY is two
// transactions; broken off between them, it is pending, and no longer read.
func (t *thinning) step(ctx context.Context, table foundPartition) error {
	parent, name := pgx.Identifier{table.table}.Sanitize(), pgx.Identifier{table.name()}.Sanitize()
	var sql string
	switch table.state {
	case detached:
		bytes, err := one(ctx, t.conn, pgx.RowTo[int64], `SELECT pg_total_relation_size($1::text::regclass)`, name)
		if err != nil {
			return err
		}
		if _, err = t.conn.Exec(ctx, "DROP TABLE "+name); err == nil {
			t.thinned.Bytes += bytes
		}
		return err
	case pending:
		sql = "ALTER TABLE " + parent + " DETACH PARTITION " + name + " FINALIZE"
	default:
		sql = "ALTER TABLE " + parent + " DETACH PARTITION " + name
		if t.concurrently {
			sql += " CONCURRENTLY"
		}
	}
	_, err := t.conn.Exec(ctx, sql)
	return err
}

// betweenBackups runs do while no backup is made; waitError where one is.
func (t *thinning) betweenBackups(ctx context.Context, do func() error) error {
	free, err := tryLock(ctx, t.conn, droppingLock)
	if err != nil {
		return err
	}
	if !free {
		return waitError("a backup is being made")
	}
	return errors.Join(do(), unlock(ctx, t.conn, droppingLock))
}

// partitionState is where a partition stands between attached and gone.
type partitionState int

const (
	attached partitionState = iota
	pending                 // DETACH ... CONCURRENTLY was broken off
	detached
)

type foundPartition struct {
	tablePartition
	state partitionState
}

func leftOver(tables []foundPartition) bool {
	return slices.ContainsFunc(tables, func(t foundPartition) bool { return t.state != attached })
}

// partitionStates lists what has a name like that of a partition. The column
// inhdetachpending is there since Postgres 14.
const partitionStates = `
	SELECT c.relname::text,
		CASE WHEN i.inhrelid IS NULL THEN 2 WHEN (to_jsonb(i) ->> 'inhdetachpending')::boolean THEN 1 ELSE 0 END
	FROM pg_class AS c
	LEFT JOIN pg_inherits AS i ON i.inhrelid = c.oid
	WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
		AND (i.inhparent IS NULL OR i.inhparent = ANY ($1::text[]::regclass[]))`

// listPartitions returns the partitions of all tables, by suffix, each in the order
// of detailTables.
func listPartitions(ctx context.Context, q querier) (map[string][]foundPartition, error) {
	type row struct {
		Name  string
		State partitionState
	}
	rows, err := all(ctx, q, pgx.RowToStructByPos[row], partitionStates, detailTables())
	if err != nil {
		return nil, fmt.Errorf("list the partitions: %w", err)
	}
	found := make(map[string][]foundPartition)
	for _, table := range detailTables() {
		for _, r := range rows {
			suffix, ok := strings.CutPrefix(r.Name, table+"_")
			if !ok {
				continue
			}
			if p, ok := parsePartition(suffix); ok {
				found[suffix] = append(found[suffix], foundPartition{tablePartition{p, table}, r.State})
			}
		}
	}
	return found, nil
}

// halfGone names the tables that ThinOut has detached and not yet dropped, so that a
// backup does not carry them. One that somebody detached to keep it has scans that
// are not marked, but it is no part of the store any more either.
func halfGone(found map[string][]foundPartition) []string {
	names := []string{}
	for _, tables := range found {
		for _, t := range tables {
			if t.state != attached {
				names = append(names, t.name())
			}
		}
	}
	return names
}

// parsePartition returns the partition of a suffix, if it is one that partitionOf
// makes.
func parsePartition(suffix string) (partition, bool) {
	var t Tier
	var year, n int
	var day time.Time
	date := func(m time.Month, d int) time.Time { return time.Date(year, m, d, 0, 0, 0, 0, time.UTC) }
	if _, err := fmt.Sscanf(suffix, "nightly_%04dw%02d", &year, &n); err == nil {
		t, day = Nightly, date(time.January, 4+7*(n-1)) // January 4 is in the first ISO week
	} else if _, err := fmt.Sscanf(suffix, "weekly_%04dm%02d", &year, &n); err == nil {
		t, day = Weekly, date(time.Month(n), 1)
	} else if _, err := fmt.Sscanf(suffix, "monthly_%04d", &year); err == nil {
		t, day = Monthly, date(time.January, 1)
	}
	p := partitionOf(t, day)
	return p, p.suffix == suffix
}
