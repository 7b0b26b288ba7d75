package postgres

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"math/bits"

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

// numericCodec reads whole numbers without the detour of pgtype.Numeric over
// big.Int, which was half of the time that Go spent on a long history.
type numericCodec struct{ pgtype.NumericCodec }

// PlanScan is called by pgx.
func (c numericCodec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	plan := c.NumericCodec.PlanScan(m, oid, format, target)
	if _, ok := target.(*numeric); ok && format == pgtype.BinaryFormatCode {
		return wholePlan{plan}
	}
	return plan
}

// wholePlan leaves what is no whole number to another plan.
type wholePlan struct{ others pgtype.ScanPlan }

// Scan is called by pgx.
func (p wholePlan) Scan(src []byte, target any) error {
	n, ours := target.(*numeric)
	if b, ok := wholeNumber(src); ok && ours {
		*n = numeric(b)
		return nil
	}
	return p.others.Scan(src, target)
}

// wholeNumber reads the binary form of a numeric (numeric_send in Postgres'
// numeric.c): the count of base-10000 digits, the weight of the first, sign,
// scale, digits. ok is false for what is not a whole number below 10^36.
func wholeNumber(src []byte) (b usage.Bytes, ok bool) {
	const head, most = 8, 9 // bytes, digits
	if len(src) < head {
		return b, false
	}
	count := int(binary.BigEndian.Uint16(src))
	before := int(int16(binary.BigEndian.Uint16(src[2:]))) + 1 // the point
	sign := binary.BigEndian.Uint16(src[4:])
	if sign != 0 || count > before || before > most || len(src) != head+2*count {
		return b, false
	}
	var hi, lo uint64
	for i := range before {
		var digit uint64
		if i < count { // zeros at the end are not sent
			digit = uint64(binary.BigEndian.Uint16(src[head+2*i:]))
		}
		over, rest := bits.Mul64(lo, 10_000)
		sum, carry := bits.Add64(rest, digit, 0)
		hi, lo = hi*10_000+over+carry, sum
	}
	return usage.BytesFromWords(hi, lo), true
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
