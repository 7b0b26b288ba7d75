package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"fstally/internal/embeddedpg"
	"fstally/internal/postgres"
	"fstally/internal/usage"
)

// retention prints what the store takes, then times all pages without and with a
// run of retention beside them, which has weeks of nights to drop.
func (o options) retention(ctx context.Context, weeks int, out, progress io.Writer) error {
	return o.serve(ctx, func(p *program) (err error) {
		database, err := embeddedpg.Running(o.dataDir)
		if err != nil {
			return err
		}
		store, err := postgres.Open(ctx, database, postgres.Options{})
		if err != nil {
			return err
		}
		defer store.Close()
		conn, err := pgx.Connect(ctx, database)
		if err != nil {
			return err
		}
		defer conn.Close(ctx) //nolint:errcheck // nothing is open on it

		if err := store.SetRetention(ctx, postgres.DefaultRetention()); err != nil {
			return err
		}
		if _, err := store.ThinOut(ctx, time.Now()); err != nil { // of a run before that was broken off
			return err
		}
		if err := printSizes(ctx, conn, out); err != nil {
			return err
		}
		if !o.long {
			_, _ = fmt.Fprintln(progress, "Spreading scans over file systems.")
			if err := spread(ctx, conn); err != nil {
				return fmt.Errorf("spread scans over file systems: %w", err)
			}
		}
		_, _ = fmt.Fprintf(progress, "Filling %d weeks of nights.\n", weeks)
		if err := store.SetRetention(ctx, usage.Retention{}); err != nil { // not while they are filled
			return err
		}
		if err := fillNights(ctx, conn, weeks); err != nil {
			return err
		}
		var paths []string
		all, err := requests(ctx, p)
		for _, path := range all {
			if !strings.HasPrefix(path, "/api") && o.only.MatchString(path) {
				paths = append(paths, path)
			}
		}
		if err != nil {
			return err
		}
		return o.compareWithRetention(ctx, p, store, paths, out, progress)
	})
}

func (o options) compareWithRetention(
	ctx context.Context, p *program, store *postgres.Store, paths []string, out, progress io.Writer,
) error {
	rounds := func(n int) (map[string]times, error) {
		return load(ctx, p, paths, func(round int) bool { return round < n })
	}
	_, _ = fmt.Fprintf(progress, "Asking for %d pages, one after the other.\n", len(paths))
	if _, err := rounds(2); err != nil { // warm
		return err
	}
	before, err := rounds(max(1, o.n/10))
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(progress, "The same beside a run of retention.")
	if err := store.SetRetention(ctx, postgres.DefaultRetention()); err != nil {
		return err
	}
	var thinned postgres.Thinned
	var failed error
	var took time.Duration
	done := make(chan struct{})
	go func() {
		defer close(done)
		began := time.Now()
		thinned, failed = store.ThinOut(ctx, time.Now())
		took = time.Since(began)
	}()
	during, err := load(ctx, p, paths, func(int) bool {
		select {
		case <-done:
			return false
		default:
			return true
		}
	})
	<-done
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "Dropped %d partitions of %d scans, %.1f MiB, in %s; postponed %d %s\n", thinned.Partitions,
		thinned.Scans, float64(thinned.Bytes)/(1<<20), took.Round(time.Millisecond), thinned.Postponed, thinned.Why)
	return printLoad(out, before, during)
}

// printLoad compares the times of all pages, and of those that are the slowest anyway.
func printLoad(out io.Writer, before, during map[string]times) error {
	slowest := slices.SortedFunc(maps.Keys(before), func(a, b string) int {
		return cmp.Compare(before[b].of(0.5), before[a].of(0.5))
	})
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "requests\tp50\tp99\trequests during\tp50\tp99\tratio\t \t")
	line := func(name string, b, d times) {
		_, _ = fmt.Fprintf(table, "%d\t%s\t%s\t%d\t%s\t%s\t%.2f\t  %s\n", len(b), ms(b.of(0.5)), ms(b.of(0.99)),
			len(d), ms(d.of(0.5)), ms(d.of(0.99)), float64(d.of(0.99))/float64(b.of(0.99)), name)
	}
	all := func(t map[string]times) times { return slices.Concat(slices.Collect(maps.Values(t))...) }
	line("all pages", all(before), all(during))
	for _, path := range slowest[:min(10, len(slowest))] {
		line(path, before[path], during[path])
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "Times in ms; ratio: of the 99th percentiles, of which the budget is %s.\n", budget)
	return err
}

