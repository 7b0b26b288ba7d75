package main

import (
	"context"
	"errors"
	"fmt"

	"fstally/internal/postgres"
	"fstally/internal/result"
	"fstally/internal/upload"
	"fstally/internal/usage"
)

type importCmd struct {
	Files []string `arg:"" name:"file" type:"existingfile" help:"Results of 'fstally scan --out'. Several must be parts of one scan, and are merged."`
	FS    string   `name:"fs" placeholder:"NAME" help:"File system that they belong to. Default: the one with the root of the result, made when there is none."`
	settings

	AnyRoot bool `help:"With --fs: take also what was scanned at another path than that of the file system."`
}

// otherRootError is a result of another tree than that of its file system.
type otherRootError struct{ error }

// Unwrap returns which.
func (e otherRootError) Unwrap() error { return e.error }

// Run imports results.
func (c importCmd) Run(ctx context.Context, a *app) error {
	r, err := result.ReadFile(c.Files[0])
	if err != nil {
		return err
	}
	for _, file := range c.Files[1:] {
		part, err := result.ReadFile(file)
		if err != nil {
			return err
		}
		if r, err = result.Merge(r, part); err != nil {
			return err
		}
	}
	return a.use(ctx, func(d *database) error {
		fs, err := c.fileSystem(ctx, a, d, &r.Meta)
		if err != nil {
			return err
		}
		scan, err := d.Import(ctx, postgres.ImportRequest{FileSystemID: fs.ID, Meta: &r.Meta, Summary: r.Summary()})
		if already, ok := errors.AsType[*postgres.ImportedError](err); ok {
			_, err := fmt.Fprintf(a.stdout, "Nothing to do: this result is stored as scan %d.\n", already.Scan.ID)
			return err
		}
		if err != nil {
			return err
		}
		return printScan(a.stdout, fs, scan)
	})
}

// fileSystem finds the file system of the result. The root may be another
// machine's, so it is not looked at here.
func (c importCmd) fileSystem(ctx context.Context, a *app, d *database, meta *usage.Meta) (usage.FileSystem, error) {
	if c.FS != "" {
		fs, err := d.FileSystem(ctx, usage.Everything(), c.FS)
		if err != nil {
			return fs, noFileSystem(c.FS, err)
		}
		if err := upload.CheckRoot(&fs, meta); err != nil && !c.AnyRoot {
			return fs, otherRootError{err}
		}
		return fs, nil
	}
	return a.register(ctx, d, meta.Root, "", c.settings)
}
