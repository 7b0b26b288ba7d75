package postgres

import (
	"encoding/binary"
	"io"
	"math/bits"
	"time"

	"fstally/internal/usage"
)

// copyRow builds rows in the binary format of COPY (Postgres manual, COPY, "Binary
// Format"). A long history is tens of millions of rows: to encode them without an
// interface value for each field takes a tenth of the time. A field must have
// exactly the type of its column.
type copyRow struct{ buf []byte }

// begin begins a row of so many columns.
func (r *copyRow) begin(columns int) { r.buf = binary.BigEndian.AppendUint16(r.buf, uint16(columns)) }

func (r *copyRow) length(n uint32) { r.buf = binary.BigEndian.AppendUint32(r.buf, n) }

// int2 appends smallint columns.
func (r *copyRow) int2(values ...int16) {
	for _, v := range values {
		r.length(2)
		r.buf = binary.BigEndian.AppendUint16(r.buf, uint16(v))
	}
}

// int4 appends integer columns.
func (r *copyRow) int4(values ...int32) {
	for _, v := range values {
		r.length(4)
		r.buf = binary.BigEndian.AppendUint32(r.buf, uint32(v))
	}
}

// int8 appends bigint columns.
func (r *copyRow) int8(values ...int64) {
	for _, v := range values {
		r.length(8)
		r.buf = binary.BigEndian.AppendUint64(r.buf, uint64(v))
	}
}

// date appends a date column: days since 2000-01-01.
func (r *copyRow) date(day time.Time) {
	const secondsPerDay = 86400
	epoch := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	r.int4(int32((day.Unix() - epoch.Unix()) / secondsPerDay))
}

// bytes appends numeric columns: digits to the base of 10,000, the highest first
// (src/backend/utils/adt/numeric.c, numeric_recv).
func (r *copyRow) bytes(values ...usage.Bytes) {
	for _, v := range values {
		hi, lo := v.Words()
		var digits [10]uint16 // 10,000^10 exceeds 2^128
		n := len(digits)
		for hi != 0 || lo != 0 {
			n--
			var rest uint64
			hi, rest = hi/10_000, hi%10_000
			lo, rest = bits.Div64(rest, lo, 10_000)
			digits[n] = uint16(rest)
		}
		count := len(digits) - n
		r.length(uint32(8 + 2*count))
		for _, head := range []int{count, max(0, count-1), 0, 0} { // digits, weight, sign, scale
			r.buf = binary.BigEndian.AppendUint16(r.buf, uint16(head))
		}
		for _, d := range digits[n:] {
			r.buf = binary.BigEndian.AppendUint16(r.buf, d)
		}
	}
}

// measures appends the columns of measureNames.
func (r *copyRow) measures(m *usage.Measures) {
	r.int8(m.Files, m.Inodes)
	r.bytes(m.Size, m.Allocated, m.Slack, m.Offline)
}

// copyReader is the text of a COPY of n rows.
type copyReader struct {
	columns, n, next int
	row              func(i int, r *copyRow)
	made             copyRow
	pending          []byte
}

const copyChunk = 64 << 10

// newCopyReader makes the rows while they are read; row makes the one of index i.
func newCopyReader(columns, n int, row func(i int, r *copyRow)) *copyReader {
	const header = "PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" // signature, flags, no extension
	return &copyReader{columns: columns, n: n, row: row, pending: []byte(header)}
}

// Read is called by pgx.
func (c *copyReader) Read(p []byte) (int, error) {
	if len(c.pending) == 0 {
		c.fill()
	}
	if len(c.pending) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.pending)
	c.pending = c.pending[n:]
	return n, nil
}

// fill makes the next rows, and the trailer after the last.
func (c *copyReader) fill() {
	c.made.buf = c.made.buf[:0]
	for len(c.made.buf) < copyChunk && c.next < c.n {
		c.made.begin(c.columns)
		c.row(c.next, &c.made)
		c.next++
	}
	if len(c.made.buf) < copyChunk && c.next == c.n {
		c.made.buf = append(c.made.buf, 0xff, 0xff)
		c.next++
	}
	c.pending = c.made.buf
}