// load asks for the paths round by round, as long as more says so before each request.
func load(
	ctx context.Context, p *program, paths []string, more func(round int) bool,
) (map[string]times, error) {
	header := http.Header{"Accept-Encoding": {"gzip"}}
	took := make(map[string]times)
	for i := 0; more(i / len(paths)); i++ {
		path := paths[i%len(paths)]
		began := time.Now()
		if _, err := p.get(ctx, path, header); err != nil {
			return nil, err
		}
		took[path] = append(took[path], time.Since(began))
	}
	return took, nil
}

// detailTables are those that retention thins out.
func detailTables() []string {
	return []string{"usage", "size_histogram", "age_histogram", "directory"}
}

// printSizes says what a scan takes: what is kept for ever by all scans, details by
// those that have them.
func printSizes(ctx context.Context, conn *pgx.Conn, out io.Writer) error {
	var scans, detailed int64
	const count = `SELECT count(*), count(*) FILTER (WHERE NOT thinned) FROM scan WHERE state = 'complete'`
	if err := conn.QueryRow(ctx, count).Scan(&scans, &detailed); err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "table\tMiB\tscans\trows per scan\tbytes per row\tKiB per scan\t")
	sums := make(map[bool]float64)
	tables := []string{"scan", "scan_error", "scan_skipped", "marginal", "size_total"}
	for _, name := range append(tables, detailTables()...) {
		isDetail, of := slices.Contains(detailTables(), name), scans
		if isDetail {
			of = detailed
		}
		var rows, bytes int64
		sql := fmt.Sprintf(`SELECT (SELECT count(*) FROM %[1]s), pg_total_relation_size('%[1]s') +
			(SELECT COALESCE(sum(pg_total_relation_size(inhrelid)), 0)::bigint
			FROM pg_inherits WHERE inhparent = '%[1]s'::regclass)`, name)
		if err := conn.QueryRow(ctx, sql).Scan(&rows, &bytes); err != nil {
			return fmt.Errorf("size of %s: %w", name, err)
		}
		sums[isDetail] += float64(bytes) / float64(of)
		_, _ = fmt.Fprintf(table, "%s\t%.1f\t%d\t%.0f\t%.0f\t%.1f\t\n", name, float64(bytes)/(1<<20), of,
			float64(rows)/float64(of), float64(bytes)/float64(max(rows, 1)), float64(bytes)/float64(of)/1024)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "For ever: %.1f KiB per scan. Details: %.1f KiB per scan.\n",
		sums[false]/1024, sums[true]/1024)
	return err
}

// fillNights gives two nights of each file system details again, in each of so many
// weeks that are past their days: those of its newest scan.
func fillNights(ctx context.Context, conn *pgx.Conn, weeks int) error {
	monday := time.Now().UTC().Truncate(24 * time.Hour)
	for monday.Weekday() != time.Monday {
		monday = monday.AddDate(0, 0, -1)
	}
	monday = monday.AddDate(0, 0, -7*(postgres.DefaultRetention().NightlyDays/7+2))
	for i := range weeks {
		if err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			return fillWeek(ctx, tx, monday.AddDate(0, 0, -7*i))
		}); err != nil {
			return fmt.Errorf("fill the week of %s: %w", monday.AddDate(0, 0, -7*i).Format(time.DateOnly), err)
		}
	}
	_, err := conn.Exec(ctx, `CHECKPOINT`)
	return err
}

