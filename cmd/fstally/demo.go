package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"runtime/debug"
	"time"

	"fstally/internal/demo"
	"fstally/internal/postgres"
	"fstally/internal/usage"
)

type demoCmd struct {
	Years float64 `default:"3" placeholder:"N" help:"Years of nightly scans, 0.1 or more. Default: ${default}."`
	Users int     `default:"300" placeholder:"N" help:"Users, 10 or more. The size of the cube grows with them. Default: ${default}."`
	Seed  uint64  `default:"1" placeholder:"N" help:"Another number makes another site. Default: ${default}."`
	Until string  `placeholder:"DATE" help:"The day of the last scan, such as 2026-06-30. Default: today, or yesterday in the early morning."`
	webFlags
}

// Help says what no flag does.
func (demoCmd) Help() string {
	return `The data goes into the folder demo of the data directory, or into the directory
or database that --data-dir or --database-url names on the command line, whose
store must be empty. To look at it again later: fstally serve --data-dir DIR`
}

// Run fills a store of its own and serves it.
func (c demoCmd) Run(ctx context.Context, a *app) error {
	until, err := c.until(a.location)
	if err != nil {
		return usageError{err}
	}
	o := demo.Options{Years: c.Years, Users: c.Users, Seed: c.Seed, Until: until, Location: a.location}
	if err := o.Validate(); err != nil {
		return usageError{err}
	}
	// Never beside real numbers, which are where the environment says.
	if !a.given("database-url") {
		a.cli.DatabaseURL = ""
	}
	if !a.given("data-dir") {
		a.cli.DataDir = filepath.Join(a.cli.DataDir, "demo")
	}
	return c.withStore(ctx, a, func(d *database, listener net.Listener, token string) error {
		if err := a.fillDemo(ctx, d, o); err != nil {
			return err
		}
		return c.serve(ctx, a, d, listener, token, func() error { return nil })
	})
}

// until returns when the last night is over.
func (c demoCmd) until(location *time.Location) (time.Time, error) {
	if c.Until == "" {
		return time.Now(), nil
	}
	day, err := time.ParseInLocation(time.DateOnly, c.Until, location)
	if err != nil {
		return time.Time{}, fmt.Errorf("--until %s: write a day such as 2026-06-30", c.Until)
	}
	return day.Add(12 * time.Hour), nil
}

// gcPercent spends memory, some hundred megabytes, on a demo that is there sooner.
const gcPercent = 400

// fillDemo fills the store. What is invented can be invented again, so that
// nothing waits for the disk.
func (a *app) fillDemo(ctx context.Context, d *database, o demo.Options) error {
	store, err := postgres.Open(ctx, d.url, postgres.Options{Location: a.location, Logger: a.log, AsyncCommit: true})
	if err != nil {
		return databaseError{err}
	}
	defer store.Close()
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	began := time.Now()
	line := newProgressLine(a.stderr, 0)
	_, _ = fmt.Fprintf(a.stdout, "Inventing %g years of nightly scans of two file systems with %d users.\n",
		o.Years, o.Users)
	err = demo.Fill(ctx, store, o, func(done, total int) {
		elapsed := time.Since(began)
		left := time.Duration(float64(elapsed) / float64(done) * float64(total-done))
		line.print(fmt.Sprintf("night %d of %d, %s, about %s to go",
			done, total, usage.FormatDuration(elapsed), usage.FormatDuration(left)))
	})
	line.end()
	if _, full := errors.AsType[*demo.NotEmptyError](err); full {
		return fmt.Errorf("%w; to show what is there: fstally serve --data-dir %s; to make another demo, "+
			"name another directory with --data-dir", err, a.cli.DataDir)
	}
	if err != nil {
		return fmt.Errorf("fill the demo, of which a part is now in %s and of no use: %w", a.cli.DataDir, err)
	}
	// It has no new nights: what is old in it stays what it is made of.
	if err := store.SetRetention(ctx, usage.Retention{}); err != nil {
		return err
	}
	if err := store.Settle(ctx); err != nil {
		return err
	}
	again := a.executable + " serve --data-dir " + a.cli.DataDir
	if a.cli.DatabaseURL != "" {
		again = a.executable + " serve, with the same --database-url"
	}
	_, err = fmt.Fprintf(a.stdout, "Filled in %s. All of it is invented. To look at it again later: %s\n",
		usage.FormatDuration(time.Since(began)), again)
	return err
}
