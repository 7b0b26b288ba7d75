package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"fstally/internal/usage"
)

// startScan queues a scan and leads to its page; where one is under way already,
// to that one.
func (s *site) startScan(r *http.Request) (answer, error) {
	ctx := r.Context()
	f := s.frame(r, "")
	if err := s.fileSystem(ctx, &f, fsParam(r)); err != nil {
		return answer{}, err
	}
	scan, err := s.Scans.QueueScan(ctx, f.FileSystem.ID)
	var busy interface{ BusyScan() int64 }
	if errors.As(err, &busy) {
		return answer{redirect: scanPath(busy.BusyScan())}, nil
	}
	if err != nil {
		return answer{}, fmt.Errorf("queue a scan of %s: %w", f.FileSystem.Name, err)
	}
	s.Logger.LogAttrs(ctx, slog.LevelInfo, "scan queued", ids(&scan)...)
	return answer{redirect: scanPath(scan.ID)}, nil
}

// ids are what the log tells of a scan.
func ids(scan *usage.Scan) []slog.Attr {
	return []slog.Attr{slog.Int64("scan", scan.ID), slog.Int64("filesystem_id", scan.FileSystemID)}
}

// cancelScan stops a scan and leads to its page.
func (s *site) cancelScan(r *http.Request) (answer, error) {
	id, err := scanID(r)
	if err != nil {
		return answer{}, err
	}
	scan, err := s.Scans.CancelScan(r.Context(), Scope(r.Context()), id)
	if err != nil {
		return answer{}, fmt.Errorf("cancel scan %d: %w", id, err)
	}
	s.Logger.LogAttrs(r.Context(), slog.LevelInfo, "scan cancelled", ids(&scan)...)
	return answer{redirect: scanPath(id)}, nil
}

// acceptScan believes a suspect scan and leads to its page.
func (s *site) acceptScan(r *http.Request) (answer, error) {
	id, err := scanID(r)
	if err != nil {
		return answer{}, err
	}
	scan, err := s.Scans.AcceptScan(r.Context(), Scope(r.Context()), id)
	if err != nil {
		return answer{}, fmt.Errorf("accept scan %d: %w", id, err)
	}
	s.Logger.LogAttrs(r.Context(), slog.LevelInfo, "scan accepted", ids(&scan)...)
	return answer{redirect: scanPath(id)}, nil
}

// rejectScan says of a suspect scan that it is not to be believed, and leads to its page.
func (s *site) rejectScan(r *http.Request) (answer, error) {
	id, err := scanID(r)
	if err != nil {
		return answer{}, err
	}
	scan, err := s.Scans.RejectScan(r.Context(), Scope(r.Context()), id)
	if err != nil {
		return answer{}, fmt.Errorf("reject scan %d: %w", id, err)
	}
	s.Logger.LogAttrs(r.Context(), slog.LevelInfo, "scan rejected", ids(&scan)...)
	return answer{redirect: scanPath(id)}, nil
}
