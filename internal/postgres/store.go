package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"fstally/internal/usage"
)

// Store is a pool of connections to the database. It is safe for concurrent use.
type Store struct {
	pool       *pgxpool.Pool
	queue      *river.Client[pgx.Tx] // which only inserts
	location   *time.Location
	log        *slog.Logger
	attempts   int
	retryAfter time.Duration
}

// Options are the settings of a Store.
type Options struct {
	// Location is the site's zone, which cuts days; nil is UTC.
	Location *time.Location
	Logger   *slog.Logger // nil for none
	// AsyncCommit lets commits not wait for the disk. A crash may then lose the
	// last imports, and nothing else: for a store that can be made anew.
	AsyncCommit bool
	// Attempts is how often a scan is tried that is interrupted each time; 0 is 3.
	Attempts int
	// RetryAfter is how long the second attempt waits after the first was interrupted,
	// and the third twice as long; 0 is a minute.
	RetryAfter time.Duration
	// Tracer is told of every statement but COPY: for tests and benchmarks of what
	// a page asks for. nil for none.
	Tracer pgx.QueryTracer
}

// connectTimeout bounds the wait for a server that does not answer, where the
// address does not say otherwise.
const connectTimeout = 10 * time.Second

// sessionSettings hold for every connection of the pool, where the address does
// not say otherwise. A client that vanished in the middle of a COPY must not
// keep its locks: the server finds out by keepalives within a minute.
func sessionSettings() map[string]string {
	return map[string]string{
		"application_name":                    "fstally",
		"timezone":                            "UTC",
		"idle_in_transaction_session_timeout": "5min",
		"tcp_keepalives_idle":                 "30",
		"tcp_keepalives_interval":             "10",
		"tcp_keepalives_count":                "3",
		"tcp_user_timeout":                    "60000",
	}
}

// Open connects to the database at url, in any form that libpq knows, and
// checks that this program can use it: UTF8, and the schema of this version.
// The caller closes the Store.
func Open(ctx context.Context, url string, opts Options) (*Store, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("database address: %w", err)
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	setDefaults(config.ConnConfig.RuntimeParams, sessionSettings())
	if opts.AsyncCommit {
		config.ConnConfig.RuntimeParams["synchronous_commit"] = "off"
	}
	config.ConnConfig.Tracer = opts.Tracer
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		conn.TypeMap().RegisterType(&pgtype.Type{Name: "numeric", OID: pgtype.NumericOID, Codec: numericCodec{}})
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	s := &Store{
		pool: pool, location: opts.Location, log: opts.Logger,
		attempts: cmp.Or(opts.Attempts, 3), retryAfter: cmp.Or(opts.RetryAfter, time.Minute),
	}
	if s.queue, err = newQueue(pool); err != nil {
		pool.Close()
		return nil, err
	}
	if s.location == nil {
		s.location = time.UTC
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if err := s.check(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

func setDefaults(params, defaults map[string]string) {
	for name, value := range defaults {
		if _, ok := params[name]; !ok {
			params[name] = value
		}
	}
}

func (s *Store) check(ctx context.Context) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", explainUnavailable(err))
	}
	defer conn.Release()
	if err := checkEncoding(ctx, conn.Conn()); err != nil {
		return err
	}
	return checkVersion(ctx, conn.Conn())
}

// Close closes all connections; those in use, when they are given back.
func (s *Store) Close() { s.pool.Close() }

// Settle tells the planner what is in the tables that are kept for ever, and lets
// histories be read from the index alone, as autovacuum would do within minutes:
// after a flood of imports. Readers and imports go on meanwhile.
func (s *Store) Settle(ctx context.Context) error {
	for _, sql := range []string{
		`VACUUM (ANALYZE) marginal, scan, size_total`, `ANALYZE path, identity, fileset, file_type, category`,
	} {
		if _, err := s.pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("settle the store: %w", explainUnavailable(err))
		}
	}
	return nil
}

// beginRead gives all statements of a reader one snapshot and a bound. It is one
// round trip.
const beginRead = `BEGIN READ ONLY ISOLATION LEVEL REPEATABLE READ; SET LOCAL statement_timeout = '60s'`

// read runs a reader, and runs it again when the connection turns out to be
// broken: after a restart of the database the pool is full of those.
func (s *Store) read(ctx context.Context, reader func(pgx.Tx) error) error {
	begin := func() error {
		return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{BeginQuery: beginRead}, reader)
	}
	err := begin()
	if unavailable(err) && ctx.Err() == nil {
		s.pool.Reset()
		err = begin()
	}
	return explainUnavailable(err)
}

// write runs a transaction that changes something, at READ COMMITTED.
func (s *Store) write(ctx context.Context, writer func(pgx.Tx) error) error {
	return explainUnavailable(pgx.BeginFunc(ctx, s.pool, writer))
}

// day returns the date of t in the site's zone.
func (s *Store) day(t time.Time) string { return t.In(s.location).Format(time.DateOnly) }

// querier is what a pool, a connection and a transaction have in common.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// one collects the only row of a query; usage.ErrNotFound where there is none.
func one[T any](ctx context.Context, q querier, to pgx.RowToFunc[T], sql string, args ...any) (T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		var zero T
		return zero, err
	}
	v, err := pgx.CollectExactlyOneRow(rows, to)
	if errors.Is(err, pgx.ErrNoRows) {
		err = usage.ErrNotFound
	}
	return v, err
}

// all collects the rows of a query.
func all[T any](ctx context.Context, q querier, to pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, to)
}
