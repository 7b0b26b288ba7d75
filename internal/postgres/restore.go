package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"fstally/migrations"
)

// RestoreReport is what there is to say about a restored database.
type RestoreReport struct {
	Tables int
	Rows   int64
	// LeftOut names tables of the backup that this program does not know: somebody
	// made them beside fstally's.
	LeftOut []string
}

// Restore fills the empty database at url from a backup, and brings it to the
// schema of this program. The role must be a superuser: the tables refer to each
// other, and are filled one by one. After an error the database is of no use.
// progress is told the bytes of text that were stored so far, from time to time.
func Restore(
	ctx context.Context, url string, b *BackupReader, log *slog.Logger, progress func(int64),
) (RestoreReport, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	report, err := restoreRows(ctx, url, b, log, progress)
	if err != nil {
		return report, err
	}
	if err := Migrate(ctx, url, log); err != nil {
		return report, err
	}
	return report, settleAll(ctx, url)
}

// Copy fills the empty database at to with all that is in the one at from, as
// [Backup] and [Restore] would. The versions of Postgres do not matter. The version
// is that of the program, for the record.
func Copy(
	ctx context.Context, from, to, version string, log *slog.Logger, progress func(int64),
) (BackupReport, RestoreReport, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, in := io.Pipe()
	var backup BackupReport
	done := make(chan struct{})
	go func() {
		defer close(done)
		var err error
		backup, err = backupTar(ctx, from, version, in, func(int64) {})
		in.CloseWithError(err) // nil is the end
	}()
	restored, err := copyInto(ctx, to, out, log, progress)
	out.CloseWithError(err) // ends the backup too
	<-done
	return backup, restored, err
}

func copyInto(
	ctx context.Context, to string, from io.Reader, log *slog.Logger, progress func(int64),
) (RestoreReport, error) {
	source := &sourceReader{r: from}
	b := &BackupReader{source: source, rest: source, close: func() {}}
	if err := b.open(); err != nil {
		return RestoreReport{}, err
	}
	return Restore(ctx, to, b, log, progress)
}

func restoreRows(
	ctx context.Context, url string, b *BackupReader, log *slog.Logger, progress func(int64),
) (report RestoreReport, err error) {
	newest, err := newestVersion(migrations.FS)
	if err != nil {
		return report, err
	}
	if b.head.Schema > newest {
		return report, fmt.Errorf("%w (its schema version is %d, this program knows %d; fstally %s wrote it)",
			ErrNewerBackup, b.head.Schema, newest, b.head.Program)
	}
	conn, err := connectForBackup(ctx, url)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	if b.head.Schema > 0 {
		if err := migrateOnce(ctx, conn.Config(), migrations.FS, b.head.Schema, log); err != nil {
			return report, err
		}
	}
	// Foreign keys are held by triggers, which do not fire then.
	if _, err := conn.Exec(ctx, `SET session_replication_role = replica`); err != nil {
		return report, fmt.Errorf("prepare the database for a restore: %w", explainUnavailable(err))
	}
	rows := make(map[string]int64, len(b.head.Tables))
	for _, t := range b.head.Tables {
		data := b.table(t.Name, progress)
		n, err := restoreTable(ctx, conn, t, data)
		switch {
		case data.err != nil:
			return report, data.err
		case errors.Is(err, errUnknownTable):
			report.LeftOut = append(report.LeftOut, "table "+t.Name)
			if n, err = countLines(data); err != nil {
				return report, err
			}
		case err != nil:
			return report, fmt.Errorf("restore the table %s: %w", t.Name, err)
		default:
			report.Tables++
			report.Rows += n
		}
		rows[t.Name] = n
	}
	tail, err := b.finish(rows)
	if err != nil {
		return report, err
	}
	return report, restoreSequences(ctx, conn, tail.Sequences)
}

// errUnknownTable: the schema has no such table.
var errUnknownTable = errors.New("not a table of fstally")

