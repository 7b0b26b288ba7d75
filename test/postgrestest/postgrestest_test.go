package postgrestest_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"fstally/test/postgrestest"
)

func TestDatabasesAreFresh(t *testing.T) {
	for range 2 {
		conn, err := pgx.Connect(t.Context(), postgrestest.New(t))
		if err != nil {
			t.Fatal(err)
		}
		var scans int
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM scan`).Scan(&scans); err != nil || scans != 0 {
			t.Errorf("%d scans, %v, want an empty table", scans, err)
		}
		if _, err := conn.Exec(t.Context(), `DROP TABLE scan CASCADE`); err != nil {
			t.Error(err)
		}
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
