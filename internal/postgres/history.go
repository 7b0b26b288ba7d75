package postgres

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"fstally/internal/usage"
)

// historySQL selects the latest published scan of each day of a range.
const historySQL = `
	SELECT DISTINCT ON (s.day) ` + scanColumns + `
	FROM scan AS s
	WHERE s.filesystem_id = $1 AND ` + published + `
		AND ($2::date IS NULL OR s.day >= $2) AND ($3::date IS NULL OR s.day < $3)
	ORDER BY s.day, s.started_at DESC, s.id DESC`

// History answers a query from the published scans: gaps stay gaps. The series
// are the keys asked for, in that order, or else the largest of the newest scan.
func (s *Store) History(ctx context.Context, scope usage.Scope, q usage.HistoryQuery) (usage.History, error) {
	var h usage.History
	err := s.read(ctx, func(tx pgx.Tx) error {
		if _, err := one(ctx, tx, pgx.RowTo[int64], `SELECT id FROM filesystem WHERE id = $1`, q.FileSystemID); err != nil {
			return err
		}
		from, err := dateArg(q.From)
		if err != nil {
			return err
		}
		to, err := dateArg(q.To)
		if err != nil {
			return err
		}
		scans, err := all(ctx, tx, readScan, historySQL, q.FileSystemID, from, to)
		if err != nil || len(scans) == 0 {
			return err
		}
		h, err = historyOf(ctx, tx, scans, q)
		return err
	})
	if err == nil && !scope.Sees(q.FileSystemID) {
		err = usage.ErrNotFound
	}
	if err != nil {
		return usage.History{}, fmt.Errorf("history of file system %d: %w", q.FileSystemID, err)
	}
	return h, nil
}

// dateArg checks a day; "" is NULL. Postgres has no year 0, before which no scan
// started either: a day of it becomes the first of year 1.
func dateArg(day string) (zeronull.Text, error) {
	if day == "" {
		return "", nil
	}
	t, err := time.Parse(time.DateOnly, day)
	switch {
	case err != nil:
		return "", fmt.Errorf("%q is not a day: use 2006-01-02", day)
	case t.Year() == 0:
		return "0001-01-01", nil
	}
	return zeronull.Text(day), nil
}

// historyOf splits the scans, oldest first and at least one, into series.
func historyOf(ctx context.Context, tx pgx.Tx, scans []storedScan, q usage.HistoryQuery) (usage.History, error) {
	h := usage.History{Points: make([]usage.Point, len(scans))}
	first, last := int64(math.MaxInt64), int64(0)
	for i, s := range scans {
		h.Points[i] = usage.Point{Scan: s.Scan, Total: s.Totals}
		first, last = min(first, s.ID), max(last, s.ID)
	}
	if q.GroupBy == "" {
		return h, nil
	}
	newest := scans[len(scans)-1]
	keys := q.Keys
	if len(keys) == 0 {
		table, err := tableOf(ctx, tx, newest, usage.Query{GroupBy: q.GroupBy, By: q.By, Limit: q.Top})
		if err != nil {
			return h, err
		}
		for _, row := range table.Rows {
			keys = append(keys, row.Key)
		}
	}
	ids, err := storedKeys(ctx, tx, newest, q.GroupBy, keys)
	if err != nil {
		return h, err
	}
	values, err := marginalsOf(ctx, tx, q.FileSystemID, q.GroupBy, ids, first, last)
	if err != nil {
		return h, err
	}
	var series []keyed
	for _, key := range keys {
		if id, ok := ids[key]; ok {
			series = append(series, keyed{id, values[scanKey{newest.ID, id}]})
		}
	}
	if h.Series, err = rowsOf(ctx, tx, newest, q.GroupBy, series); err != nil {
		return h, err
	}
	for i := range scans {
		h.Points[i].Rows = make([]*usage.Measures, len(series))
		for k, v := range series {
			h.Points[i].Rows[k] = pointOf(scans[i], newest, q.GroupBy, values, v.key)
		}
	}
	return h, nil
}

// pointOf returns a series' value in a scan, nil where the scan cannot know it:
// its size classes have other bounds than those of the newest, or its file types
// were limited.
func pointOf(scan, newest storedScan, d usage.Dimension, values map[scanKey]usage.Measures, key int64) *usage.Measures {
	if d == usage.SizeClassDim && scan.SizeClasses != newest.SizeClasses {
		return nil
	}
	m, ok := values[scanKey{scan.ID, key}]
	if !ok && scan.unknown(d, true) {
		return nil
	}
	return &m
}
