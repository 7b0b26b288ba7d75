package usage

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

var sizePattern = regexp.MustCompile(`^(\d+(?:\.\d+)?) ?(?:([kmgtpe])(?:ib)?|b)?$`)

// ParseSize reads a number of bytes as people write it and FormatBytes shows it:
// "2GiB", "1.5 GiB", "512M" and "0", in any case. Units are those of IEC, powers of
// 1024. "GB" is refused, as it would mean less.
func ParseSize(text string) (int64, error) {
	m := sizePattern.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if m == nil {
		return 0, fmt.Errorf("%q is not a size: write it such as 2GiB or 512MiB, or in bytes", text)
	}
	factor := int64(1)
	if m[2] != "" {
		factor = 1 << (10 * (1 + strings.Index("kmgtpe", m[2])))
	}
	if n, err := strconv.ParseInt(m[1], 10, 64); err == nil && n <= math.MaxInt64/factor {
		return n * factor, nil
	}
	f, err := strconv.ParseFloat(m[1], 64)
	if err != nil || f*float64(factor) >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is larger than any size", text)
	}
	return int64(f * float64(factor)), nil
}
