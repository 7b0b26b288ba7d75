package usage

import (
	"fmt"
	"math/big"
	"math/bits"
)

// Bytes is an unsigned 128-bit number of bytes. Two files of the largest size
// that a file system allows (2^63-1) already overflow an int64 sum; 2^64 of
// them do not overflow Bytes. The zero value is 0.
type Bytes struct{ hi, lo uint64 }

// MaxBytes returns the largest value that the store can hold: numeric(39,0) holds
// every 128-bit number.
func MaxBytes() Bytes { return Bytes{^uint64(0), ^uint64(0)} }

// ByteCount returns n as Bytes; a negative n, which only a broken file system
// reports, counts as 0.
func ByteCount(n int64) Bytes {
	if n < 0 {
		return Bytes{}
	}
	return Bytes{lo: uint64(n)}
}

// BytesFromWords returns hi*2^64 + lo.
func BytesFromWords(hi, lo uint64) Bytes { return Bytes{hi, lo} }

// Words returns the upper and the lower 64 bits of b.
func (b Bytes) Words() (hi, lo uint64) { return b.hi, b.lo }

// Add returns b + c. A sum beyond 2^128-1 saturates at MaxBytes.
func (b Bytes) Add(c Bytes) Bytes {
	lo, carry := bits.Add64(b.lo, c.lo, 0)
	hi, carry := bits.Add64(b.hi, c.hi, carry)
	if carry != 0 {
		return MaxBytes()
	}
	return Bytes{hi, lo}
}

// Sub returns b - c, or 0 where c is larger.
func (b Bytes) Sub(c Bytes) Bytes {
	lo, borrow := bits.Sub64(b.lo, c.lo, 0)
	hi, borrow := bits.Sub64(b.hi, c.hi, borrow)
	if borrow != 0 {
		return Bytes{}
	}
	return Bytes{hi, lo}
}

// Cmp returns -1, 0 or 1 as b is less than, equal to or greater than c.
func (b Bytes) Cmp(c Bytes) int {
	switch {
	case b == c:
		return 0
	case b.hi < c.hi || b.hi == c.hi && b.lo < c.lo:
		return -1
	default:
		return 1
	}
}

// Equal reports b == c; go-cmp looks for it.
func (b Bytes) Equal(c Bytes) bool { return b == c }

// IsZero reports whether b is 0.
func (b Bytes) IsZero() bool { return b == Bytes{} }

// Float64 returns the nearest float64, for shares and charts; never for sums.
func (b Bytes) Float64() float64 { return float64(b.hi)*(1<<64) + float64(b.lo) }

// Big returns b as a new big.Int.
func (b Bytes) Big() *big.Int {
	n := new(big.Int).SetUint64(b.hi)
	n.Lsh(n, 64)
	return n.Or(n, new(big.Int).SetUint64(b.lo))
}

// BytesFromBig returns n as Bytes, or an error when n is negative or needs more
// than 128 bits.
func BytesFromBig(n *big.Int) (Bytes, error) {
	if n.Sign() < 0 || n.BitLen() > 128 {
		return Bytes{}, fmt.Errorf("%s is not an unsigned 128-bit number", n)
	}
	lo := new(big.Int).And(n, new(big.Int).SetUint64(^uint64(0)))
	return Bytes{new(big.Int).Rsh(n, 64).Uint64(), lo.Uint64()}, nil
}

// ParseBytes reads a number of bytes in plain decimal digits.
func ParseBytes(s string) (Bytes, error) {
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return Bytes{}, fmt.Errorf("%q is not a number of bytes", s)
	}
	return BytesFromBig(n)
}

// String returns the exact decimal digits.
func (b Bytes) String() string {
	if b.hi == 0 {
		return fmt.Sprint(b.lo)
	}
	return b.Big().String()
}

// MarshalJSON writes the exact digits as a JSON integer, which may exceed 2^53.
func (b Bytes) MarshalJSON() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalJSON reads a JSON integer without loss.
func (b *Bytes) UnmarshalJSON(text []byte) error {
	n, err := ParseBytes(string(text))
	if err != nil {
		return err
	}
	*b = n
	return nil
}
