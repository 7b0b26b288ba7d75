package postgres_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fstally/internal/postgres"
)

// A result is put aside for good after an error that does not pass.
func TestPassing(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want bool
	}{
		{pgconn.ErrConnClosed, true}, // of a connection that was lost between two statements
		{io.ErrUnexpectedEOF, true},
		{&pgconn.PgError{Code: "57P01"}, true},
		{&pgconn.PgError{Code: "53100"}, true},
		{&pgconn.PgError{Code: "42501"}, true},
		{&pgconn.PgError{Code: "23505"}, false},
		{errors.New("its id is not a UUID"), false},
	} {
		if got := postgres.Passing(fmt.Errorf("import: %w", tc.err)); got != tc.want {
			t.Errorf("Passing(%v) = %v", tc.err, got)
		}
	}
}
