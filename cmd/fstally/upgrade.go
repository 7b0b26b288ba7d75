package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fstally/internal/embeddedpg"
	"fstally/internal/postgres"
	"fstally/internal/usage"
)

type upgradePostgresCmd struct{}

// Help says what no flag does.
func (upgradePostgresCmd) Help() string {
	return `Needs the programs of both versions, side by side, and space for a second copy of
the database. 'fstally serve' must be stopped. All rows are copied into a new data
directory, which then takes the place of the old one; the old one is kept as
postgres/data-VERSION in the data directory, until you delete it. If it is
interrupted, the old data goes on to be used: run it again.`
}

// Run copies the store into a Postgres of the newest version.
func (upgradePostgresCmd) Run(ctx context.Context, a *app) error {
	if a.cli.DatabaseURL != "" {
		return usageError{errors.New("upgrade-postgres is for the private Postgres, and FSTALLY_DATABASE_URL or " +
			"--database-url names another: whoever runs that one upgrades it, with pg_upgrade or pg_dump and pg_restore")}
	}
	if !embeddedpg.HasData(a.cli.DataDir) {
		return a.noData()
	}
	line := newProgressLine(a.stderr, 0)
	began := time.Now()
	var left []string
	var report postgres.RestoreReport
	done, err := embeddedpg.Rebuild(ctx, a.postgresConfig(), embeddedpg.Rebuilding{
		OnlyNewer: true,
		Fill: func(ctx context.Context, from, to string) error {
			size, err := postgres.DatabaseBytes(ctx, from)
			if err != nil {
				return err
			}
			if err := a.checkSpace(size); err != nil {
				return err
			}
			var backup postgres.BackupReport
			backup, report, err = postgres.Copy(ctx, from, to, version, a.log, func(rows int64) {
				line.print(fmt.Sprintf("%s of rows, from a database of %s with indexes, %s", formatBytes(rows), formatBytes(size),
					usage.FormatDuration(time.Since(began))))
			})
			line.end()
			left = append(backup.LeftOut, report.LeftOut...) //nolint:gocritic // appendAssign: both are given up
			return err
		},
	})
	if errors.Is(err, embeddedpg.ErrNewest) {
		_, err = fmt.Fprintf(a.stdout, "Nothing to do: %v.\n", err)
		return err
	}
	if err != nil {
		return databaseError{fmt.Errorf("upgrade the private Postgres: %w", err)}
	}
	a.warnLeftOut("the new data directory", left)
	if _, err := fmt.Fprintf(a.stdout, "Copied %s rows of %d tables from Postgres %d to Postgres %d in %s.\n",
		usage.GroupDigits(fmt.Sprint(report.Rows)), report.Tables, done.From, done.To,
		usage.FormatDuration(time.Since(began))); err != nil {
		return err
	}
	return a.tellKept(done)
}
