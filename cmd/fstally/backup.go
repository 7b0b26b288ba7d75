package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/mattn/go-isatty"

	"fstally/internal/embeddedpg"
	"fstally/internal/postgres"
	"fstally/internal/usage"
)

type backupCmd struct {
	File  string `arg:"" help:"File to write, readable by its owner only; - is standard output. It is there whole or not at all, and replaces one of that name."`
	Quiet bool   `short:"q" help:"Say nothing unless something is wrong, as cron likes it."`
}

// Help says what no flag does.
func (backupCmd) Help() string {
	return `The file holds the whole history, as of one moment. It does not hold the access
token, postgresql.conf, and results that are not imported yet. It can be restored
whatever version of Postgres is installed then.`
}

// Run writes the backup.
func (c backupCmd) Run(ctx context.Context, a *app) error {
	if c.File == "-" {
		if f, ok := a.stdout.(*os.File); ok && isatty.IsTerminal(f.Fd()) {
			return usageError{errors.New("a backup is not for a terminal: redirect standard output, or name a file")}
		}
		return c.backup(ctx, a, a.stdout, "standard output", a.stderr)
	}
	return writeWhole(c.File, func(w io.Writer) error { return c.backup(ctx, a, w, c.File, a.stdout) })
}

// backup writes to w, and to say what there is to say in the end.
func (c backupCmd) backup(ctx context.Context, a *app, w io.Writer, name string, say io.Writer) error {
	return a.useAsIs(ctx, func(url string) error {
		began := time.Now()
		shown := a.stderr
		if c.Quiet {
			shown, say = io.Discard, io.Discard
		}
		line := newProgressLine(shown, 0)
		out := &countingWriter{w: w}
		report, err := postgres.Backup(ctx, url, version, out, func(rows int64) {
			line.print(fmt.Sprintf("%s of rows, %s in the backup, %s", formatBytes(rows), formatBytes(out.written),
				usage.FormatDuration(time.Since(began))))
		})
		line.end()
		if err != nil {
			return fmt.Errorf("back up to %s: %w", name, err)
		}
		a.warnLeftOut("the backup", report.LeftOut)
		_, err = fmt.Fprintf(say, "Backed up %s rows of %d tables to %s: %s in %s.\n",
			usage.GroupDigits(fmt.Sprint(report.Rows)), report.Tables, name, formatBytes(out.written),
			usage.FormatDuration(time.Since(began)))
		return err
	})
}

// useAsIs gives f the address of the database, which is not migrated: a backup is
// what one makes before that.
func (a *app) useAsIs(ctx context.Context, f func(url string) error) (err error) {
	if a.cli.DatabaseURL != "" {
		return f(a.cli.DatabaseURL)
	}
	url, err := embeddedpg.Running(a.cli.DataDir)
	if err == nil {
		return f(url)
	}
	if !errors.Is(err, embeddedpg.ErrNotRunning) {
		return databaseError{err}
	}
	if !embeddedpg.HasData(a.cli.DataDir) {
		return a.noData()
	}
	server, err := a.startPostgres(ctx)
	if err != nil {
		return databaseError{err}
	}
	defer func() { err = errors.Join(err, (&database{server: server}).Close(ctx)) }()
	return f(server.URL())
}

func (a *app) noData() error {
	return databaseError{fmt.Errorf("there is no data of fstally in %s: name the directory with --data-dir or "+
		"FSTALLY_DATA_DIR, and run this as the user who runs fstally serve", a.cli.DataDir)}
}

// warnLeftOut names what somebody has made in the database beside fstally's tables.
func (a *app) warnLeftOut(from string, names []string) {
	for _, name := range names {
		_, _ = fmt.Fprintf(a.stderr, "fstally: not in %s, as it is not fstally's: %s\n", from, tame(name))
	}
}

func formatBytes(n int64) string { return usage.FormatBytes(usage.ByteCount(n)) }

type countingWriter struct {
	w       io.Writer
	written int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.written += int64(n)
	return n, err
}

// writeWhole makes a file that appears under its name when it is whole and on disk.
// Only its owner may read it.
func writeWhole(path string, write func(io.Writer) error) (err error) {
	dir := filepath.Dir(path)
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return usageError{fmt.Errorf("%s is there already, and no file", path)}
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return usageError{fmt.Errorf("make the file: %w", err)}
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	for _, finish := range []func() error{f.Sync, f.Close, func() error { return os.Rename(f.Name(), path) }} {
		if err := finish(); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
	}
	folder, err := os.Open(dir)
	if err != nil {
		return nil // it cannot be listed, so it cannot be synced; the file is there
	}
	if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return nil
}
