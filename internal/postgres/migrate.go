package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"fstally/migrations"
)

const (
	// migrateAttempts are made while others hold locks on our tables.
	migrateAttempts = 3
	// migrateLockTimeout bounds each wait for such a lock.
	migrateLockTimeout = 10 * time.Second
	// migrateTurns are the seconds that a second migrator waits for the first.
	migrateTurns = 300
)

// Migrate brings the schema of the database at url to the version of this
// program, and the queue's to that of its library. Each migration is one transaction
// with its version record, so a failed one leaves nothing and is tried again by the
// next call. Several callers take turns. A schema from a later program is an error.
func Migrate(ctx context.Context, url string, log *slog.Logger) error {
	if err := migrate(ctx, url, migrations.FS, migrateLockTimeout, log); err != nil {
		return err
	}
	if err := migrateQueue(ctx, url, log); err != nil {
		return fmt.Errorf("migrate the queue: %w", explainUnavailable(err))
	}
	return nil
}

func migrate(ctx context.Context, url string, files fs.FS, lockTimeout time.Duration, log *slog.Logger) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("database address: %w", err)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	setDefaults(config.RuntimeParams, sessionSettings())
	config.RuntimeParams["lock_timeout"] = strconv.FormatInt(lockTimeout.Milliseconds(), 10)
	config.RuntimeParams["statement_timeout"] = "0"
	if err := checkBeforeMigration(ctx, config, files); err != nil {
		return err
	}
	newest, err := newestVersion(files)
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		err := migrateOnce(ctx, config, files, newest, log)
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != lockNotAvailable {
			return err
		}
		if attempt == migrateAttempts {
			return fmt.Errorf("another session holds a lock on our tables: end it "+
				"(SELECT pid, query FROM pg_stat_activity), then run `fstally migrate`: %w", err)
		}
		log.WarnContext(ctx, "migration waits for another session's lock", "attempt", attempt, "of", migrateAttempts)
	}
}

func checkBeforeMigration(ctx context.Context, config *pgx.ConnConfig, files fs.FS) (err error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", explainUnavailable(err))
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	if err := checkEncoding(ctx, conn); err != nil {
		return err
	}
	have, err := schemaVersion(ctx, conn)
	if err != nil {
		return err
	}
	want, err := newestVersion(files)
	if err == nil && have > want {
		err = tooNew(have, want)
	}
	return err
}

// migrateOnce brings the schema up to the version.
func migrateOnce(
	ctx context.Context, config *pgx.ConnConfig, files fs.FS, version int64, log *slog.Logger,
) (err error) {
	db := stdlib.OpenDB(*config)
	defer func() { err = errors.Join(err, db.Close()) }()
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, migrateTurns))
	if err != nil {
		return fmt.Errorf("migration: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true), goose.WithSlog(log))
	if err != nil {
		return fmt.Errorf("migration: %w", err)
	}
	results, err := provider.UpTo(ctx, version)
	for _, r := range results {
		log.InfoContext(ctx, "migrated the database", "version", r.Source.Version, "duration", r.Duration)
	}
	if err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	return nil
}

// SchemaVersion returns the version of the schema that this program needs.
func SchemaVersion() (int64, error) { return newestVersion(migrations.FS) }

// newestVersion returns the version of the last migration file.
func newestVersion(files fs.FS) (int64, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return 0, err
	}
	var newest int64
	for _, name := range names {
		v, err := goose.NumericComponent(path.Base(name))
		if err != nil {
			return 0, fmt.Errorf("migration %s: %w", name, err)
		}
		newest = max(newest, v)
	}
	return newest, nil
}

// schemaVersion returns the version of the database, 0 for an empty one.
func schemaVersion(ctx context.Context, conn *pgx.Conn) (int64, error) {
	var exists bool
	const sqlExists = `SELECT to_regclass($1) IS NOT NULL`
	if err := conn.QueryRow(ctx, sqlExists, goose.DefaultTablename).Scan(&exists); err != nil || !exists {
		return 0, err
	}
	var version int64
	const sqlVersion = `SELECT COALESCE(max(version_id), 0) FROM goose_db_version WHERE is_applied`
	if err := conn.QueryRow(ctx, sqlVersion).Scan(&version); err != nil {
		return 0, fmt.Errorf("read the version of the schema: %w", err)
	}
	return version, nil
}

func checkVersion(ctx context.Context, conn *pgx.Conn) error {
	have, err := schemaVersion(ctx, conn)
	if err != nil {
		return err
	}
	want, err := newestVersion(migrations.FS)
	switch {
	case err != nil:
		return err
	case have > want:
		return tooNew(have, want)
	case have < want:
		return fmt.Errorf("the database has schema version %d, this program needs %d: run `fstally migrate`", have, want)
	}
	return nil
}

func tooNew(have, want int64) error {
	return fmt.Errorf("the database has schema version %d, this program knows only %d: "+
		"use the newer fstally that migrated it", have, want)
}

func checkEncoding(ctx context.Context, conn *pgx.Conn) error {
	var encoding, name string
	const sql = `SELECT current_setting('server_encoding'), current_database()`
	if err := conn.QueryRow(ctx, sql).Scan(&encoding, &name); err != nil {
		return fmt.Errorf("read the encoding of the database: %w", err)
	}
	if encoding != "UTF8" {
		return fmt.Errorf("database %q has the encoding %s: use one in UTF8, made by "+
			"CREATE DATABASE fstally ENCODING 'UTF8' TEMPLATE template0", name, encoding)
	}
	return nil
}
