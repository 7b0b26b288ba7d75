package postgres

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"fstally/internal/usage"
)

// unavailable reports an error that means that the database is away, or that
// the connection was cut: classes 08 and 57P of SQLSTATE (Postgres manual,
// appendix A), and what the network says.
func unavailable(err error) bool {
	var connect *pgconn.ConnectError
	var pg *pgconn.PgError
	var network net.Error
	switch {
	case err == nil:
		return false
	case errors.As(err, &pg):
		return strings.HasPrefix(pg.Code, "08") || strings.HasPrefix(pg.Code, "57P")
	default:
		return errors.As(err, &connect) || errors.As(err, &network) && !network.Timeout() ||
			errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
			errors.Is(err, pgconn.ErrConnClosed)
	}
}

// FromDatabase reports an error that the database told, or that came of reaching it.
func FromDatabase(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) || unavailable(err) || errors.Is(err, usage.ErrUnavailable)
}

// explainUnavailable gives such an error its kind.
func explainUnavailable(err error) error {
	if unavailable(err) {
		return fmt.Errorf("%w: %w", usage.ErrUnavailable, err)
	}
	return err
}

// Passing reports an error that may pass by itself, so that what was tried is worth
// another try: the database is away, failing over, out of disk or of connections, or
// others were in the way (classes 40, 53, 55, 57 and 58 of SQLSTATE), or an
// administrator has to change something in it first (25006: it is read-only, 42501: a
// right is missing).
func Passing(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return unavailable(err) || errors.Is(err, usage.ErrUnavailable)
	}
	switch pg.Code[:2] {
	case "08", "40", "53", "55", "57", "58":
		return true
	}
	return pg.Code == "25006" || pg.Code == "42501"
}
