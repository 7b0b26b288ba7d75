package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// scan is the page about a scan itself, under way or ended.
func (s *site) scan(r *http.Request) (answer, error) {
	ctx := r.Context()
	f, of, before, next, err := s.findScan(r)
	if err != nil {
		return answer{}, err
	}
	model := page.Scan{Frame: f, Of: of, Before: before, Next: next}
	if model.Attempts, err = s.attempts(ctx, of); err != nil {
		return answer{}, err
	}
	if model.Waits, err = s.waits(ctx, f, of); err != nil {
		return answer{}, err
	}
	if of.State.Ended() {
		model.Errors, model.Skipped, err = s.Reader.ScanProblems(ctx, Scope(ctx), of.ID)
		if err != nil {
			return answer{}, fmt.Errorf("problems of scan %d: %w", of.ID, err)
		}
	}
	return answer{content: page.ScanPage(model)}, nil
}

// progress is what the page of a running scan asks for each second, where it has no
// stream of events.
func (s *site) progress(r *http.Request) (answer, error) {
	f, of, before, _, err := s.findScan(r)
	if err != nil {
		return answer{}, err
	}
	live, err := s.live(r.Context(), f, of, before)
	return answer{data: live}, err
}

// live is what a page shows of a scan while it is under way.
func (s *site) live(ctx context.Context, f component.Frame, of usage.Scan, before *usage.Scan) (page.Live, error) {
	waits, err := s.waits(ctx, f, of)
	return page.NewLive(f, of, before, waits), err
}

// findScan finds the scan of an address, its frame, the published scan before it,
// nil where there is none, and the id of the one after it, 0 for none.
func (s *site) findScan(r *http.Request) (f component.Frame, of usage.Scan, before *usage.Scan, next int64, err error) {
	ctx := r.Context()
	f = s.frame(r, "Scan")
	id, err := scanID(r)
	if err != nil {
		return f, of, nil, 0, err
	}
	of, err = s.Reader.Scan(ctx, Scope(ctx), id)
	if errors.Is(err, usage.ErrNotFound) {
		return f, of, nil, 0, noScan(strconv.FormatInt(id, 10))
	}
	if err != nil {
		return f, of, nil, 0, fmt.Errorf("find scan %d: %w", id, err)
	}
	f.Title, f.Section, f.Path = fmt.Sprintf("Scan %d", id), component.Scans, scanPath(id)
	if err := s.fileSystem(ctx, &f, strconv.FormatInt(of.FileSystemID, 10)); err != nil {
		return f, of, nil, 0, err
	}
	before, next, err = s.around(ctx, of)
	return f, s.zoned(of), before, next, err
}

// around returns the published scan before another, and the id of the one after.
func (s *site) around(ctx context.Context, of usage.Scan) (before *usage.Scan, next int64, err error) {
	previous, next, err := s.Reader.Neighbours(ctx, Scope(ctx), of)
	if err != nil {
		return nil, 0, fmt.Errorf("neighbours of scan %d: %w", of.ID, err)
	}
	if previous == 0 {
		return nil, next, nil
	}
	scan, err := s.Reader.Scan(ctx, Scope(ctx), previous)
	if err != nil {
		return nil, 0, fmt.Errorf("find scan %d: %w", previous, err)
	}
	scan = s.zoned(scan)
	return &scan, next, nil
}

// scanID returns the scan that an address names.
func scanID(r *http.Request) (int64, error) {
	text := chi.URLParam(r, "id")
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, noScan(text)
	}
	return id, nil
}

func noScan(id string) error {
	return &pageError{
		status:  http.StatusNotFound,
		message: fmt.Sprintf("There is no scan %s", usage.Escape(id)),
		remedy:  "It may have been removed: begin at the first page.",
	}
}