// restoreTable fills a table, which is empty but for what the migrations put there.
// Its transaction empties it first: Postgres then need not log the rows, and can
// mark them as visible to all (FREEZE), which readers of indexes gain from.
func restoreTable(ctx context.Context, conn *pgx.Conn, t backupTable, data io.Reader) (int64, error) {
	var rows int64
	return rows, explainUnavailable(pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if t.Partition != nil {
			if err := t.attach(ctx, tx); err != nil {
				return err
			}
		}
		// A table that others refer to can only be emptied together with them.
		var exists, referred bool
		const look = `
			SELECT count(*) > 0,
				COALESCE(bool_or(EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND confrelid = c.oid)), false)
			FROM pg_class AS c
			WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND relname = $1`
		if err := tx.QueryRow(ctx, look, t.Name).Scan(&exists, &referred); err != nil {
			return err
		}
		if !exists {
			return errUnknownTable
		}
		empty, options := "TRUNCATE ", " WITH (FREEZE)"
		if referred {
			empty, options = "DELETE FROM ", ""
		}
		if _, err := tx.Exec(ctx, empty+pgx.Identifier{t.Name}.Sanitize()); err != nil {
			return err
		}
		tag, err := tx.Conn().PgConn().CopyFrom(ctx, data, "COPY "+t.target()+" FROM STDIN"+options)
		rows = tag.RowsAffected()
		return err
	}))
}

// attach makes the partition anew.
func (t *backupTable) attach(ctx context.Context, tx pgx.Tx) error {
	p := tablePartition{table: t.Partition.Of}
	p.tier = t.Partition.Tier
	var ok bool
	if p.suffix, ok = strings.CutPrefix(t.Name, p.table+"_"); !ok || !slices.Contains(detailTables(), p.table) {
		return fmt.Errorf("%w (%s is no partition of %s)", ErrDamagedBackup, t.Name, p.table)
	}
	var err error
	if p.from, err = time.Parse(time.DateOnly, t.Partition.From); err == nil {
		p.to, err = time.Parse(time.DateOnly, t.Partition.To)
	}
	if err != nil {
		return fmt.Errorf("%w (bounds of the partition %s: %w)", ErrDamagedBackup, t.Name, err)
	}
	return attach(ctx, tx, p)
}

// countLines reads rows to their end. In the text format of COPY each is a line.
func countLines(r io.Reader) (int64, error) {
	var lines int64
	for buf := make([]byte, 1<<16); ; {
		n, err := r.Read(buf)
		for _, c := range buf[:n] {
			if c == '\n' {
				lines++
			}
		}
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
	}
}

func restoreSequences(ctx context.Context, conn *pgx.Conn, sequences []backupSequence) error {
	for _, s := range sequences {
		const set = `
			SELECT setval(c.oid::regclass, $2, $3)
			FROM pg_class AS c
			WHERE relkind = 'S' AND relnamespace = current_schema()::regnamespace AND relname = $1`
		// One that is not there belongs to a table that is not there.
		if _, err := conn.Exec(ctx, set, s.Name, s.Last, s.Called); err != nil {
			return fmt.Errorf("restore the sequence %s: %w", s.Name, explainUnavailable(err))
		}
	}
	return nil
}

// settleAll does what autovacuum would do within minutes, so that pages are quick
// at once: statistics of all tables, and summaries of their BRIN indexes.
func settleAll(ctx context.Context, url string) (err error) {
	conn, err := connectForBackup(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	if _, err := conn.Exec(ctx, `VACUUM (ANALYZE)`); err != nil {
		return fmt.Errorf("settle the restored database: %w", explainUnavailable(err))
	}
	return nil
}

// IsEmpty reports whether the database at url knows no file system, and so has
// nothing to lose.
func IsEmpty(ctx context.Context, url string) (empty bool, err error) {
	conn, err := connectForBackup(ctx, url)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	version, err := schemaVersion(ctx, conn)
	if err != nil || version == 0 {
		return err == nil, err
	}
	const sql = `SELECT NOT EXISTS (SELECT FROM filesystem)`
	if err := conn.QueryRow(ctx, sql).Scan(&empty); err != nil {
		return false, fmt.Errorf("look whether the database is empty: %w", explainUnavailable(err))
	}
	return empty, nil
}

// DatabaseBytes returns how much space the database at url takes, with indexes.
func DatabaseBytes(ctx context.Context, url string) (bytes int64, err error) {
	conn, err := connectForBackup(ctx, url)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	if err := conn.QueryRow(ctx, `SELECT pg_database_size(current_database())`).Scan(&bytes); err != nil {
		return 0, fmt.Errorf("ask for the size of the database: %w", explainUnavailable(err))
	}
	return bytes, nil
}
