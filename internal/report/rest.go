package report

import "fstally/internal/usage"

// Rest returns what the series of a point leave of its total; ok is false where
// one of them is unknown, and so is then the rest.
func Rest(p usage.Point) (rest usage.Measures, ok bool) {
	var sum usage.Measures
	for _, row := range p.Rows {
		if row == nil {
			return usage.Measures{}, false
		}
		sum.Add(*row)
	}
	return p.Total.Sub(sum), true
}
