package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"fstally/internal/embeddedpg"
	"fstally/internal/postgres"
	"fstally/internal/usage"
)

// stopTimeout bounds the end of the private Postgres, which writes out what it
// has in memory.
const stopTimeout = time.Minute

// supervisorCommand is the hidden command that package embeddedpg starts.
const supervisorCommand = "postgres-supervisor"

type postgresSupervisorCmd struct{}

// Run is the child process that owns the private Postgres.
func (postgresSupervisorCmd) Run(ctx context.Context, a *app) error {
	return embeddedpg.Supervise(ctx, a.stdin, a.stdout)
}

// database is an open store, and the private Postgres under it if we run it.
type database struct {
	*postgres.Store
	url       string
	server    *embeddedpg.Server // nil where somebody else runs the Postgres
	restarted bool
}

// Close closes the store and stops the Postgres under it.
func (d *database) Close(ctx context.Context) error {
	if d.Store != nil {
		d.Store.Close()
	}
	if d.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	return d.server.Stop(ctx)
}

// openToServe starts the private Postgres unless another database is named,
// and refuses when another fstally runs it.
func (a *app) openToServe(ctx context.Context) (*database, error) {
	if a.cli.DatabaseURL != "" {
		return a.open(ctx, a.cli.DatabaseURL, nil)
	}
	server, err := a.startPostgres(ctx)
	if err != nil {
		return nil, databaseError{err}
	}
	return a.open(ctx, server.URL(), server)
}

// openToUse is for commands that come and go: they share the Postgres of a
// running fstally serve.
func (a *app) openToUse(ctx context.Context) (*database, error) {
	if a.cli.DatabaseURL != "" {
		return a.open(ctx, a.cli.DatabaseURL, nil)
	}
	url, err := embeddedpg.Running(a.cli.DataDir)
	if errors.Is(err, embeddedpg.ErrNotRunning) {
		return a.openToServe(ctx)
	}
	if err != nil {
		return nil, databaseError{err}
	}
	return a.open(ctx, url, nil)
}

func (a *app) startPostgres(ctx context.Context) (*embeddedpg.Server, error) {
	return embeddedpg.Start(ctx, a.postgresConfig())
}

func (a *app) postgresConfig() embeddedpg.Config {
	return embeddedpg.Config{
		Dir:           a.cli.DataDir,
		AllowDownload: a.cli.AllowDownload,
		// It has no environment that would tell it the data directory.
		Supervisor: []string{a.executable, supervisorCommand, "--data-dir", a.cli.DataDir},
		Logger:     a.log,
	}
}

// minUptime is how long the private Postgres must have run to be worth another
// start: what ends it sooner will end it again.
const minUptime = time.Minute

// keepPostgres starts the private Postgres again when it ends, until ctx does.
// The store and what uses it wait and go on.
func (a *app) keepPostgres(ctx context.Context, d *database) error {
	for d.server != nil {
		started := time.Now()
		select {
		case <-ctx.Done():
			return nil
		case <-d.server.Done():
		}
		err := d.server.Err()
		if time.Since(started) < minUptime && d.restarted {
			return databaseError{fmt.Errorf("the private Postgres does not keep running: %w", err)}
		}
		a.log.ErrorContext(ctx, "the private Postgres has ended; it is started again", "reason", err)
		url := d.server.URL()
		server, err := a.startPostgres(ctx)
		if err != nil {
			return databaseError{err}
		}
		d.server, d.restarted = server, true
		if server.URL() != url { // its socket had to move: the store would not find it
			return databaseError{errors.New("the private Postgres has another address now: start fstally again")}
		}
	}
	return nil
}

// open migrates and opens the store. On failure it stops the server.
func (a *app) open(ctx context.Context, url string, server *embeddedpg.Server) (*database, error) {
	d := &database{url: url, server: server}
	err := postgres.Migrate(ctx, url, a.log)
	if err == nil {
		d.Store, err = postgres.Open(ctx, url, a.storeOptions())
	}
	if err != nil {
		if a.cli.DatabaseURL != "" && errors.Is(err, usage.ErrUnavailable) {
			err = fmt.Errorf("%w (check FSTALLY_DATABASE_URL, and that this server runs and lets you in)", err)
		}
		return nil, errors.Join(databaseError{err}, d.Close(ctx))
	}
	return d, nil
}

func (a *app) storeOptions() postgres.Options {
	return postgres.Options{
		Location: a.location, Logger: a.log, Attempts: max(1, a.cli.Attempts), RetryAfter: a.cli.RetryAfter,
	}
}

// use opens the store for the time of f.
func (a *app) use(ctx context.Context, f func(*database) error) (err error) {
	d, err := a.openToUse(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close(ctx)) }()
	return f(d)
}

type migrateCmd struct{}

// Run migrates, which opening the store does.
func (migrateCmd) Run(ctx context.Context, a *app) error {
	return a.use(ctx, func(*database) error {
		_, err := fmt.Fprintln(a.stdout, "The database is at the version of this program.")
		return err
	})
}

// makeDataDir makes the data directory, which others may pass through (the
// private Postgres of root has another user) but not list.
func (a *app) makeDataDir() error {
	if err := os.MkdirAll(a.cli.DataDir, 0o711); err != nil { //nolint:gosec // what is private in it says so itself
		return fmt.Errorf("make the data directory: %w", err)
	}
	return nil
}
