package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"fstally/internal/usage"
)

// keyed is the usage of one value of a dimension, as it is stored.
type keyed struct {
	key int64
	usage.Measures
}

// readKeyed reads a key and its measures.
func readKeyed(row pgx.CollectableRow) (k keyed, err error) {
	err = row.Scan(append([]any{&k.key}, measureTargets(&k.Measures)...)...)
	return k, err
}

// Usage answers a query from the scan's marginals or, where it filters, from its
// cube: usage.ErrThinned where that is no longer kept. Rows are in the order of
// usage.Measure.Compare. A filter by a value that the scan does not have gives an
// empty table.
func (s *Store) Usage(ctx context.Context, scope usage.Scope, q usage.Query) (usage.Table, error) {
	var table usage.Table
	err := s.read(ctx, func(tx pgx.Tx) error {
		lookup := numbersOf
		if !q.Filter.IsZero() {
			lookup = detailsOf
		}
		scan, err := lookup(ctx, tx, scope, q.ScanID)
		if err != nil {
			return err
		}
		if q.GrownSince != 0 {
			before, err := numbersOf(ctx, tx, scope, q.GrownSince)
			if err != nil {
				return err
			}
			if before.FileSystemID != scan.FileSystemID || !q.Filter.IsZero() {
				return fmt.Errorf("growth of scan %d since scan %d: only whole lists of one file system compare",
					q.ScanID, q.GrownSince)
			}
		}
		table, err = tableOf(ctx, tx, scan, q)
		return err
	})
	if err != nil {
		return usage.Table{}, fmt.Errorf("usage by %s: %w", q.GroupBy, err)
	}
	return table, nil
}

func tableOf(ctx context.Context, tx pgx.Tx, scan storedScan, q usage.Query) (usage.Table, error) {
	sql, args, err := tableSQL(scan, q)
	if err != nil {
		return usage.Table{}, err
	}
	found, err := all(ctx, tx, readKeyed, sql, args)
	if err != nil {
		return usage.Table{}, err
	}
	total, page := found[0], found[1:]
	rows, err := rowsOf(ctx, tx, scan, q.GroupBy, page)
	return usage.Table{Rows: rows, Total: total.Measures, Count: total.key}, err
}

// tableSQL returns the statement of a query. Its first row is the total with the
// number of rows as key, which is there even where the page is past the end; the
// others are the page.
func tableSQL(scan storedScan, q usage.Query) (string, pgx.StrictNamedArgs, error) {
	if _, err := usage.ParseMeasure(string(q.By)); err != nil {
		return "", nil, err
	}
	if _, err := usage.ParseDimension(string(q.GroupBy)); err != nil {
		return "", nil, err
	}
	args := pgx.StrictNamedArgs{"scan": scan.ID, "limit": q.Limit, "offset": q.Offset}
	var matching string
	if q.Filter.IsZero() {
		matching = marginalSQL(q, args)
	} else {
		matching = cubeSQL(scan, q, args)
	}
	join, tie := tieBreak(q.GroupBy)
	order := `m.` + string(q.By)
	if q.GrownSince != 0 {
		args["since"] = q.GrownSince
		join += ` LEFT JOIN marginal AS e ON e.scan_id = @since AND e.dimension = @dimension AND e.key = m.key`
		order += ` - COALESCE(e.` + string(q.By) + `, 0)`
	}
	return `
		WITH matching AS (` + matching + `
		), page AS (
			SELECT m.*, row_number() OVER (ORDER BY ` + order + ` DESC, ` + tie + `) AS place
			FROM matching AS m ` + join + `
			ORDER BY place
			LIMIT @limit OFFSET @offset
		), answer AS (
			SELECT 0 AS place, count(*) AS key, COALESCE(sum(files), 0)::bigint AS files,
				COALESCE(sum(inodes), 0)::bigint AS inodes, COALESCE(sum(size), 0) AS size,
				COALESCE(sum(allocated), 0) AS allocated, COALESCE(sum(slack), 0) AS slack, COALESCE(sum(offline), 0) AS offline
			FROM matching
			UNION ALL
			SELECT place, key, ` + measureColumns + ` FROM page
		)
		SELECT key, ` + measureColumns + ` FROM answer ORDER BY place`, args, nil
}

// tieBreak returns how rows of equal measure are ordered, as usage.Measure.Compare
// does: by id, or by key where there is none, which takes a join.
func tieBreak(d usage.Dimension) (join, order string) {
	switch d {
	case usage.Type:
		return `JOIN file_type AS l ON l.id = m.key`, `l.name`
	case usage.Category:
		return `JOIN category AS l ON l.id = m.key`, `l.name`
	case usage.Fileset:
		return `JOIN fileset AS l ON l.id = m.key`, `l.escaped_key`
	default:
		return ``, `m.key`
	}
}

func marginalSQL(q usage.Query, args pgx.StrictNamedArgs) string {
	args["dimension"] = int16(dimensionOf(q.GroupBy))
	return `
			SELECT key, ` + measureColumns + `
			FROM marginal
			WHERE scan_id = @scan AND dimension = @dimension`
}

