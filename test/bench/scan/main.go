//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"

	"fstally/internal/usage"
	"fstally/internal/walk"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "scan:", err)
		os.Exit(1)
	}
}

type options struct {
	dir         string
	keep        bool // the trees
	scale       float64
	n           int
	only, tools *regexp.Regexp
	fstally     string
	engines     []string
	cwalk       string
	memory      bool
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	var o options
	flags := flag.NewFlagSet("scan", flag.ContinueOnError)
	flags.StringVar(&o.dir, "dir", "", "directory that keeps the trees for the next time; without one they are removed")
	flags.Float64Var(&o.scale, "scale", 1, "size of the trees: 1 for 2,048 directories of 1,024 files and so on")
	flags.IntVar(&o.n, "n", 5, "runs of each program on each tree")
	flags.StringVar(&o.fstally, "fstally", "bin/fstally", "the program")
	source := flags.String("yardstick", "test/bench/scan/yardstick/cwalk.c", "source of the yardstick")
	engines := flags.String("engines", "auto,fastwalk", "engines of fstally that are measured")
	only := flags.String("only", "", "only trees that match this expression: mdtest/life, flat/random, ...")
	tools := flags.String("tools", "", "beside the yardstick, only programs that match this expression")
	flags.BoolVar(&o.memory, "memory", false, "measure the peak memory of scans instead")
	err := flags.Parse(args)
	if err != nil {
		return err
	}
	o.engines = strings.Split(*engines, ",")
	var onlyErr, toolsErr error
	o.only, onlyErr = regexp.Compile(*only)
	o.tools, toolsErr = regexp.Compile(*tools)
	if err := errors.Join(onlyErr, toolsErr); err != nil {
		return err
	}
	if o.n < 1 || o.scale <= 0 {
		return errors.New("-n and -scale must be above 0")
	}
	scratch, err := os.MkdirTemp("", "fstally-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // what is left is in a temporary folder
	if o.keep = o.dir != ""; !o.keep {
		o.dir = scratch
	}
	if o.cwalk, err = buildYardstick(ctx, *source, scratch); err != nil {
		return err
	}
	if err := o.describe(ctx, out); err != nil {
		return err
	}
	if o.memory {
		return o.memoryTable(ctx, out, progress)
	}
	return o.trees(ctx, out, progress)
}

// planter returns who makes the trees.
func (o options) planter() planter {
	return planter{dir: o.dir, scale: o.scale, own: os.Geteuid() == 0}
}

// describe says where the figures come from.
func (o options) describe(ctx context.Context, out io.Writer) error {
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	mount, err := walk.Inspect(ctx, o.dir)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d cores; trees on %s, warm; cwalk lists and stats with %d threads and sums up nothing\n",
		runtime.NumCPU(), mount.FSType, runtime.NumCPU())
	if !o.planter().own {
		_, _ = fmt.Fprintln(out, "Without the rights of root all files belong to one user and group: "+
			"attributes cannot be varied as they should.")
	}
	return err
}

// trees measures on one tree after the other.
func (o options) trees(ctx context.Context, out, progress io.Writer) error {
	for _, s := range shapes() {
		for _, m := range manners() {
			name := s.name + "/" + m.name
			if !o.only.MatchString(name) {
				continue
			}
			tree, err := o.planter().tree(ctx, s, m, func(what string) { _, _ = fmt.Fprintln(progress, what) })
			if err != nil {
				return err
			}
			if err := o.measure(ctx, name, tree, out, progress); err != nil {
				return err
			}
			if o.keep {
				continue
			}
			if err := os.RemoveAll(tree); err != nil { // there may not be room for all
				return err
			}
		}
	}
	return nil
}

// measure runs all programs on a tree in turns and prints the table.
func (o options) measure(ctx context.Context, name, tree string, out, progress io.Writer) error {
	var all []measured
	var entries int64
	for _, p := range programs(o.cwalk, o.fstally, o.engines) {
		if p.name != yardstick && !o.tools.MatchString(p.name) {
			continue
		}
		_, _ = fmt.Fprintf(progress, "%s: warming up with %s\n", name, p.name)
		n, err := p.count(ctx, tree)
		switch {
		case err != nil:
			return err
		case p.name == yardstick:
			entries = n
		case n >= 0 && n != entries:
			return fmt.Errorf("%s counts %d entries below %s, %s %d", p.name, n, usage.Escape(tree), yardstick, entries)
		}
		all = append(all, measured{program: p})
	}
	for round := range o.n {
		_, _ = fmt.Fprintf(progress, "%s: round %d of %d\n", name, round+1, o.n)
		for i := range all {
			s, err := all[i].program.run(ctx, tree, nil)
			if err != nil {
				return err
			}
			all[i].samples = append(all[i].samples, s)
		}
	}
	return report(out, fmt.Sprintf("%s, %d entries, %d runs of each", name, entries, o.n), all)
}
