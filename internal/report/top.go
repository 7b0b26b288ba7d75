package report

import "fstally/internal/usage"

// Top is the head of a list by one measure, with everything else as Others:
// for every measure, the items and the others sum to Total exactly.
type Top struct {
	Dimension usage.Dimension
	By        usage.Measure
	Items     []Item
	Others    *Others // nil where the items are all there is
	Total     usage.Measures
}

// Item is one value of the dimension.
type Item struct {
	usage.Row
	Share float64 // of Total in By, 0..1; 0 where the total is 0
}

// Others sums every value that is not among the items. It is no value of the
// dimension: a user really called "others" is an item like any other.
type Others struct {
	Count int64 // of values
	usage.Measures
	Share float64 // as in Item
}

// NewTop shapes the rows that a reader returned, in their order.
func NewTop(d usage.Dimension, by usage.Measure, table usage.Table) Top {
	top := Top{Dimension: d, By: by, Total: table.Total, Items: make([]Item, 0, len(table.Rows))}
	var sum usage.Measures
	for _, row := range table.Rows {
		sum.Add(row.Measures)
		top.Items = append(top.Items, Item{Row: row, Share: by.Share(row.Measures, table.Total)})
	}
	if count := table.Count - int64(len(table.Rows)); count > 0 {
		rest := table.Total.Sub(sum)
		top.Others = &Others{Count: count, Measures: rest, Share: by.Share(rest, table.Total)}
	}
	return top
}

// Keys returns the keys of the items, in order.
func (t Top) Keys() []string {
	keys := make([]string, len(t.Items))
	for i, item := range t.Items {
		keys[i] = item.Key
	}
	return keys
}
