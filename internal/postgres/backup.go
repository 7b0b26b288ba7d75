package postgres

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"
)

// BackupReport is what there is to say about a backup when it is whole.
type BackupReport struct {
	Tables int
	Rows   int64
	// LeftOut names what the database holds beside fstally's tables, such as
	// views that somebody made.
	LeftOut []string
}

// Backup writes a backup of the database at url to w (backupfile.go says what is
// in it), all of it as of one moment. Imports and readers go on meanwhile; a
// migration waits. progress is told the bytes of text that were copied so far, from
// time to time. The version is that of the program, for the record.
func Backup(ctx context.Context, url, version string, w io.Writer, progress func(int64)) (BackupReport, error) {
	z, err := zstd.NewWriter(w)
	if err != nil {
		return BackupReport{}, fmt.Errorf("start compression: %w", err)
	}
	report, err := backupTar(ctx, url, version, z, progress)
	if closed := z.Close(); err == nil {
		err = closed
	}
	return report, err
}

// backupTar is Backup without the compression.
func backupTar(
	ctx context.Context, url, version string, w io.Writer, progress func(int64),
) (report BackupReport, err error) {
	conn, err := connectForBackup(ctx, url)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	// Before the snapshot, and as long as the connection: ThinOut drops no table that
	// the list has.
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock_shared($1)`, int64(droppingLock)); err != nil {
		return report, fmt.Errorf("wait until old details are dropped: %w", explainUnavailable(err))
	}
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
		func(tx pgx.Tx) error {
			head, err := readHead(ctx, tx, version)
			if err != nil {
				return err
			}
			if report.LeftOut, err = leftOut(ctx, tx); err != nil {
				return err
			}
			file := backupWriter{tar: tar.NewWriter(w), time: head.Created, progress: progress}
			if err := file.putJSON(headName, head); err != nil {
				return err
			}
			tail := backupTail{Rows: make(map[string]int64, len(head.Tables))}
			for _, t := range head.Tables {
				rows, err := file.putTable(ctx, tx, t)
				if err != nil {
					return fmt.Errorf("back up the table %s: %w", t.Name, err)
				}
				tail.Rows[t.Name] = rows
				report.Tables++
				report.Rows += rows
			}
			if tail.Sequences, err = readSequences(ctx, tx); err != nil {
				return err
			}
			if err := file.putJSON(tailName, tail); err != nil {
				return err
			}
			return file.tar.Close()
		})
	return report, err
}

// connectForBackup connects with the settings under which a value has one text,
// whatever the server's are.
func connectForBackup(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("database address: %w", err)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	setDefaults(config.RuntimeParams, sessionSettings())
	maps.Copy(config.RuntimeParams, map[string]string{
		"client_encoding": "UTF8", "timezone": "UTC", "datestyle": "ISO", "intervalstyle": "postgres",
		"bytea_output": "hex", "extra_float_digits": "3",
		"statement_timeout": "0", "idle_in_transaction_session_timeout": "0",
		"synchronize_seqscans": "off", // rows come in the order in which they are stored
	})
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", explainUnavailable(err))
	}
	return conn, nil
}

func readHead(ctx context.Context, tx pgx.Tx, version string) (backupHead, error) {
	head := backupHead{Format: backupFormat, FormatVersion: backupVersion, Program: version, Created: time.Now().UTC()}
	const about = `SELECT current_setting('server_version'), pg_database_size(current_database())`
	if err := tx.QueryRow(ctx, about).Scan(&head.Postgres, &head.DatabaseBytes); err != nil {
		return head, fmt.Errorf("ask for the size of the database: %w", err)
	}
	var err error
	if head.Schema, err = schemaVersion(ctx, tx.Conn()); err != nil {
		return head, err
	}
	const tables = `
		SELECT c.relname::text AS name, COALESCE(p.relname::text, '') AS parent,
			COALESCE(pg_get_expr(c.relpartbound, c.oid), '') AS bound,
			(SELECT COALESCE(array_agg(attname::text ORDER BY attnum), '{}')
				FROM pg_attribute
				WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns
		FROM pg_class AS c
		LEFT JOIN pg_inherits AS i ON i.inhrelid = c.oid
		LEFT JOIN pg_class AS p ON p.oid = i.inhparent
		WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
			AND c.relname <> ALL ($1::text[])
		ORDER BY c.relname`
	type row struct {
		Name, Parent, Bound string
		Columns             []string
	}
	partitions, err := listPartitions(ctx, tx)
	if err != nil {
		return head, err
	}
	rows, err := all(ctx, tx, pgx.RowToStructByName[row], tables, halfGone(partitions))
	if err != nil {
		return head, fmt.Errorf("list the tables: %w", err)
	}
	for _, r := range rows {
		t := backupTable{Name: r.Name, Columns: r.Columns}
		if r.Parent != "" {
			p, err := parseBound(r.Parent, r.Name, r.Bound)
			if err != nil {
				return head, err
			}
			t.Partition = &p
		}
		head.Tables = append(head.Tables, t)
	}
	return head, nil
}

// parseBound reads back what attach wrote.
func parseBound(parent, name, bound string) (backupPartition, error) {
	m := regexp.MustCompile(`^FOR VALUES FROM \('?(\d+)'?, '([0-9-]+)'\) TO \('?(\d+)'?, '([0-9-]+)'\)$`).
		FindStringSubmatch(bound)
	if len(m) != 5 || m[1] != m[3] {
		return backupPartition{}, fmt.Errorf("the partition %s of %s was not made by fstally: it is %q", name, parent, bound)
	}
	tier, err := strconv.ParseInt(m[1], 10, 16)
	if err != nil {
		return backupPartition{}, fmt.Errorf("the partition %s of %s: %w", name, parent, err)
	}
	return backupPartition{Of: parent, Tier: Tier(tier), From: m[2], To: m[4]}, nil
}

// readSequences reads where the sequences stand. They only grow and are not part
// of a snapshot: what is read is at least what the rows need.
func readSequences(ctx context.Context, tx pgx.Tx) ([]backupSequence, error) {
	const list = `
		SELECT relname::text FROM pg_class
		WHERE relkind = 'S' AND relnamespace = current_schema()::regnamespace
		ORDER BY relname`
	names, err := all(ctx, tx, pgx.RowTo[string], list)
	if err != nil {
		return nil, fmt.Errorf("list the sequences: %w", err)
	}
	sequences := make([]backupSequence, len(names))
	for i, name := range names {
		s := backupSequence{Name: name}
		sql := `SELECT last_value, is_called FROM ` + pgx.Identifier{name}.Sanitize()
		if err := tx.QueryRow(ctx, sql).Scan(&s.Last, &s.Called); err != nil {
			return nil, fmt.Errorf("read the sequence %s: %w", name, err)
		}
		sequences[i] = s
	}
	return sequences, nil
}

// leftOut lists relations that a backup does not hold, those of extensions and of the
// queue aside: what it says is in the rows of the scans.
func leftOut(ctx context.Context, tx pgx.Tx) ([]string, error) {
	const list = `
		SELECT CASE c.relkind WHEN 'v' THEN 'view ' WHEN 'm' THEN 'materialized view ' ELSE 'table ' END
			|| n.nspname || '.' || c.relname
		FROM pg_class AS c
		JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE n.nspname NOT IN ('information_schema', $1) AND n.nspname NOT LIKE 'pg\_%'
			AND (c.relkind IN ('v', 'm', 'f') OR c.relkind IN ('r', 'p') AND n.nspname <> current_schema())
			AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e')
		ORDER BY 1`
	names, err := all(ctx, tx, pgx.RowTo[string], list, QueueSchema)
	if err != nil {
		return nil, fmt.Errorf("look for what is not fstally's: %w", err)
	}
	return names, nil
}
