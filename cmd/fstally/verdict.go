package main

import (
	"context"
	"errors"
	"fmt"

	"fstally/internal/postgres"
	"fstally/internal/usage"
)

// suspect names a suspect scan of a file system.
type suspect struct {
	FS   string `arg:"" name:"fs" help:"Name or number of the file system."`
	Scan int64  `arg:"" optional:"" help:"Number of the scan. Default: the newest, if it is suspect."`
}

type fsAcceptCmd struct{ suspect }

// Run accepts a suspect scan.
func (c fsAcceptCmd) Run(ctx context.Context, a *app) error {
	return a.use(ctx, func(d *database) error {
		fs, scan, err := c.decide(ctx, d, d.AcceptScan)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.stdout, "Scan %d of %s is accepted, and %s.\n", scan.ID, fs.Name, scan.Verdict)
		return err
	})
}

type fsRejectCmd struct{ suspect }

// Run rejects a suspect scan.
func (c fsRejectCmd) Run(ctx context.Context, a *app) error {
	return a.use(ctx, func(d *database) error {
		fs, scan, err := c.decide(ctx, d, d.RejectScan)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.stdout, "Scan %d of %s is rejected, and stays a gap in the history.\n", scan.ID, fs.Name)
		return err
	})
}

// decide finds the scan and lets what is decided happen to it.
func (c suspect) decide(
	ctx context.Context, d *database, how func(context.Context, usage.Scope, int64) (usage.Scan, error),
) (fs usage.FileSystem, scan usage.Scan, err error) {
	if fs, err = d.FileSystem(ctx, usage.Everything(), c.FS); err != nil {
		return fs, scan, noFileSystem(c.FS, err)
	}
	id := c.Scan
	if id == 0 {
		newest, err := d.newestScan(ctx, fs.ID)
		if err != nil {
			return fs, scan, err
		}
		if newest.Verdict != usage.Suspect {
			return fs, scan, fmt.Errorf("the newest scan of %s: %w", fs.Name, postgres.ErrNotSuspect)
		}
		id = newest.ID
	}
	scan, err = how(ctx, usage.OnlyFileSystems(fs.ID), id)
	if errors.Is(err, usage.ErrNotFound) {
		err = fmt.Errorf("%s has no scan %d: see 'fstally fs show %s' (%w)", fs.Name, id, fs.Name, usage.ErrNotFound)
	}
	return fs, scan, err
}

// newestScan returns the newest scan of a file system; zero for none. An occurrence
// without a scan is none.
func (d *database) newestScan(ctx context.Context, fileSystemID int64) (usage.Scan, error) {
	before := int64(0)
	for {
		page, err := d.Scans(ctx, usage.Everything(), fileSystemID, scansShown, before)
		if err != nil {
			return usage.Scan{}, err
		}
		for _, scan := range page {
			if scan.State != usage.NotRun {
				return scan, nil
			}
			before = scan.ID
		}
		if len(page) < scansShown {
			return usage.Scan{}, nil
		}
	}
}
