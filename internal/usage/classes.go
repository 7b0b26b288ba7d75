package usage

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// SizeBucket is one of the half-octave buckets of the fine histogram: bucket i
// holds what is over the bound of i-1 and up to BucketBound(i), inclusive.
type SizeBucket uint8

// SizeBuckets is their number: bounds 0, 1, 2, 3, 4, 6, 8, 12, ... 2^63.
const SizeBuckets = 127

// BucketBound returns the inclusive upper bound of bucket b in bytes; the last,
// 2^63, is shown as the largest file size, 2^63-1.
func BucketBound(b SizeBucket) int64 {
	switch {
	case b <= 2:
		return int64(b)
	case b >= SizeBuckets-1:
		return math.MaxInt64
	case b%2 == 0: // 2, 4, 8 ...
		return 1 << (b / 2)
	default: // 3, 6, 12 ...
		return 3 << (b/2 - 1)
	}
}

// BucketOf returns the bucket of n bytes.
func BucketOf(n Bytes) SizeBucket {
	if n.hi != 0 || n.lo > math.MaxInt64 {
		return SizeBuckets - 1
	}
	if n.lo <= 2 {
		return SizeBucket(n.lo)
	}
	k := bits.Len64(n.lo - 1) // 2^(k-1) < n <= 2^k
	if n.lo <= 3<<(k-2) {
		return SizeBucket(2*k - 1)
	}
	return SizeBucket(2 * k)
}

// SizeClass is one of the five coarse classes by size, or SizeNotFile.
type SizeClass uint8

// SizeNotFile is the class of entries that are not regular files.
const SizeNotFile SizeClass = 5

// SizeClasses are the four inclusive upper bounds, in bytes, that cut the five
// classes. They are bounds of size buckets, ascending, and are kept with each scan.
type SizeClasses [4]int64

// DefaultSizeClasses come from the geometry of PixStor's file system: data of
// files up to about 3 KiB lives in the 4 KiB inode, 32 KiB is a sub-block and
// 8 MiB a block.
func DefaultSizeClasses() SizeClasses { return SizeClasses{3 << 10, 32 << 10, 8 << 20, 1 << 30} }

// Validate reports bounds that do not ascend or are no bounds of buckets.
func (c SizeClasses) Validate() error {
	for i, bound := range c {
		if i > 0 && bound <= c[i-1] {
			return fmt.Errorf("size classes %v: bounds must ascend", c)
		}
		if bound < 0 || BucketBound(BucketOf(ByteCount(bound))) != bound {
			return fmt.Errorf("size classes %v: %d must be 2^n or 3*2^n", c, bound)
		}
	}
	return nil
}

// Of returns the class of a regular file of n bytes.
func (c SizeClasses) Of(n int64) SizeClass {
	for i, bound := range c {
		if n <= bound {
			return SizeClass(i)
		}
	}
	return SizeClass(len(c))
}

// Key returns the name of the class in addresses and the API: its upper bound
// in bytes, "over" for the last, NotFiles for SizeNotFile. Unlike a number, it
// means the same in two scans with other bounds.
func (c SizeClasses) Key(s SizeClass) string {
	switch {
	case int(s) < len(c):
		return fmt.Sprint(c[s])
	case int(s) == len(c):
		return "over"
	default:
		return NotFiles
	}
}

// Label returns what a person reads.
func (c SizeClasses) Label(s SizeClass) string {
	switch {
	case s == 0:
		return "up to " + FormatBytes(ByteCount(c[0]))
	case int(s) < len(c):
		return FormatBytes(ByteCount(c[s-1])) + " to " + FormatBytes(ByteCount(c[s]))
	case int(s) == len(c):
		return "over " + FormatBytes(ByteCount(c[len(c)-1]))
	default:
		return NotFiles
	}
}

// Parse reads a Key of these classes.
func (c SizeClasses) Parse(key string) (SizeClass, error) {
	var keys []string
	for s := SizeClass(0); s <= SizeNotFile; s++ {
		keys = append(keys, c.Key(s))
	}
	if i := slices.Index(keys, key); i >= 0 {
		return SizeClass(i), nil
	}
	return 0, fmt.Errorf("%q is not a size class of this scan: use one of %q", key, keys)
}

// AgeClass is one of the classes by time since mtime or atime.
type AgeClass uint8

// The age classes.
const (
	Age7Days AgeClass = iota
	Age30Days
	Age90Days
	Age180Days
	Age1Year
	Age2Years
	Age5Years
	AgeOlder
	AgeFuture  // a time after the start of the scan
	AgeNotFile // entries that are not regular files
	AgeClasses = int(AgeNotFile) + 1
)

// ageTable holds days, key and label of each class. A year has 365 days.
//
//nolint:gochecknoglobals // a table that is only read
var ageTable = [AgeClasses]struct {
	days       int64
	key, label string
}{
	{7, "7d", "up to 7 days"}, {30, "30d", "7 to 30 days"}, {90, "90d", "30 to 90 days"},
	{180, "180d", "90 to 180 days"}, {365, "1y", "180 days to 1 year"}, {730, "2y", "1 to 2 years"},
	{1825, "5y", "2 to 5 years"}, {0, "older", "over 5 years"}, {0, "future", "in the future"},
	{0, NotFiles, NotFiles},
}

// AgeOf returns the class of a file whose time is t in a scan that started at
// start, both in seconds since 1970. Any t is valid.
func AgeOf(start, t int64) AgeClass {
	a := AgesFrom(start)
	return a.Of(t)
}

// Ages is AgeOf for many times of one scan.
type Ages struct {
	start int64
	since [AgeOlder]int64 // the earliest time of each class
}

// AgesFrom returns the ages in a scan that started at start, in seconds since 1970.
func AgesFrom(start int64) Ages {
	a := Ages{start: start}
	for c := range a.since {
		a.since[c] = max(start, math.MinInt64+ageTable[c].days*86400) - ageTable[c].days*86400
	}
	return a
}

// Of returns the class of a file whose time is t, in seconds since 1970. Any t is
// valid. The times of neighbours are in no order, so a branch for each class would
// be mispredicted more often than the comparisons cost.
func (a *Ages) Of(t int64) AgeClass {
	if t > a.start {
		return AgeFuture
	}
	s := &a.since
	return one(t < s[0]) + one(t < s[1]) + one(t < s[2]) + one(t < s[3]) + one(t < s[4]) + one(t < s[5]) + one(t < s[6])
}

// one is 1 for true; the compiler makes no branch of it.
func one(b bool) AgeClass {
	if b {
		return 1
	}
	return 0
}

// Key returns the name of the class in addresses and the API.
func (a AgeClass) Key() string { return ageTable[min(a, AgeNotFile)].key }

// Label returns what a person reads.
func (a AgeClass) Label() string { return ageTable[min(a, AgeNotFile)].label }

// ParseAgeClass reads a Key.
func ParseAgeClass(key string) (AgeClass, error) {
	var keys []string
	for c := Age7Days; c <= AgeNotFile; c++ {
		if c.Key() == key {
			return c, nil
		}
		keys = append(keys, c.Key())
	}
	return 0, fmt.Errorf("%q is not an age class: use one of %q", key, keys)
}
