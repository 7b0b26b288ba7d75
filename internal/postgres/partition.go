package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// Tier says how long the details of a scan are kept; a later one is longer. The
// numbers are stored.
type Tier int16

// The tiers.
const (
	Nightly Tier = iota
	Weekly       // the first published scan of its ISO week
	Monthly      // the first published scan of its calendar month
)

// detailTables are the partitioned ones.
func detailTables() []string {
	return []string{"usage", "size_histogram", "age_histogram", "directory"}
}

// A partition holds what retention drops at once: the nights of an ISO week, the
// weekly ones of a month, the monthly ones of a year.
type partition struct {
	suffix   string // of the table's name, nightly_2026w05
	tier     Tier
	from, to time.Time // dates: from the first, up to and without the second
}

// partitionOf returns the partition of a scan of that tier on that day, of
// which only the date counts.
func partitionOf(t Tier, day time.Time) partition {
	year, month, date := day.Date()
	at := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	switch t {
	case Monthly:
		return partition{fmt.Sprintf("monthly_%04d", year), t, at(year, 1, 1), at(year+1, 1, 1)}
	case Weekly:
		return partition{fmt.Sprintf("weekly_%04dm%02d", year, month), t, at(year, month, 1), at(year, month+1, 1)}
	default:
		sinceMonday := (int(day.Weekday()) + 6) % 7
		from := at(year, month, date-sinceMonday)
		isoYear, week := from.ISOWeek()
		return partition{fmt.Sprintf("nightly_%04dw%02d", isoYear, week), t, from, from.AddDate(0, 0, 7)}
	}
}

// ensurePartitions makes the partitions of the tiers from least on for the day
// where they are missing: which tier the scan gets is known only under the lock
// of the import.
//
// A partition is made as a table of its own and attached: ATTACH lets readers
// and writers of the parent go on, CREATE ... PARTITION OF would block them. Its
// transaction is over before the import begins.
func (s *Store) ensurePartitions(ctx context.Context, day time.Time, least Tier) error {
	return s.write(ctx, func(tx pgx.Tx) error {
		missing, err := missingPartitions(ctx, tx, day, least)
		if err != nil || len(missing) == 0 {
			return err
		}
		const lock = `SELECT set_config('lock_timeout', '10s', true), pg_advisory_xact_lock($1)`
		if _, err := tx.Exec(ctx, lock, int64(partitionLock)); err != nil {
			return fmt.Errorf("wait for another import that makes partitions: %w", err)
		}
		if missing, err = missingPartitions(ctx, tx, day, least); err != nil {
			return err
		}
		for _, p := range missing {
			if err := attach(ctx, tx, p); err != nil {
				return fmt.Errorf("make the partition %s: %w", p.name(), err)
			}
		}
		return nil
	})
}

// PreparePartitions makes the partitions of a week from that day on, in the site's
// zone, where workers scan: their role makes no tables, and they find those that they
// need.
func (s *Store) PreparePartitions(ctx context.Context, from time.Time) error {
	const bound = `SELECT EXISTS (SELECT FROM filesystem WHERE worker <> '')`
	needed, err := one(ctx, s.pool, pgx.RowTo[bool], bound)
	if err != nil || !needed {
		return explainUnavailable(err)
	}
	day := dateOf(from, s.location)
	for i := range 8 {
		if err := s.ensurePartitions(ctx, day.AddDate(0, 0, i), Nightly); err != nil {
			return fmt.Errorf("make partitions ahead: %w", err)
		}
	}
	return nil
}

// tablePartition is a partition of one table.
type tablePartition struct {
	partition
	table string
}

func (p tablePartition) name() string { return p.table + "_" + p.suffix }

// missingPartitions returns what the day needs and does not have. A partition that
// ThinOut is about to drop is not missing: holdPartition tells what then becomes of
// the scan. It reads the catalogue itself: to_regclass may answer from a cache that
// is older than the lock.
func missingPartitions(ctx context.Context, tx pgx.Tx, day time.Time, least Tier) ([]tablePartition, error) {
	found, err := listPartitions(ctx, tx)
	if err != nil {
		return nil, err
	}
	var missing []tablePartition
	for t := least; t <= Monthly; t++ {
		p := partitionOf(t, day)
		for _, table := range detailTables() {
			if !slices.ContainsFunc(found[p.suffix], func(f foundPartition) bool { return f.table == table }) {
				missing = append(missing, tablePartition{p, table})
			}
		}
	}
	return missing, nil
}

func attach(ctx context.Context, tx pgx.Tx, p tablePartition) error {
	// DDL takes no arguments; the values are dates and numbers of ours.
	_, err := tx.Exec(ctx, fmt.Sprintf(`
		CREATE TABLE %[1]s (LIKE %[2]s INCLUDING ALL);
		ALTER TABLE %[2]s ATTACH PARTITION %[1]s FOR VALUES FROM (%[3]d, '%[4]s') TO (%[3]d, '%[5]s')`,
		pgx.Identifier{p.name()}.Sanitize(), pgx.Identifier{p.table}.Sanitize(), p.tier,
		p.from.Format(time.DateOnly), p.to.Format(time.DateOnly)))
	return err
}

// chooseTier returns the tier of a scan that is about to be published: the first
// of a month is kept longest, then the first of a week.
func chooseTier(ctx context.Context, tx pgx.Tx, fileSystemID int64, day time.Time) (Tier, error) {
	var month, week bool
	const sql = `
		SELECT COALESCE(bool_or(day >= $2 AND day < $3), false), COALESCE(bool_or(day >= $4 AND day < $5), false)
		FROM scan
		WHERE filesystem_id = $1 AND published_at IS NOT NULL`
	w, m := partitionOf(Nightly, day), partitionOf(Weekly, day)
	err := tx.QueryRow(ctx, sql, fileSystemID, m.from, m.to, w.from, w.to).Scan(&month, &week)
	switch {
	case err != nil:
		return Nightly, fmt.Errorf("choose how long the scan is kept: %w", err)
	case !month:
		return Monthly, nil
	case !week:
		return Weekly, nil
	}
	return Nightly, nil
}
