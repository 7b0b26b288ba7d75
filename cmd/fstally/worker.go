package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"fstally/internal/embeddedpg"
	"fstally/internal/postgres"
	"fstally/internal/usage"
)

type workerCmd struct {
	Name string `arg:"" help:"Name of this worker, as in 'fstally fs set FS --worker NAME'."`

	FS     []string `name:"fs" placeholder:"NAME" help:"Scan only these file systems of those that are bound to it; repeat for more."`
	Scans  int      `default:"4" help:"How many file systems are scanned at a time."`
	Grants string   `placeholder:"ROLE" help:"Do nothing but print the SQL that gives this role of the database what a worker needs."`
}

// Run works until ctx ends.
func (c workerCmd) Run(ctx context.Context, a *app) error {
	if err := usage.ValidateWorker(c.Name); err != nil {
		return usageError{err}
	}
	if c.Scans < 1 {
		return usageError{fmt.Errorf("--scans %d: give at least 1", c.Scans)}
	}
	if err := a.makeDataDir(); err != nil {
		return err
	}
	d, err := a.openToWork(ctx)
	if err != nil {
		return err
	}
	defer d.Store.Close()
	if c.Grants != "" {
		grants, err := d.WorkerGrants(ctx, c.Grants)
		if err == nil {
			_, err = io.WriteString(a.stdout, grants)
		}
		return err
	}
	bound, err := c.bound(ctx, d.Store)
	if err != nil {
		return err
	}
	supervisor, err := a.supervisor(d)
	if err != nil {
		return err
	}
	supervisor.Worker, supervisor.Scans, supervisor.Allow = c.Name, c.Scans, c.allow
	_, _ = fmt.Fprintf(a.stdout, "fstally worker %s is ready. Bound to it: %s\n", c.Name,
		cmp.Or(strings.Join(bound, ", "), "nothing yet"))
	if err := supervisor.Run(ctx); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(a.stdout, "fstally has stopped.")
	return nil
}

// bound returns the names of the file systems that this worker scans; an error where
// one that is asked for is not bound to it.
func (c workerCmd) bound(ctx context.Context, store *postgres.Store) (names []string, err error) {
	list, err := store.FileSystems(ctx, usage.Everything())
	if err != nil {
		return nil, err
	}
	for _, fs := range list {
		if fs.Worker == c.Name && c.allow(fs) == nil {
			names = append(names, fs.Name)
		}
	}
	for _, name := range c.FS {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("%s is not bound to the worker %s: run 'fstally fs set %s --worker %s' "+
				"where fstally serve runs (%w)", name, c.Name, name, c.Name, usage.ErrNotFound)
		}
	}
	return names, nil
}

// allow refuses what is bound to this worker without its consent.
func (c workerCmd) allow(fs usage.FileSystem) error {
	if len(c.FS) > 0 && !slices.Contains(c.FS, fs.Name) {
		return fmt.Errorf("the worker %s was not started for %s: add --fs %s there, or bind it elsewhere",
			c.Name, fs.Name, fs.Name)
	}
	return nil
}

// openToWork opens a store that somebody else serves, and migrates.
func (a *app) openToWork(ctx context.Context) (*database, error) {
	url := a.cli.DatabaseURL
	if url == "" {
		var err error
		url, err = embeddedpg.Running(a.cli.DataDir)
		if errors.Is(err, embeddedpg.ErrNotRunning) {
			err = fmt.Errorf("%w: set FSTALLY_DATABASE_URL to the database of fstally serve", err)
		}
		if err != nil {
			return nil, databaseError{err}
		}
	}
	store, err := postgres.Open(ctx, url, a.storeOptions())
	if err != nil {
		return nil, databaseError{err}
	}
	return &database{Store: store, url: url}, nil
}
