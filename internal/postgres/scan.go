package postgres

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"fstally/internal/usage"
)

// storedScan is a scan with what only the store needs to know of it.
type storedScan struct {
	usage.Scan
	tier         Tier
	typesLimited bool   // a file type that is missing is unknown, not 0
	suspicion    string // see judgement
	squashed     int64  // inodes of squashed ids
}

// selectScan is followed by conditions on s.
const selectScan = `
	SELECT ` + scanColumns + `
	FROM scan AS s`

const scanColumns = `s.id, s.filesystem_id, s.origin, s.occurrence, s.attempt, s.not_before,
		s.state, s.verdict, s.rejected, s.reason,
		COALESCE(to_char(s.day, 'YYYY-MM-DD'), ''), s.queued_at, s.started_at, s.finished_at, s.published_at,
		COALESCE(s.progress, '{}'),
		s.files, s.inodes, s.size, s.allocated, s.slack, s.offline,
		s.entries, s.links, s.directories, s.symlinks, s.specials, s.vanished, s.errors, s.skipped,
		s.capacity_size, s.capacity_free, s.capacity_available, s.inodes_total, s.inodes_free,
		s.block_size, s.capacity_source, s.size_classes, s.root, s.identity, s.fs_type, s.engine,
		s.walkers, s.ops_limit, s.host, s.freshness, s.offline_known,
		s.distinct_users, s.distinct_groups, s.distinct_types, s.distinct_filesets, s.thinned,
		s.tier, s.types_limited, s.suspicion, s.squashed_inodes`

// published is the condition on scan s for what counts as history.
const published = `s.published_at IS NOT NULL`

func readScan(row pgx.CollectableRow) (storedScan, error) {
	var s storedScan
	var bounds []int64
	var root, identity []byte
	m, c, k := &s.Totals, &s.Counters, &s.Capacity
	err := row.Scan(&s.ID, &s.FileSystemID, &s.Origin, (*zeronull.Timestamptz)(&s.Occurrence), &s.Attempt,
		(*zeronull.Timestamptz)(&s.NotBefore), &s.State, &s.Verdict, &s.Rejected, &s.Reason,
		&s.Day, &s.Queued, (*zeronull.Timestamptz)(&s.Started), (*zeronull.Timestamptz)(&s.Finished),
		(*zeronull.Timestamptz)(&s.Published), &s.Progress,
		&m.Files, &m.Inodes, (*numeric)(&m.Size), (*numeric)(&m.Allocated), (*numeric)(&m.Slack), (*numeric)(&m.Offline),
		&c.Entries, &c.Links, &c.Directories, &c.Symlinks, &c.Specials, &c.Vanished, &c.Errors, &c.Skipped,
		(*numeric)(&k.Size), (*numeric)(&k.Free), (*numeric)(&k.Available), &k.InodesTotal, &k.InodesFree,
		&k.BlockSize, &k.Source, &bounds, &root, &identity, &s.FSType, &s.Engine,
		&s.Walkers, &s.OpsLimit, &s.Host, &s.Freshness, &s.Offline,
		&s.Distinct.Users, &s.Distinct.Groups, &s.Distinct.Types, &s.Distinct.Filesets, &s.Thinned,
		&s.tier, &s.typesLimited, &s.suspicion, &s.squashed)
	if err != nil {
		return s, err
	}
	for _, t := range []*time.Time{&s.Occurrence, &s.NotBefore, &s.Queued, &s.Started, &s.Finished, &s.Published} {
		if !t.IsZero() {
			*t = t.UTC()
		}
	}
	copy(s.SizeClasses[:], bounds)
	s.Root, s.Identity = string(root), string(identity)
	return s, nil
}

// scanByID returns the scan if it is in the scope.
func scanByID(ctx context.Context, q querier, scope usage.Scope, id int64) (storedScan, error) {
	s, err := one(ctx, q, readScan, selectScan+` WHERE s.id = $1`, id)
	if err == nil && !scope.Sees(s.FileSystemID) {
		err = usage.ErrNotFound
	}
	if err != nil {
		return storedScan{}, fmt.Errorf("scan %d: %w", id, err)
	}
	return s, nil
}

// numbersOf returns the scan if it is in the scope and has numbers: a scan that
// did not complete has none, which is not the same as zeros.
func numbersOf(ctx context.Context, q querier, scope usage.Scope, id int64) (storedScan, error) {
	s, err := scanByID(ctx, q, scope, id)
	if err == nil && s.State != usage.Complete {
		err = fmt.Errorf("scan %d is %s and has no numbers: %w", id, s.State, usage.ErrNotFound)
	}
	return s, err
}

// detailsOf returns the scan if it is in the scope and its details are kept.
func detailsOf(ctx context.Context, q querier, scope usage.Scope, id int64) (storedScan, error) {
	s, err := numbersOf(ctx, q, scope, id)
	if err == nil && s.Thinned {
		err = fmt.Errorf("scan %d: %w", id, usage.ErrThinned)
	}
	return s, err
}

// Scan returns one scan, whatever became of it.
func (s *Store) Scan(ctx context.Context, scope usage.Scope, id int64) (usage.Scan, error) {
	var found storedScan
	err := s.read(ctx, func(tx pgx.Tx) (err error) {
		found, err = scanByID(ctx, tx, scope, id)
		return err
	})
	return found.Scan, err
}

