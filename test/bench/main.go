package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"fstally/internal/embeddedpg"
	"fstally/test/bench/routes"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	binary, dataDir string
	n               int
	only            *regexp.Regexp
	long            bool
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&o.binary, "fstally", "bin/fstally", "the program")
	flags.StringVar(&o.dataDir, "data-dir", "", "data directory of a demo; none: one is made and removed")
	flags.IntVar(&o.n, "n", 200, "warm requests per address")
	weeks := flags.Int("retention", 0, "time pages beside a run of retention that drops so many weeks, see retention.go")
	flags.BoolVar(&o.long, "long", false, "with -retention: leave histories as long as they are")
	only := flags.String("only", "", "only addresses that match this expression")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var err error
	if o.only, err = regexp.Compile(*only); err != nil {
		return err
	}
	if o.dataDir == "" {
		dir, err := os.MkdirTemp("", "fstally-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir) //nolint:errcheck // what is left is in a temporary folder
		o.dataDir = filepath.Join(dir, "demo")
		_, _ = fmt.Fprintln(progress, "Filling a demo.")
		p, err := start(ctx, o.binary, "demo", o.dataDir)
		if err != nil {
			return err
		}
		if err := p.stop(); err != nil {
			return err
		}
	}
	if *weeks > 0 {
		return o.retention(ctx, *weeks, out, progress)
	}
	results, err := measureAll(ctx, o, progress)
	if err != nil {
		return err
	}
	_, err = report(out, results)
	return err
}

// measureAll finds out what there is, then measures one address after the other.
func measureAll(ctx context.Context, o options, progress io.Writer) ([]result, error) {
	paths, err := addresses(ctx, o)
	if err != nil {
		return nil, err
	}
	var results []result
	for i, path := range paths {
		if !o.only.MatchString(path) {
			continue
		}
		_, _ = fmt.Fprintf(progress, "%d of %d: %s\n", i+1, len(paths), path)
		r, err := measure(ctx, o, path)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// addresses lists what is measured, and fails where that leaves a route out.
func addresses(ctx context.Context, o options) (paths []string, err error) {
	err = o.serve(ctx, func(p *program) error {
		r, err := o.record(ctx)
		if err != nil {
			return err
		}
		defer r.store.Close()
		if paths, err = requests(ctx, p); err != nil {
			return err
		}
		missing, err := routes.Missing(r.site, paths)
		if err == nil && len(missing) > 0 {
			err = fmt.Errorf("not measured, add them to requests.go: %s", strings.Join(missing, " "))
		}
		return err
	})
	return paths, err
}

// serve starts the program for the time of f.
func (o options) serve(ctx context.Context, f func(*program) error) error {
	p, err := start(ctx, o.binary, "serve", o.dataDir)
	if err != nil {
		return err
	}
	return errors.Join(f(p), p.stop())
}

// record opens a recorded site over the store of a running program.
func (o options) record(ctx context.Context) (*recorded, error) {
	database, err := embeddedpg.Running(o.dataDir)
	if err != nil {
		return nil, err
	}
	return newRecorded(ctx, database)
}

// measure measures one address in a program that was just started.
func measure(ctx context.Context, o options, path string) (result, error) {
	res := result{path: path}
	header := http.Header{"Accept-Encoding": {"gzip"}}
	err := o.serve(ctx, func(p *program) error {
		timed := func() (time.Duration, error) {
			began := time.Now()
			body, err := p.get(ctx, path, header)
			res.bytes = len(body)
			return time.Since(began), err
		}
		var err error
		if res.cold, err = timed(); err != nil {
			return err
		}
		for range o.n {
			took, err := timed()
			if err != nil {
				return err
			}
			res.warm = append(res.warm, took)
		}
		return res.compare(ctx, o)
	})
	return res, err
}

// compare times plain pgx on the statements of the address.
func (res *result) compare(ctx context.Context, o options) error {
	r, err := o.record(ctx)
	if err != nil {
		return err
	}
	defer r.store.Close()
	list, transactions, err := r.statements(ctx, res.path)
	if err != nil {
		return err
	}
	res.statements, res.transactions = len(list), transactions
	if len(list) == 0 {
		return nil
	}
	conn, err := pgx.Connect(ctx, r.database)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)                          //nolint:errcheck // it only read
	if err := fetch(ctx, conn, list); err != nil { // prepares them
		return err
	}
	for range o.n {
		began := time.Now()
		if err := fetch(ctx, conn, list); err != nil {
			return err
		}
		res.plain = append(res.plain, time.Since(began))
	}
	return nil
}