// cubeSQL names tier and day, although the scan alone would do: they lead to one
// partition.
func cubeSQL(scan storedScan, q usage.Query, args pgx.StrictNamedArgs) string {
	args["tier"], args["day"] = int16(scan.tier), scan.Day
	where := []string{`u.tier = @tier`, `u.day = @day`, `u.scan_id = @scan`}
	narrow := func(name, condition string, value any) {
		where, args[name] = append(where, condition), value
	}
	f := q.Filter
	if f.User != nil {
		narrow("user", `u.uid = @user`, int64(*f.User))
	}
	if f.Group != nil {
		narrow("group", `u.gid = @group`, int64(*f.Group))
	}
	if f.Pool != nil {
		narrow("pool", `u.pool = @pool`, int64(*f.Pool))
	}
	if f.SizeClass != nil {
		narrow("size_class", `u.size_class = @size_class`, int16(*f.SizeClass))
	}
	if f.AgeClass != nil {
		narrow("age_class", `u.age_class = @age_class`, int16(*f.AgeClass))
	}
	if f.Type != nil {
		narrow("type", `u.file_type_id = (SELECT id FROM file_type WHERE name = @type)`, unescaped(usage.Type, *f.Type))
	}
	if f.Category != nil {
		narrow("category", `u.file_type_id IN (
				SELECT id FROM file_type WHERE category_id = (SELECT id FROM category WHERE name = @category))`,
			unescaped(usage.Category, *f.Category))
	}
	if f.Fileset != nil {
		narrow("fileset", `u.fileset_id = (
				SELECT id FROM fileset
				WHERE filesystem_id = @filesystem AND sha256(external_key) = sha256(@fileset) AND external_key = @fileset)`,
			unescaped(usage.Fileset, *f.Fileset))
		args["filesystem"] = scan.FileSystemID
	}
	column, join := cubeColumn(q.GroupBy)
	return `
			SELECT ` + column + ` AS key, ` + measureSums + `
			FROM usage AS u ` + join + `
			WHERE ` + strings.Join(where, ` AND `) + `
			GROUP BY ` + column
}

// cubeColumn returns what stores a dimension in the cube.
func cubeColumn(d usage.Dimension) (column, join string) {
	switch d {
	case usage.User:
		return `u.uid`, ``
	case usage.Group:
		return `u.gid`, ``
	case usage.Type:
		return `u.file_type_id`, ``
	case usage.Category:
		return `t.category_id`, `JOIN file_type AS t ON t.id = u.file_type_id`
	case usage.Fileset:
		return `u.fileset_id`, ``
	case usage.Pool:
		return `u.pool`, ``
	case usage.SizeClassDim:
		return `u.size_class`, ``
	default:
		return `u.age_class`, ``
	}
}

// UsageOf returns the usage of some values in a scan, by the keys given. A value
// that the scan does not have is 0; one that it cannot know is left out: a file
// type that its limit may have cut off, a size class of other bounds.
func (s *Store) UsageOf(
	ctx context.Context, scope usage.Scope, scanID int64, d usage.Dimension, keys []string,
) (map[string]usage.Measures, error) {
	known := make(map[string]usage.Measures, len(keys))
	err := s.read(ctx, func(tx pgx.Tx) error {
		scan, err := numbersOf(ctx, tx, scope, scanID)
		if err != nil {
			return err
		}
		ids, err := storedKeys(ctx, tx, scan, d, keys)
		if err != nil {
			return err
		}
		values := make(map[int64]usage.Measures, len(ids))
		err = marginalsOf(ctx, tx, scan.FileSystemID, d, ids, scan.ID, scan.ID, func(_, key int64, m *usage.Measures) {
			values[key] = *m
		})
		if err != nil {
			return err
		}
		for _, key := range keys {
			id, stored := ids[key]
			if m, ok := values[id]; ok && stored {
				known[key] = m
			} else if !scan.unknown(d, stored) {
				known[key] = usage.Measures{}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("usage of some of %s: %w", d, err)
	}
	return known, nil
}

// unknown reports whether the absence of a value says nothing.
func (s *storedScan) unknown(d usage.Dimension, stored bool) bool {
	return d == usage.Type && s.typesLimited || d == usage.SizeClassDim && !stored
}

// marginalsOf reads the usage of some values from the scans of a file system
// with ids in first..last, and tells each to visit. It touches one index and no
// table.
func marginalsOf(
	ctx context.Context, tx pgx.Tx, fileSystemID int64, d usage.Dimension, ids map[string]int64, first, last int64,
	visit func(scan, key int64, m *usage.Measures),
) error {
	found, err := tx.Query(ctx, marginalsSQL,
		fileSystemID, int16(dimensionOf(d)), slices.Collect(maps.Values(ids)), first, last)
	if err != nil {
		return err
	}
	return visitMarginals(found, visit)
}

// marginalsOfScans is marginalsOf for some scans, a row of each of which is looked up
// for each value.
func marginalsOfScans(
	ctx context.Context, tx pgx.Tx, fileSystemID int64, d usage.Dimension, ids map[string]int64, scans []int64,
	visit func(scan, key int64, m *usage.Measures),
) error {
	found, err := tx.Query(ctx, scanMarginalsSQL,
		fileSystemID, int16(dimensionOf(d)), slices.Collect(maps.Values(ids)), scans)
	if err != nil {
		return err
	}
	return visitMarginals(found, visit)
}

func visitMarginals(found pgx.Rows, visit func(scan, key int64, m *usage.Measures)) error {
	var scan, key int64
	var m usage.Measures
	_, err := pgx.ForEachRow(found, append([]any{&scan, &key}, measureTargets(&m)...), func() error {
		visit(scan, key, &m)
		return nil
	})
	return err
}

const marginalsSQL = valueMarginals + ` AND scan_id BETWEEN $4 AND $5`

const scanMarginalsSQL = valueMarginals + ` AND scan_id = ANY ($4)`

const valueMarginals = `
	SELECT scan_id, key, ` + measureColumns + `
	FROM marginal
	WHERE filesystem_id = $1 AND dimension = $2 AND key = ANY ($3) AND key2 = 0`
