package component

import (
	"math/big"

	"fstally/internal/usage"
)

// Ranking is a top-N list of one dimension with the rest of the whole.
type Ranking struct {
	Dimension usage.Dimension
	By        usage.Measure // the order, and the measure that is shown
	Rows      []RankedRow   // in the order of usage.Measure.Compare
	Others    *Others       // nil when Rows are all there is
	Total     usage.Measures
	Count     int64 // values of the dimension in the scan, Rows included
	// Compared are the earlier scans that Changes refer to, such as yesterday's.
	Compared []Comparison
}

// Comparison is an earlier scan that a ranking is compared with.
type Comparison struct {
	Label string     // a span of time, short: "1 day", "7 days"
	Scan  usage.Scan // the latest published one that is at least so old
}

// RankedRow is one value of the ranking.
type RankedRow struct {
	usage.Row
	Share float64 // of the total, 0..1
	// Changes since each of Ranking.Compared, in bytes or counts of By; a nil
	// one is unknown, which is not 0.
	Changes []*big.Int
	// Nameless says that the host was asked and knows no account of this id.
	Nameless bool
}

// Others sums what the rows of a ranking leave.
type Others struct {
	Count int64 // values
	usage.Measures
	Share   float64    // of the total, 0..1
	Changes []*big.Int // as in RankedRow
}