// Scans returns at most limit scans of a file system, whatever became of them,
// the newest first; beforeID, unless 0, continues after the last of a page.
func (s *Store) Scans(
	ctx context.Context, scope usage.Scope, fileSystemID int64, limit int, beforeID int64,
) ([]usage.Scan, error) {
	if !scope.Sees(fileSystemID) {
		return nil, fmt.Errorf("file system %d: %w", fileSystemID, usage.ErrNotFound)
	}
	if beforeID == 0 {
		beforeID = math.MaxInt64
	}
	var scans []usage.Scan
	err := s.read(ctx, func(tx pgx.Tx) error {
		found, err := all(ctx, tx, readScan, selectScan+`
			WHERE s.filesystem_id = $1 AND s.id < $2
			ORDER BY s.id DESC
			LIMIT $3`, fileSystemID, beforeID, limit)
		for _, f := range found {
			scans = append(scans, f.Scan)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the scans of file system %d: %w", fileSystemID, err)
	}
	return scans, nil
}

// Attempts returns all attempts at the occurrence of a scan, itself among them, by
// attempt; none where it has no occurrence.
func (s *Store) Attempts(ctx context.Context, scope usage.Scope, scan usage.Scan) ([]usage.Scan, error) {
	var attempts []usage.Scan
	err := s.read(ctx, func(tx pgx.Tx) error {
		if !scope.Sees(scan.FileSystemID) {
			return usage.ErrNotFound
		}
		found, err := all(ctx, tx, readScan, selectScan+`
			WHERE s.filesystem_id = $1 AND s.occurrence = $2
			ORDER BY s.attempt`, scan.FileSystemID, zeronull.Timestamptz(scan.Occurrence))
		for _, f := range found {
			attempts = append(attempts, f.Scan)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("attempts at the occurrence of scan %d: %w", scan.ID, err)
	}
	return attempts, nil
}

// Neighbours returns the published scans that started before and after the
// scan, 0 where there is none.
func (s *Store) Neighbours(ctx context.Context, scope usage.Scope, scan usage.Scan) (previous, next int64, err error) {
	if !scope.Sees(scan.FileSystemID) {
		return 0, 0, fmt.Errorf("scan %d: %w", scan.ID, usage.ErrNotFound)
	}
	const sql = `
		SELECT
			COALESCE((SELECT s.id FROM scan AS s
				WHERE s.filesystem_id = $1 AND ` + published + ` AND (s.started_at, s.id) < ($2, $3)
				ORDER BY s.started_at DESC, s.id DESC LIMIT 1), 0),
			COALESCE((SELECT s.id FROM scan AS s
				WHERE s.filesystem_id = $1 AND ` + published + ` AND (s.started_at, s.id) > ($2, $3)
				ORDER BY s.started_at, s.id LIMIT 1), 0)`
	started := scan.Started
	if started.IsZero() { // queued: after all others
		started = scan.Queued
	}
	err = s.read(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, sql, scan.FileSystemID, started, scan.ID).Scan(&previous, &next)
	})
	if err != nil {
		return 0, 0, fmt.Errorf("neighbours of scan %d: %w", scan.ID, err)
	}
	return previous, next, nil
}

// ScanBefore returns the latest published scan that started at or before t.
func (s *Store) ScanBefore(
	ctx context.Context, scope usage.Scope, fileSystemID int64, t time.Time,
) (usage.Scan, error) {
	var found storedScan
	err := s.read(ctx, func(tx pgx.Tx) (err error) {
		if !scope.Sees(fileSystemID) {
			return usage.ErrNotFound
		}
		found, err = one(ctx, tx, readScan, selectScan+`
			WHERE s.filesystem_id = $1 AND `+published+` AND s.started_at <= $2
			ORDER BY s.started_at DESC, s.id DESC
			LIMIT 1`, fileSystemID, t)
		return err
	})
	if err != nil {
		return usage.Scan{}, fmt.Errorf("scan of file system %d at %s: %w", fileSystemID, t.Format(time.RFC3339), err)
	}
	return found.Scan, nil
}

// ScanProblems returns what a scan could not read and what it left out.
func (s *Store) ScanProblems(
	ctx context.Context, scope usage.Scope, scanID int64,
) ([]usage.ScanError, []usage.Skipped, error) {
	var failures []usage.ScanError
	var skipped []usage.Skipped
	err := s.read(ctx, func(tx pgx.Tx) error {
		if _, err := scanByID(ctx, tx, scope, scanID); err != nil {
			return err
		}
		var err error
		failures, err = all(ctx, tx, readScanError,
			`SELECT op, errno, message, count, paths FROM scan_error WHERE scan_id = $1 ORDER BY op, errno`, scanID)
		if err != nil {
			return fmt.Errorf("errors of scan %d: %w", scanID, err)
		}
		skipped, err = all(ctx, tx, readSkipped,
			`SELECT reason, count, paths FROM scan_skipped WHERE scan_id = $1 ORDER BY reason`, scanID)
		if err != nil {
			return fmt.Errorf("skipped by scan %d: %w", scanID, err)
		}
		return nil
	})
	return failures, skipped, err
}

func readScanError(row pgx.CollectableRow) (e usage.ScanError, err error) {
	var paths [][]byte
	err = row.Scan(&e.Op, &e.Errno, &e.Message, &e.Count, &paths)
	e.Paths = texts(paths)
	return e, err
}

func readSkipped(row pgx.CollectableRow) (s usage.Skipped, err error) {
	var paths [][]byte
	err = row.Scan(&s.Reason, &s.Count, &paths)
	s.Paths = texts(paths)
	return s, err
}

// printable returns s as a text of Postgres can hold it: words that programs
// made, which only a broken result has wrong bytes in. Names are bytea instead.
func printable(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
}

// texts and blobs turn raw names into bytea values and back.
func texts(b [][]byte) []string {
	var s []string
	for _, v := range b {
		s = append(s, string(v))
	}
	return s
}

func blobs(s []string) [][]byte {
	b := make([][]byte, len(s))
	for i, v := range s {
		b[i] = []byte(v)
	}
	return b
}
