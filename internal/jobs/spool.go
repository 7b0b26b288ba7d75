package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fstally/internal/postgres"
	"fstally/internal/result"
	"fstally/internal/usage"
)

// How often an import is tried while the database is away or full.
const (
	retryFirst = time.Second
	retryMost  = 30 * time.Second
)

func (s *Supervisor) spoolFile(scanID int64) string {
	return filepath.Join(s.Spool, fmt.Sprintf("scan-%d.fst", scanID))
}

// SpoolSize returns how many results wait in the spool folder, those that were refused
// included, and their bytes.
func (s *Supervisor) SpoolSize() (files int, bytes int64, err error) {
	entries, err := os.ReadDir(s.Spool)
	if errors.Is(err, os.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("look into the spool folder: %w", err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() { // it was imported just now, or is no result
			continue
		}
		files++
		bytes += info.Size()
	}
	return files, bytes, nil
}

// importResult imports the result of a scan, for as long as that takes, or GiveUp allows.
func (s *Supervisor) importResult(ctx context.Context, path string, scan usage.Scan) error {
	req, err := s.readResult(path, scan)
	if err != nil {
		return err
	}
	var complained time.Time
	wait, began := retryFirst, time.Now()
	for {
		settled, err := s.tryImport(ctx, path, req)
		switch {
		case settled:
			return err
		case ctx.Err() != nil, s.GiveUp > 0 && time.Since(began) > s.GiveUp:
			return fmt.Errorf("the result is kept in %s and is imported at the next start: %w", path, err)
		}
		if time.Since(complained) > complainEvery {
			complained = time.Now()
			s.Logger.WarnContext(ctx, "import a result; it is tried until it succeeds", "scan", scan.ID,
				"filesystem_id", scan.FileSystemID, "entries", req.Summary.Counters.Entries, "err", err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		wait = min(2*wait, retryMost)
	}
}

func (s *Supervisor) readResult(path string, scan usage.Scan) (postgres.ImportRequest, error) {
	r, err := result.ReadFile(path)
	if result.Unusable(err) {
		err = s.refuse(path, err)
	}
	if err != nil {
		return postgres.ImportRequest{}, err
	}
	return postgres.ImportRequest{
		FileSystemID: scan.FileSystemID, ScanID: scan.ID, Owner: s.Owner, Meta: &r.Meta, Summary: r.Summary(),
	}, nil
}

// tryImport imports a result once. It is settled when the result is in the store, nobody
// wants it any more, or the store refuses it, which puts it aside for a look: else it
// stays where it is.
func (s *Supervisor) tryImport(ctx context.Context, path string, req postgres.ImportRequest) (settled bool, err error) {
	_, err = s.Store.Import(ctx, req)
	switch {
	case err == nil, errors.Is(err, postgres.ErrImported):
		s.removeSpooled(ctx, path)
		return true, nil
	case errors.Is(context.Cause(ctx), errCancelled):
		s.removeSpooled(ctx, path)
		return true, errCancelled
	case unwanted(err):
		s.removeSpooled(ctx, path)
		return true, err
	case ctx.Err() != nil, postgres.Passing(err):
		return false, err
	}
	return true, s.refuse(path, err)
}

// unwanted reports that the store has no use for the result, now or ever.
func unwanted(err error) bool {
	return errors.Is(err, usage.ErrNotFound) || errors.Is(err, postgres.ErrLeaseLost) || errors.Is(err, postgres.ErrEnded)
}

// refused is the suffix of results that were put aside.
const refused = ".refused"

// refuse puts a result aside that the store does not take.
func (s *Supervisor) refuse(path string, reason error) error {
	aside := path + refused
	if err := os.Rename(path, aside); err != nil {
		return errors.Join(reason, err)
	}
	return fmt.Errorf("the result is not taken, and is kept in %s: %w", aside, reason)
}

func (s *Supervisor) removeSpooled(ctx context.Context, path string) {
	if err := os.Remove(path); err != nil {
		s.Logger.WarnContext(ctx, "remove an imported result", "err", err)
	}
}

// importSpooled imports results that were complete when an earlier process went away,
// and removes those that were not. Each is tried once: what cannot be imported now stays
// for the next time.
func (s *Supervisor) importSpooled(ctx context.Context) {
	entries, err := os.ReadDir(s.Spool)
	if err != nil {
		s.Logger.WarnContext(ctx, "look for results that are not imported yet", "err", err)
		return
	}
	for _, entry := range entries {
		path := filepath.Join(s.Spool, entry.Name())
		if strings.HasSuffix(path, refused) {
			continue
		}
		var id int64
		if _, err := fmt.Sscanf(entry.Name(), "scan-%d.fst", &id); err != nil || path != s.spoolFile(id) {
			s.discard(ctx, path, entry)
			continue
		}
		settled, err := s.importLeft(ctx, path, id)
		if err != nil && (settled || time.Since(s.complained) > complainEvery) {
			s.complained = time.Now()
			s.Logger.WarnContext(ctx, "import a result that an earlier process left", "scan", id, "err", err)
		}
	}
}

// importLeft imports the result of a scan that has ended without it.
func (s *Supervisor) importLeft(ctx context.Context, path string, id int64) (settled bool, err error) {
	scan, err := s.Store.Scan(ctx, usage.Everything(), id)
	switch {
	case errors.Is(err, usage.ErrNotFound): // with its file system
		s.removeSpooled(ctx, path)
		return true, nil
	case err != nil, !scan.State.Ended(): // the owner of one that runs lives, and imports it itself
		return false, err
	}
	req, err := s.readResult(path, scan)
	if err != nil {
		return result.Unusable(err), err
	}
	if settled, err = s.tryImport(ctx, path, req); settled && err == nil {
		s.Logger.InfoContext(ctx, "imported a result that an earlier process left", "scan", id)
	}
	return settled, err
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
