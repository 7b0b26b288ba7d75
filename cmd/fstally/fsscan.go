package main

import (
	"context"
	"errors"
	"fmt"

	"fstally/internal/postgres"
	"fstally/internal/usage"
)

type fsScanCmd struct {
	FS string `arg:"" name:"fs" help:"Name or number of the file system."`
}

// Run queues a scan.
func (c fsScanCmd) Run(ctx context.Context, a *app) error {
	return a.use(ctx, func(d *database) error {
		fs, err := d.FileSystem(ctx, usage.Everything(), c.FS)
		if err != nil {
			return noFileSystem(c.FS, err)
		}
		scan, err := d.QueueScan(ctx, fs.ID)
		if err != nil {
			return err
		}
		if _, err = fmt.Fprintf(a.stdout, "Scan %d of %s is queued. %s runs it; watch it with: fstally fs show %s\n",
			scan.ID, fs.Name, scannedBy(&fs), fs.Name); err != nil {
			return err
		}
		if d.server != nil { // that nobody else had started
			_, err = fmt.Fprintf(a.stderr, "fstally: no fstally serve runs on this data directory: "+
				"the scan waits until one does. 'fstally scan %s' scans at once, without it.\n", usage.Escape(fs.Root))
		}
		return err
	})
}

type fsCancelCmd struct {
	FS   string `arg:"" name:"fs" help:"Name or number of the file system."`
	Scan int64  `arg:"" optional:"" help:"Number of the scan. Default: the one that is queued or runs."`
}

// Run cancels a scan.
func (c fsCancelCmd) Run(ctx context.Context, a *app) error {
	return a.use(ctx, func(d *database) error {
		fs, err := d.FileSystem(ctx, usage.Everything(), c.FS)
		if err != nil {
			return noFileSystem(c.FS, err)
		}
		id := c.Scan
		if id == 0 {
			newest, err := d.newestScan(ctx, fs.ID)
			if err != nil {
				return err
			}
			if newest.ID == 0 || newest.State.Ended() {
				return fmt.Errorf("no scan of %s is queued or runs: %w", fs.Name, postgres.ErrEnded)
			}
			id = newest.ID
		}
		scan, err := d.CancelScan(ctx, usage.OnlyFileSystems(fs.ID), id)
		if errors.Is(err, usage.ErrNotFound) {
			return fmt.Errorf("%s has no scan %d: see 'fstally fs show %s' (%w)", fs.Name, id, fs.Name, usage.ErrNotFound)
		}
		if err != nil {
			return err
		}
		words := "is cancelled"
		if !scan.State.Ended() {
			words = "is being stopped, within seconds"
		}
		_, err = fmt.Fprintf(a.stdout, "Scan %d of %s %s.\n", scan.ID, fs.Name, words)
		return err
	})
}
