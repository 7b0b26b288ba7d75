package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"fstally/internal/embeddedpg"
	"fstally/internal/postgres"
	"fstally/internal/usage"
)

type restoreCmd struct {
	File    string `arg:"" help:"A file of 'fstally backup'; - is standard input."`
	Replace bool   `help:"Put what the file holds in the place of what is stored. The old data is kept aside."`
	Check   bool   `help:"Only read the file to its end, and say whether it is whole."`
}

// Help says what no flag does.
func (restoreCmd) Help() string {
	return `A new private Postgres, of the newest version that is installed, is filled beside
the existing one and then put in its place, so that nothing changes before all has
gone well. 'fstally serve' must be stopped. The data directory of before is kept as
postgres/data-VERSION in the data directory, until you delete it.`
}

// Run restores, or only checks.
func (c restoreCmd) Run(ctx context.Context, a *app) error {
	if !c.Check && a.cli.DatabaseURL != "" {
		return usageError{errors.New("restore fills the private Postgres, and FSTALLY_DATABASE_URL or --database-url " +
			"names another: leave it out, or restore that one with its own tools, such as pg_restore")}
	}
	in, size, err := c.open(a)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // read only
	source := &countingReader{r: in}
	b, err := postgres.OpenBackup(source)
	if err != nil {
		return fmt.Errorf("%s: %w", c.name(), err)
	}
	defer b.Close()
	line := newProgressLine(a.stderr, 0)
	began := time.Now()
	progress := func(rows int64) {
		text := formatBytes(rows) + " of rows, " + usage.FormatDuration(time.Since(began))
		if size > 0 {
			text += fmt.Sprintf(", %d%% of the file", 100*source.read/size)
		}
		line.print(text)
	}
	if c.Check {
		tables, rows, err := b.Check(progress)
		line.end()
		if err != nil {
			return fmt.Errorf("%s: %w", c.name(), err)
		}
		_, err = fmt.Fprintf(a.stdout, "%s is whole: %s rows of %d tables, as of %s.\n", c.name(),
			usage.GroupDigits(fmt.Sprint(rows)), tables, b.Created().In(a.location).Format(time.RFC1123))
		return err
	}

	var report postgres.RestoreReport
	done, err := embeddedpg.Rebuild(ctx, a.postgresConfig(), embeddedpg.Rebuilding{
		IgnoreOld: c.Replace,
		Fill: func(ctx context.Context, from, to string) error {
			if err := refuseFull(ctx, a, from); err != nil {
				return err
			}
			if err := a.checkSpace(b.DatabaseBytes()); err != nil {
				return err
			}
			var err error
			report, err = postgres.Restore(ctx, to, b, a.log, progress)
			line.end()
			return err
		},
	})
	if err != nil {
		return databaseError{fmt.Errorf("restore %s: %w", c.name(), err)}
	}
	a.warnLeftOut("the restored data", report.LeftOut)
	if _, err := fmt.Fprintf(a.stdout, "Restored %s rows of %d tables, as of %s, into Postgres %d in %s.\n",
		usage.GroupDigits(fmt.Sprint(report.Rows)), report.Tables, b.Created().In(a.location).Format(time.RFC1123),
		done.To, a.cli.DataDir); err != nil {
		return err
	}
	return a.tellKept(done)
}

func (c restoreCmd) name() string {
	if c.File == "-" {
		return "standard input"
	}
	return c.File
}

// open returns the backup and its size, 0 if that is not known.
func (c restoreCmd) open(a *app) (io.ReadCloser, int64, error) {
	if c.File == "-" {
		return io.NopCloser(a.stdin), 0, nil
	}
	f, err := os.Open(c.File)
	if err != nil {
		return nil, 0, usageError{fmt.Errorf("open the backup: %w", err)}
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a directory", c.File)
	}
	if err != nil {
		return nil, 0, errors.Join(usageError{err}, f.Close())
	}
	return f, info.Size(), nil
}

// notEmptyError is the refusal to restore over what is there.
type notEmptyError struct{ dataDir string }

func (e *notEmptyError) Error() string {
	return fmt.Sprintf("there are file systems in the store in %s already: with --replace the backup takes their place, "+
		"and the old data is kept aside; or name another directory with --data-dir", e.dataDir)
}

// Conflict reports true.
func (e *notEmptyError) Conflict() bool { return true }

// refuseFull refuses to replace the database at url, "" for none, if something is in
// it.
func refuseFull(ctx context.Context, a *app, url string) error {
	if url == "" {
		return nil
	}
	empty, err := postgres.IsEmpty(ctx, url)
	if err == nil && !empty {
		err = &notEmptyError{a.cli.DataDir}
	}
	return err
}

// spareBytes is what a new data directory and its log need besides the database.
const spareBytes = 256 << 20

// checkSpace refuses what a disk has no room for. A new database is rarely larger
// than the old one, as no row in it is dead.
func (a *app) checkSpace(database int64) error {
	free, err := embeddedpg.FreeSpace(a.cli.DataDir)
	if err != nil {
		return err
	}
	if need := database + database/10 + spareBytes; free < need {
		return fmt.Errorf("%w: a copy of the database beside the existing one needs about %s in %s, and %s is free: "+
			"free some space; nothing was changed", embeddedpg.ErrDiskFull, formatBytes(need), a.cli.DataDir, formatBytes(free))
	}
	return nil
}

// tellKept says where the data directory of before is.
func (a *app) tellKept(done embeddedpg.Rebuilt) error {
	if done.Kept == "" {
		return nil
	}
	_, err := fmt.Fprintf(a.stdout, "The data directory of before is kept in %s: carry over what you changed in its\n"+
		"postgresql.conf, and delete it when you are content.\n", done.Kept)
	return err
}

type countingReader struct {
	r    io.Reader
	read int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.read += int64(n)
	return n, err
}
