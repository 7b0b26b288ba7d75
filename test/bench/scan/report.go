//go:build linux

package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// measured is what is known of one program on one tree.
type measured struct {
	program program
	samples []sample
}

// median returns the middle of what is of each sample.
func (m measured) median(of func(sample) time.Duration) time.Duration {
	var all []time.Duration
	for _, s := range m.samples {
		all = append(all, of(s))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func wall(s sample) time.Duration { return s.wall }
func cpu(s sample) time.Duration  { return s.cpu }

func (m measured) fastest() time.Duration {
	return slices.MinFunc(m.samples, func(a, b sample) int { return int(a.wall - b.wall) }).wall
}

func (m measured) peak() int64 {
	return slices.MaxFunc(m.samples, func(a, b sample) int { return int(a.peak - b.peak) }).peak
}

// report prints the table of one tree.
func report(w io.Writer, title string, all []measured) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintf(w, "\n%s\n", title)
	_, _ = fmt.Fprintln(table, "median s\tbest s\tx cwalk\tx du\tCPU s\tpeak MiB\t \t")
	medians := make(map[string]time.Duration)
	for _, m := range all {
		medians[m.program.name] = m.median(wall)
	}
	ratio := func(took time.Duration, to string) string {
		if medians[to] == 0 {
			return "-"
		}
		return fmt.Sprintf("%.2f", took.Seconds()/medians[to].Seconds())
	}
	for _, m := range all {
		took := m.median(wall)
		_, _ = fmt.Fprintf(table, "%.3f\t%.3f\t%s\t%s\t%.2f\t%d\t\t  %s\n", took.Seconds(), m.fastest().Seconds(),
			ratio(took, yardstick), ratio(took, du), m.median(cpu).Seconds(), m.peak()>>20, m.program.name)
	}
	return table.Flush()
}
