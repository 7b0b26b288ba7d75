package postgres

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"fstally/internal/usage"
)

// latestOfDays is followed by more conditions on s. A history has the latest
// published scan of each day of a range.
const latestOfDays = `
	FROM scan AS s
	WHERE s.filesystem_id = $1 AND ` + published + `
		AND ($2::date IS NULL OR s.day >= $2) AND ($3::date IS NULL OR s.day < $3)`

const orderOfDays = `
	ORDER BY s.day, s.started_at DESC, s.id DESC`

const historyDaysSQL = `
	SELECT DISTINCT ON (s.day) s.id, to_char(s.day, 'YYYY-MM-DD'), s.started_at` + latestOfDays + orderOfDays

const historySQL = `
	SELECT DISTINCT ON (s.day) ` + scanColumns + latestOfDays + orderOfDays

// excerptSQL reads the rows of the chosen scans and no others.
const excerptSQL = `
	SELECT DISTINCT ON (s.day) ` + scanColumns + latestOfDays + ` AND s.id = ANY ($4)` + orderOfDays

// HistoryDays lists the points that History would return for the file system and the
// days of q, without their numbers.
func (s *Store) HistoryDays(
	ctx context.Context, scope usage.Scope, q usage.HistoryQuery,
) ([]usage.HistoryDay, error) {
	var days []usage.HistoryDay
	err := s.read(ctx, func(tx pgx.Tx) error {
		args, err := daysArgs(ctx, tx, scope, q)
		if err != nil {
			return err
		}
		days, err = all(ctx, tx, pgx.RowToStructByPos[usage.HistoryDay], historyDaysSQL, args...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("days of the history of file system %d: %w", q.FileSystemID, err)
	}
	return days, nil
}

// daysArgs returns the arguments of latestOfDays, and usage.ErrNotFound where there is
// no such file system in the scope.
func daysArgs(ctx context.Context, tx pgx.Tx, scope usage.Scope, q usage.HistoryQuery) ([]any, error) {
	if !scope.Sees(q.FileSystemID) {
		return nil, usage.ErrNotFound
	}
	if _, err := one(ctx, tx, pgx.RowTo[int64], `SELECT id FROM filesystem WHERE id = $1`, q.FileSystemID); err != nil {
		return nil, err
	}
	from, err := dateArg(q.From)
	if err != nil {
		return nil, err
	}
	to, err := dateArg(q.To)
	if err != nil {
		return nil, err
	}
	return []any{q.FileSystemID, from, to}, nil
}

// History answers a query from the published scans: gaps stay gaps. The series
// are the keys asked for, in that order, or else the largest of the newest scan.
func (s *Store) History(ctx context.Context, scope usage.Scope, q usage.HistoryQuery) (usage.History, error) {
	var h usage.History
	err := s.read(ctx, func(tx pgx.Tx) error {
		args, err := daysArgs(ctx, tx, scope, q)
		if err != nil {
			return err
		}
		sql := historySQL
		if q.Scans != nil {
			sql, args = excerptSQL, append(args, q.Scans)
		}
		scans, err := all(ctx, tx, readScan, sql, args...)
		if err != nil || len(scans) == 0 {
			return err
		}
		h, err = historyOf(ctx, tx, scans, q)
		return err
	})
	if err != nil {
		return usage.History{}, fmt.Errorf("history of file system %d: %w", q.FileSystemID, err)
	}
	return h, nil
}

// EverHad reports whether any published scan of the file system found something of a
// value of a dimension.
func (s *Store) EverHad(
	ctx context.Context, scope usage.Scope, fileSystemID int64, d usage.Dimension, key string,
) (had bool, err error) {
	const sql = `
		SELECT EXISTS (
			SELECT FROM marginal AS m
			JOIN scan AS s ON s.id = m.scan_id
			WHERE m.filesystem_id = $1 AND m.dimension = $2 AND m.key = $3 AND m.key2 = 0 AND m.inodes > 0 AND ` + published + `)`
	err = s.read(ctx, func(tx pgx.Tx) error {
		if !scope.Sees(fileSystemID) {
			return usage.ErrNotFound
		}
		ids, err := storedKeys(ctx, tx, storedScan{Scan: usage.Scan{FileSystemID: fileSystemID}}, d, []string{key})
		if err != nil {
			return err
		}
		id, ok := ids[key]
		if !ok {
			return nil
		}
		had, err = one(ctx, tx, pgx.RowTo[bool], sql, fileSystemID, int16(dimensionOf(d)), id)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("whether file system %d ever had %s %q: %w", fileSystemID, d, key, err)
	}
	return had, nil
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
	values, err := readGrid(ctx, tx, scans, q, ids, first, last)
	if err != nil {
		return h, err
	}
	var series []keyed
	for _, key := range keys {
		if id, ok := ids[key]; ok {
			m, _ := values.at(len(scans)-1, id)
			series = append(series, keyed{id, *m})
		}
	}
	if h.Series, err = rowsOf(ctx, tx, newest, q.GroupBy, series); err != nil {
		return h, err
	}
	for i := range scans {
		h.Points[i].Rows = make([]*usage.Measures, len(series))
		for k, v := range series {
			if m, found := values.at(i, v.key); scans[i].tells(newest, q.GroupBy, found) {
				h.Points[i].Rows[k] = m
			}
		}
	}
	return h, nil
}

// tells reports whether the scan knows a value of the newest one: not where its
// size classes have other bounds, or the value may have been cut off with the
// file types beyond the limit.
func (s *storedScan) tells(newest storedScan, d usage.Dimension, found bool) bool {
	if d == usage.SizeClassDim && s.SizeClasses != newest.SizeClasses {
		return false
	}
	return found || !s.unknown(d, true)
}

// grid is the usage of some values in some scans: a line for each scan, a column
// for each value. It is one piece of memory, for there can be 100,000 of them.
type grid struct {
	columns map[int64]int // of stored keys
	cells   []usage.Measures
	found   []bool
}

// at returns the usage of a value in the scan of a line, 0 where none was found.
func (g *grid) at(line int, key int64) (m *usage.Measures, found bool) {
	i := line*len(g.columns) + g.columns[key]
	return &g.cells[i], g.found[i]
}

func readGrid(
	ctx context.Context, tx pgx.Tx, scans []storedScan, q usage.HistoryQuery, ids map[string]int64, first, last int64,
) (*grid, error) {
	g := &grid{columns: make(map[int64]int, len(ids))}
	for _, id := range ids {
		if _, ok := g.columns[id]; !ok { // two keys can mean one value
			g.columns[id] = len(g.columns)
		}
	}
	lines := make(map[int64]int, len(scans))
	for i := range scans {
		lines[scans[i].ID] = i
	}
	g.cells = make([]usage.Measures, len(scans)*len(g.columns))
	g.found = make([]bool, len(g.cells))
	visit := func(scan, key int64, m *usage.Measures) {
		if line, ok := lines[scan]; ok {
			i := line*len(g.columns) + g.columns[key]
			g.cells[i], g.found[i] = *m, true
		}
	}
	if q.Scans != nil {
		chosen := slices.Collect(maps.Keys(lines))
		return g, marginalsOfScans(ctx, tx, q.FileSystemID, q.GroupBy, ids, chosen, visit)
	}
	return g, marginalsOf(ctx, tx, q.FileSystemID, q.GroupBy, ids, first, last, visit)
}
