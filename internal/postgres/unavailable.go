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
			errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
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
