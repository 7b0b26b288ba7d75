//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
)

// memoryTable prints the peak memory of scans of more and more files. The tree is the
// one of mdtest with attributes as in life, so that the tables of a scan, which grow
// with what is distinct, are the same from one row to the next.
func (o options) memoryTable(ctx context.Context, out, progress io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "entries\tpeak MiB\t \t")
	for _, scale := range []float64{0.05, 0.5} { // of 2,097,152 files
		p := o.planter()
		p.scale = scale
		p.dir = o.dir + fmt.Sprintf("/memory-%g", scale)
		tree, err := p.tree(ctx, shapes()[0], manners()[0], func(what string) { _, _ = fmt.Fprintln(progress, what) })
		if err != nil {
			return err
		}
		for _, engine := range o.engines {
			scan := measured{program: fstallyScan(o.fstally, engine)}
			entries, err := scan.program.count(ctx, tree)
			if err != nil {
				return err
			}
			for range o.n {
				s, err := scan.program.run(ctx, tree, nil)
				if err != nil {
					return err
				}
				scan.samples = append(scan.samples, s)
			}
			_, _ = fmt.Fprintf(table, "%d\t%d\t\t  %s\n", entries, scan.peak()>>20, scan.program.name)
		}
	}
	return table.Flush()
}
