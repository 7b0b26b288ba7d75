package postgres

import (
	"fmt"
	"math/big"

	"github.com/jackc/pgx/v5/pgtype"

	"fstally/internal/usage"
)

// numeric is usage.Bytes on its way from and to a numeric(39,0).
type numeric usage.Bytes

var (
	_ pgtype.NumericValuer  = numeric{}
	_ pgtype.NumericScanner = (*numeric)(nil)
)

// NumericValue is called by pgx.
func (n numeric) NumericValue() (pgtype.Numeric, error) {
	return pgtype.Numeric{Int: usage.Bytes(n).Big(), Valid: true}, nil
}

// ScanNumeric is called by pgx. A sum over more than 128 bits saturates, as in
// usage.Bytes.Add; NULL, a fraction and a negative number are errors.
func (n *numeric) ScanNumeric(v pgtype.Numeric) error {
	if !v.Valid || v.NaN || v.InfinityModifier != pgtype.Finite || v.Exp < 0 {
		return fmt.Errorf("numeric %+v is not a number of bytes", v)
	}
	i := v.Int
	if v.Exp > 0 {
		i = new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(v.Exp)), nil)
		i.Mul(i, v.Int)
	}
	b := usage.MaxBytes()
	if i.BitLen() <= 128 {
		var err error
		if b, err = usage.BytesFromBig(i); err != nil {
			return err
		}
	}
	*n = numeric(b)
	return nil
}

// measureColumns are the six measures in the order of usage.AllMeasures, as
// every table has them.
const measureColumns = "files, inodes, size, allocated, slack, offline"

// measureSums sums the measures of a group, in the types of the columns.
const measureSums = `sum(files)::bigint AS files, sum(inodes)::bigint AS inodes, sum(size) AS size,
	sum(allocated) AS allocated, sum(slack) AS slack, sum(offline) AS offline`

// measureNames returns the columns of the measures for COPY, after others.
func measureNames(others ...string) []string {
	for _, m := range usage.AllMeasures() {
		others = append(others, string(m))
	}
	return others
}

// measureTargets returns where the measures of a row are scanned to.
func measureTargets(m *usage.Measures) []any {
	return []any{&m.Files, &m.Inodes,
		(*numeric)(&m.Size), (*numeric)(&m.Allocated), (*numeric)(&m.Slack), (*numeric)(&m.Offline)}
}
