package embeddedpg

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// connectionURL names a database of the server that listens in socketDir. What
// environment variables of libpq could change is said explicitly.
func connectionURL(socketDir, database string) string {
	u := url.URL{
		Scheme: "postgres",
		User:   url.User(Role),
		Path:   "/" + database,
		RawQuery: url.Values{
			"host":                 {socketDir},
			"port":                 {port},
			"sslmode":              {"disable"},
			"target_session_attrs": {"any"},
		}.Encode(),
	}
	return u.String()
}

// awaitReady waits until the server takes connections, and makes the database
// if there is none. A server has no way to call: it is asked again and again,
// as pg_ctl does.
func (s *Server) awaitReady(ctx context.Context, socketDir string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ensureDatabase(ctx, connectionURL(socketDir, "postgres"))
		if err == nil || isFinal(err) {
			return err
		}
		select {
		case <-tick.C:
		case <-s.done:
			return s.err
		case <-ctx.Done():
			return fmt.Errorf("the Postgres on %s does not take connections: %w (at last: %w)", s.dataDir, ctx.Err(), err)
		}
	}
}

// isFinal tells errors that waiting does not cure from those of a server that
// is still starting.
func isFinal(err error) bool {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return false
	}
	const cannotConnectNow = "57P03" // PostgreSQL Appendix A: starting up, shutting down, in recovery
	return refused.Code != cannotConnectNow
}

func ensureDatabase(ctx context.Context, adminURL string) (err error) {
	conn, err := pgx.Connect(ctx, adminURL)
	if err != nil {
		return fmt.Errorf("connect to the private Postgres: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()

	var exists bool
	const query = "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)"
	if err := conn.QueryRow(ctx, query, Database).Scan(&exists); err != nil {
		return fmt.Errorf("look for database %s: %w", Database, err)
	}
	if exists {
		return nil
	}
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+Database); err != nil {
		return fmt.Errorf("make database %s: %w", Database, err)
	}
	return nil
}
