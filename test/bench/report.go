package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// budget is what a page may take at the 99th percentile.
const budget = 200 * time.Millisecond

// times are durations of the same thing, done again and again.
type times []time.Duration

// of returns the duration that a part of the times, 0 to 1, does not exceed.
func (t times) of(part float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t))
	return sorted[min(len(sorted)-1, int(part*float64(len(sorted))))]
}

// result is what is known of one address.
type result struct {
	path         string
	bytes        int
	statements   int
	transactions int
	cold         time.Duration
	warm, plain  times
}

// report prints a table and returns how many are over the budget.
func report(w io.Writer, results []result) (over int, err error) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "cold\tp50\tp99\tpgx p50\tpgx p99\tratio\tKiB\tstatements\ttransactions\t \t")
	for _, r := range results {
		mark := ""
		if r.warm.of(0.99) > budget {
			mark = "OVER"
			over++
		}
		ratio := "-"
		if p := r.plain.of(0.5); p > 0 {
			ratio = fmt.Sprintf("%.1f", float64(r.warm.of(0.5))/float64(p))
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%.1f\t%d\t%d\t%s\t  %s\n",
			ms(r.cold), ms(r.warm.of(0.5)), ms(r.warm.of(0.99)), ms(r.plain.of(0.5)), ms(r.plain.of(0.99)),
			ratio, float64(r.bytes)/1024, r.statements, r.transactions, mark, r.path)
	}
	if err := table.Flush(); err != nil {
		return over, err
	}
	_, err = fmt.Fprintf(w, "Times in ms; ratio: p50 to that of plain pgx. "+
		"%d of %d addresses are over the budget of %s at the 99th percentile.\n", over, len(results), budget)
	return over, err
}

func ms(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(d.Microseconds())/1000)
}
