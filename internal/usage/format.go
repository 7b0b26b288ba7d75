package usage

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// FormatBytes shows a number of bytes in IEC units with four significant
// characters at most: 5800 is "5.7 KiB". It never rounds up into a unit that
// the number does not reach: 1048575 is "1023.9 KiB".
func FormatBytes(b Bytes) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"}
	i, div := 0, Bytes{lo: 1}
	for i < len(units)-1 {
		next := Bytes{div.hi<<10 | div.lo>>54, div.lo << 10}
		if b.Cmp(next) < 0 {
			break
		}
		i, div = i+1, next
	}
	if i == 0 {
		return b.String() + " B"
	}
	limit := 1023.9
	if i == len(units)-1 {
		limit = math.Inf(1)
	}
	return oneDecimal(b.Float64()/div.Float64(), limit) + " " + units[i]
}

// FormatCount shows a count with k, M, G (10^9) and T, or in full under 10,000.
func FormatCount(n int64) string {
	if n < 10_000 {
		return strconv.FormatInt(n, 10)
	}
	for _, u := range []struct {
		div  float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if float64(n) >= u.div {
			return oneDecimal(float64(n)/u.div, 999.9) + " " + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// oneDecimal shows v with one decimal, at most limit, without a trailing ".0".
func oneDecimal(v, limit float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(min(v, limit), 'f', 1, 64), ".0")
}

// Format shows the measure's value: bytes in IEC units, counts short.
func (m Measure) Format(v Measures) string {
	if m.IsBytes() {
		return FormatBytes(m.Of(v))
	}
	_, n := m.Of(v).Words()
	return FormatCount(int64(n))
}

// Exact shows every digit, grouped, with its unit: "452,998,790,643,712 bytes".
func (m Measure) Exact(v Measures) string {
	unit := string(m)
	if m.IsBytes() {
		unit = "bytes"
	}
	return GroupDigits(m.Of(v).String()) + " " + unit
}

// GroupDigits puts commas between the thousands of plain decimal digits.
func GroupDigits(digits string) string {
	var b strings.Builder
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// FormatShare shows a share in 0..1 as a percentage; what is there but under
// 0.1% is never shown as nothing.
func FormatShare(share float64) string {
	if share > 0 && share < 0.0005 {
		return "<0.1%"
	}
	return fmt.Sprintf("%.1f%%", share*100)
}

// FormatDuration shows a duration with its two largest units: "2 h 11 min".
func FormatDuration(d time.Duration) string {
	day := 24 * time.Hour
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", max(0, d.Milliseconds()))
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	case d < day:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	default:
		return fmt.Sprintf("%d d %d h", d/day, d%day/time.Hour)
	}
}