func fillWeek(ctx context.Context, tx pgx.Tx, monday time.Time) error {
	const mark = `
		UPDATE scan SET thinned = false WHERE id IN (
			SELECT id FROM (
				SELECT id, row_number() OVER (PARTITION BY filesystem_id ORDER BY id) AS n
				FROM scan
				WHERE tier = 0 AND state = 'complete' AND thinned AND day >= $1::date AND day < $1::date + 7) AS nights
			WHERE n <= 2)`
	if _, err := tx.Exec(ctx, mark, monday); err != nil {
		return err
	}
	year, week := monday.ISOWeek()
	for _, table := range detailTables() {
		sql := fmt.Sprintf(`
			CREATE TABLE %[1]s_nightly_%04[2]dw%02[3]d (LIKE %[1]s INCLUDING ALL);
			ALTER TABLE %[1]s ATTACH PARTITION %[1]s_nightly_%04[2]dw%02[3]d FOR VALUES FROM (0, '%[4]s') TO (0, '%[5]s')`,
			table, year, week, monday.Format(time.DateOnly), monday.AddDate(0, 0, 7).Format(time.DateOnly))
		if _, err := tx.Exec(ctx, sql); err != nil {
			return err
		}
		var columns []string
		const list = `
			SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
			WHERE attrelid = $1::text::regclass AND attnum > 3 AND NOT attisdropped`
		if err := tx.QueryRow(ctx, list, table).Scan(&columns); err != nil {
			return err
		}
		fill := fmt.Sprintf(`
			INSERT INTO %[1]s (tier, day, scan_id, %[2]s)
			SELECT 0, s.day, s.id, d.%[3]s
			FROM scan AS s
			JOIN filesystem AS f ON f.id = s.filesystem_id
			JOIN scan AS c ON c.id = f.current_scan_id
			JOIN LATERAL (SELECT * FROM %[1]s WHERE tier = c.tier AND day = c.day AND scan_id = c.id) AS d ON true
			WHERE s.tier = 0 AND NOT s.thinned AND s.state = 'complete' AND s.day >= $1::date AND s.day < $1::date + 7`,
			table, strings.Join(columns, ", "), strings.Join(columns, ", d."))
		if _, err := tx.Exec(ctx, fill, monday); err != nil {
			return fmt.Errorf("%s: %w", table, err)
		}
	}
	return nil
}

// yearsEach is how long the history of one file system is, as in the demo that pages
// have their budget on.
const yearsEach = 3

// spread gives all scans that are older than that to file systems of their own, each
// of which shows the last scan of its time that still has details.
func spread(ctx context.Context, conn *pgx.Conn) error {
	const systems = `
		SELECT filesystem_id, current_date - min(day) FROM scan
		WHERE published_at IS NOT NULL GROUP BY filesystem_id ORDER BY filesystem_id`
	rows, err := conn.Query(ctx, systems)
	if err != nil {
		return err
	}
	type system struct{ ID, Days int }
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[system])
	if err != nil {
		return err
	}
	moved := false
	for _, fs := range list {
		for years := yearsEach; fs.Days > years*366; years += yearsEach {
			moved = true
			if err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return split(ctx, tx, fs.ID, years) }); err != nil {
				return err
			}
		}
	}
	if moved {
		_, err = conn.Exec(ctx, `VACUUM (ANALYZE) marginal, scan`)
	}
	return err
}

// split moves the scans of a file system that are between years and years+yearsEach
// old.
func split(ctx context.Context, tx pgx.Tx, fileSystem, years int) error {
	const add = `
		INSERT INTO filesystem (name, root, size_classes, demo)
		SELECT format('%s-%s', name, $2::integer), root || convert_to('-' || $2::integer, 'UTF8'), size_classes, true
		FROM filesystem WHERE id = $1
		RETURNING id`
	var added int
	if err := tx.QueryRow(ctx, add, fileSystem, years).Scan(&added); err != nil {
		return err
	}
	moves := []string{`
		UPDATE scan SET filesystem_id = $1
		WHERE filesystem_id = $2 AND day <= current_date - $3 * interval '1 year'
			AND day > current_date - ($3 + $4) * interval '1 year'`, `
		UPDATE marginal AS m SET filesystem_id = $1 FROM scan AS s WHERE s.filesystem_id = $1 AND m.scan_id = s.id`, `
		UPDATE filesystem SET current_scan_id = (
			SELECT id FROM scan
			WHERE filesystem_id = $1 AND published_at IS NOT NULL AND NOT thinned
			ORDER BY started_at DESC LIMIT 1)
		WHERE id = $1`}
	for i, sql := range moves {
		args := []any{added}
		if i == 0 {
			args = append(args, fileSystem, years, yearsEach)
		}
		if _, err := tx.Exec(ctx, sql, args...); err != nil {
			return err
		}
	}
	return nil
}
