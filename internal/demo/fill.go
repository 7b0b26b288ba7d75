package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"golang.org/x/sync/errgroup"

	"fstally/internal/postgres"
	"fstally/internal/usage"
)

// Store is where a demo goes.
type Store interface {
	FileSystems(ctx context.Context, scope usage.Scope) ([]usage.FileSystem, error)
	AddFileSystem(ctx context.Context, f usage.FileSystem) (usage.FileSystem, error)
	Import(ctx context.Context, req postgres.ImportRequest) (usage.Scan, error)
}

// NotEmptyError is the refusal of a store that has file systems: a demo must
// never stand beside real numbers.
type NotEmptyError struct{ FileSystem string }

func (e *NotEmptyError) Error() string {
	return fmt.Sprintf("the store is not empty: it has the file system %s", e.FileSystem)
}

// Conflict reports true.
func (e *NotEmptyError) Conflict() bool { return true }

// For how many nights retention keeps the details of every night, and then of the
// first of each week. Those of the first of each month it keeps for ever.
const (
	nightlyKept = 60
	weeklyKept  = 183
)

// ahead is how many nights are made while one is imported.
const ahead = 2

// Fill fills an empty store, both file systems at a time. progress is told after
// each night how many are done, one call at a time. After an error the store is
// incomplete, and of no use.
func Fill(ctx context.Context, store Store, o Options, progress func(done, total int)) error {
	if err := o.Validate(); err != nil {
		return err
	}
	existing, err := store.FileSystems(ctx, usage.Everything())
	if err != nil {
		return err
	}
	if len(existing) > 0 {
		return &NotEmptyError{existing[0].Name}
	}
	people := newSite(rand.New(rand.NewPCG(o.Seed, 0)), o.Users) //nolint:gosec // the same each time on purpose
	total := len(volumes()) * o.nights()
	var mu sync.Mutex
	done := 0
	finish := func() {
		mu.Lock()
		defer mu.Unlock()
		done++
		progress(done, total)
	}
	group, ctx := errgroup.WithContext(ctx)
	for i, v := range volumes() {
		fs, err := store.AddFileSystem(ctx, v.fileSystem())
		if err != nil {
			return err
		}
		l, err := newLayout(rand.New(rand.NewPCG(o.Seed, uint64(i)+1)), v, people, o.nights()) //nolint:gosec // as above
		if err != nil {
			return err
		}
		scans := make(chan *postgres.ImportRequest, ahead)
		group.Go(func() error {
			defer close(scans)
			return l.each(ctx, o, people, scans)
		})
		group.Go(func() error {
			for req := range scans {
				if req != nil {
					req.FileSystemID = fs.ID
					if _, err := store.Import(ctx, *req); err != nil {
						return err
					}
				}
				finish()
			}
			return nil
		})
	}
	return group.Wait()
}

// each makes the nights in their order, nil for one without a scan.
func (l *layout) each(ctx context.Context, o Options, s site, scans chan<- *postgres.ImportRequest) error {
	for night := range l.nights {
		req, err := l.scan(o, s, night)
		if err != nil {
			return fmt.Errorf("make night %d of %s: %w", night, l.name, err)
		}
		select {
		case scans <- req:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// detailFrom returns of which scans the details are kept so many nights later.
func detailFrom(nights int) postgres.Tier {
	switch {
	case nights < nightlyKept:
		return postgres.Nightly
	case nights < weeklyKept:
		return postgres.Weekly
	default:
		return postgres.Monthly
	}
}
