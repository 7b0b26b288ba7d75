package report

import (
	"math/big"

	"fstally/internal/usage"
)

// Change is how one measure went from an earlier scan to a later one. Where
// either value is unknown there is no Change: a nil one stands for "unknown".
type Change struct {
	By       usage.Measure
	From, To usage.Measures
}

// Diff returns To - From exactly; it is negative where the value shrank.
func (c *Change) Diff() *big.Int {
	return new(big.Int).Sub(c.By.Of(c.To).Big(), c.By.Of(c.From).Big())
}

// Sign returns -1, 0 or 1 as the value shrank, stayed or grew.
func (c *Change) Sign() int { return c.By.Of(c.To).Cmp(c.By.Of(c.From)) }

// New reports a value that was 0 and no longer is.
func (c *Change) New() bool { return c.By.Of(c.From).IsZero() && c.Sign() > 0 }

// Share returns the change relative to From, such as 0.021 or -0.5. It reports
// false where From is 0: growth from nothing has no percentage.
func (c *Change) Share() (share float64, ok bool) {
	from := c.By.Of(c.From)
	if from.IsZero() {
		return 0, false
	}
	diff, _ := new(big.Float).SetInt(c.Diff()).Float64()
	return diff / from.Float64(), true
}

// Format shows the signed difference, such as "+6.1 TiB", "−31 TiB" (with a
// real minus sign) or "0 B".
func (c *Change) Format() string { return c.signed(c.By.Format) }

// Exact shows every digit of the signed difference with its unit.
func (c *Change) Exact() string { return c.signed(c.By.Exact) }

func (c *Change) signed(format func(usage.Measures) string) string {
	switch c.Sign() {
	case 1:
		return "+" + format(c.To.Sub(c.From))
	case -1:
		return "−" + format(c.From.Sub(c.To))
	default:
		return format(usage.Measures{})
	}
}

// TopChanges holds the changes of a Top since an earlier scan.
type TopChanges struct {
	Items  []*Change // in the order of Top.Items; nil where unknown
	Others *Change   // nil where unknown or where there are no others
	Total  *Change
}

// ChangesSince compares the list with an earlier scan: before holds what its
// items had there, total the sum over everything. A key that is missing from
// before is unknown, and so are then the others.
func (t Top) ChangesSince(before map[string]usage.Measures, total usage.Measures) TopChanges {
	changes := TopChanges{
		Items: make([]*Change, len(t.Items)),
		Total: &Change{By: t.By, From: total, To: t.Total},
	}
	var sum usage.Measures
	known := true
	for i, item := range t.Items {
		was, ok := before[item.Key]
		if !ok {
			known = false
			continue
		}
		sum.Add(was)
		changes.Items[i] = &Change{By: t.By, From: was, To: item.Measures}
	}
	if t.Others != nil && known {
		changes.Others = &Change{By: t.By, From: total.Sub(sum), To: t.Others.Measures}
	}
	return changes
}
