package component

import (
	"strconv"
	"time"

	"fstally/internal/usage"
)

// DimensionWord is what a person calls one value of a dimension.
func DimensionWord(d usage.Dimension) string {
	switch d {
	case usage.Type:
		return "file type"
	case usage.SizeClassDim:
		return "size class"
	case usage.AgeClassDim:
		return "age class"
	default:
		return string(d)
	}
}

// DimensionWords is the plural of DimensionWord.
func DimensionWords(d usage.Dimension) string {
	switch d {
	case usage.Category:
		return "categories"
	case usage.SizeClassDim, usage.AgeClassDim:
		return DimensionWord(d) + "es"
	default:
		return DimensionWord(d) + "s"
	}
}

// Plural joins a count with a word, exact to the digit: "1 file", "3,201 files".
func Plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}

// Count shows every digit of a count, grouped.
func Count(n int64) string { return usage.GroupDigits(strconv.FormatInt(n, 10)) }

// ExactBytes shows every digit of a number of bytes, with the unit.
func ExactBytes(b usage.Bytes) string { return usage.GroupDigits(b.String()) + " bytes" }

// ExactCount is what stands in the title of a shortened count.
func ExactCount(n int64, words string) string { return Count(n) + " " + words }

// DayTime shows a time to the minute without its zone.
func DayTime(t time.Time) string { return t.Format("Mon 2 Jan 2006, 15:04") }

// Day shows the date of a time.
func Day(t time.Time) string { return t.Format("2 Jan 2006") }

// Span shows a length of time in the one unit that suits a forecast or an age:
// "12 days", "9 months", "2.1 years".
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	days := d.Hours() / 24
	switch {
	case d < 2*day:
		return usage.FormatDuration(d)
	case days < 60:
		return strconv.FormatFloat(days, 'f', 0, 64) + " days"
	case days < 700:
		return strconv.FormatFloat(days/(365.25/12), 'f', 0, 64) + " months"
	default:
		return strconv.FormatFloat(days/365.25, 'f', 1, 64) + " years"
	}
}

// ShownName is how a row is called where there is little room: an id without a
// name says what it is.
func ShownName(d usage.Dimension, row usage.Row) string {
	if !Nameless(d, row) {
		return row.Name
	}
	if d == usage.User {
		return "uid " + row.Key
	}
	return "gid " + row.Key
}

// Nameless reports a user or group for which the host that scanned gave no name.
func Nameless(d usage.Dimension, row usage.Row) bool {
	return (d == usage.User || d == usage.Group) && row.Name == row.Key
}
