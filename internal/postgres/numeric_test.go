package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"fstally/internal/postgres"
)

// Numbers are read as pgx reads them; what is none of ours is left to pgx.
func TestWholeNumber(t *testing.T) {
	m := pgtype.NewMap()
	for text, ours := range map[string]bool{
		"0": true, "1": true, "9999": true, "10000": true, "120000000": true, "18446744073709551616": true,
		"100000000000000000000000000000000000": true, "999999999999999999999999999999999999": true,
		"1000000000000000000000000000000000000": false, "-1": false, "0.5": false, "10000.5": false, "NaN": false,
	} {
		var n pgtype.Numeric
		if err := n.Scan(text); err != nil {
			t.Fatal(err)
		}
		src, err := m.Encode(pgtype.NumericOID, pgtype.BinaryFormatCode, n, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := postgres.WholeNumber(src)
		if ok != ours || ok && got.String() != text {
			t.Errorf("%s = %s, %t", text, got, ok)
		}
	}
	for _, src := range [][]byte{nil, {}, {0, 1, 0, 0, 0, 0, 0}, {0, 2, 0, 1, 0, 0, 0, 0, 0, 1}} {
		if got, ok := postgres.WholeNumber(src); ok {
			t.Errorf("%v = %s", src, got)
		}
	}
}
