package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"fstally/internal/postgres"
	"fstally/internal/result"
	"fstally/internal/usage"
)

// How long an import is tried again while the database is away or full. After
// that the result stays in the spool folder for the next start.
const (
	retryFirst = time.Second
	retryMost  = time.Minute
	retryFor   = 15 * time.Minute
)

func (s *Supervisor) spoolFile(scanID int64) string {
	return filepath.Join(s.Spool, fmt.Sprintf("scan-%d.fst", scanID))
}

// importResult imports the result of a scan and removes the file, when it is in
// the store or never will be.
func (s *Supervisor) importResult(ctx context.Context, path string, scan usage.Scan) error {
	r, err := result.ReadFile(path)
	if err != nil {
		return err
	}
	req := postgres.ImportRequest{
		FileSystemID: scan.FileSystemID, ScanID: scan.ID, Owner: s.Owner, Meta: &r.Meta, Summary: r.Summary(),
	}
	wait := retryFirst
	for giveUp := time.Now().Add(retryFor); ; {
		_, err = s.Store.Import(ctx, req)
		if err == nil || errors.Is(err, postgres.ErrImported) {
			s.removeSpooled(ctx, path)
			return nil
		}
		if errors.Is(context.Cause(ctx), errCancelled) {
			err = errCancelled
		}
		if final(err) {
			s.removeSpooled(ctx, path)
			return err
		}
		if ctx.Err() != nil || time.Now().After(giveUp) {
			return fmt.Errorf("the result is kept in %s and is imported at the next start: %w", path, err)
		}
		s.Logger.WarnContext(ctx, "import a result; tried again", "scan", scan.ID, "in", wait, "err", err)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		wait = min(2*wait, retryMost)
	}
}

// final reports an error that no later try would mend.
func final(err error) bool {
	return errors.Is(err, errCancelled) || errors.Is(err, usage.ErrNotFound) ||
		errors.Is(err, postgres.ErrLeaseLost) || errors.Is(err, postgres.ErrEnded)
}

func (s *Supervisor) removeSpooled(ctx context.Context, path string) {
	if err := os.Remove(path); err != nil {
		s.Logger.WarnContext(ctx, "remove an imported result", "err", err)
	}
}

// importSpooled imports results that were complete when an earlier process went away,
// and removes those that were not.
func (s *Supervisor) importSpooled(ctx context.Context) {
	entries, err := os.ReadDir(s.Spool)
	if err != nil {
		s.Logger.WarnContext(ctx, "look for results that are not imported yet", "err", err)
		return
	}
	for _, entry := range entries {
		path := filepath.Join(s.Spool, entry.Name())
		var id int64
		if _, err := fmt.Sscanf(entry.Name(), "scan-%d.fst", &id); err != nil || path != s.spoolFile(id) {
			s.discard(ctx, path, entry)
			continue
		}
		scan, err := s.Store.Scan(ctx, usage.Everything(), id)
		switch {
		case errors.Is(err, usage.ErrNotFound): // with its file system
			s.removeSpooled(ctx, path)
			continue
		case err == nil && !scan.State.Ended(): // its owner lives, and imports it itself
			continue
		case err == nil:
			err = s.importResult(ctx, path, scan)
		}
		if err != nil {
			s.Logger.WarnContext(ctx, "import a result that an earlier process left", "scan", id, "err", err)
			continue
		}
		s.Logger.InfoContext(ctx, "imported a result that an earlier process left", "scan", id)
	}
}

// discard removes the beginning of a result that its scanner did not finish.
// What is too young may be in the hands of a scanner that is just being killed.
func (s *Supervisor) discard(ctx context.Context, path string, entry os.DirEntry) {
	info, err := entry.Info()
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < time.Hour {
		return
	}
	if err := os.Remove(path); err != nil {
		s.Logger.WarnContext(ctx, "remove an unfinished result", "err", err)
	}
}
