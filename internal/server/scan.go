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
	f, of, before, err := s.findScan(r)
	if err != nil {
		return answer{}, err
	}
	model := page.Scan{Frame: f, Of: of, Before: before}
	if _, model.Next, err = s.Reader.Neighbours(ctx, Scope(ctx), of); err != nil {
		return answer{}, fmt.Errorf("neighbours of scan %d: %w", of.ID, err)
	}
	if of.State.Ended() {
		model.Errors, model.Skipped, err = s.Reader.ScanProblems(ctx, Scope(ctx), of.ID)
		if err != nil {
			return answer{}, fmt.Errorf("problems of scan %d: %w", of.ID, err)
		}
	}
	return answer{content: page.ScanPage(model)}, nil
}

// progress is what the page of a running scan asks for each second.
func (s *site) progress(r *http.Request) (answer, error) {
	f, of, before, err := s.findScan(r)
	if err != nil {
		return answer{}, err
	}
	return answer{data: page.NewLive(f, of, before)}, nil
}

// findScan finds the scan of an address, its frame, and the published scan
// before it, nil where there is none.
func (s *site) findScan(r *http.Request) (component.Frame, usage.Scan, *usage.Scan, error) {
	ctx := r.Context()
	f := s.frame(r, "Scan")
	id, err := scanID(r)
	if err != nil {
		return f, usage.Scan{}, nil, err
	}
	of, err := s.Reader.Scan(ctx, Scope(ctx), id)
	if errors.Is(err, usage.ErrNotFound) {
		return f, of, nil, noScan(strconv.FormatInt(id, 10))
	}
	if err != nil {
		return f, of, nil, fmt.Errorf("find scan %d: %w", id, err)
	}
	f.Title, f.Section, f.Path = fmt.Sprintf("Scan %d", id), component.Scans, scanPath(id)
	if err := s.fileSystem(ctx, &f, strconv.FormatInt(of.FileSystemID, 10)); err != nil {
		return f, of, nil, err
	}
	before, err := s.scanBefore(ctx, of)
	return f, s.zoned(of), before, err
}

func (s *site) scanBefore(ctx context.Context, of usage.Scan) (*usage.Scan, error) {
	previous, _, err := s.Reader.Neighbours(ctx, Scope(ctx), of)
	if err != nil {
		return nil, fmt.Errorf("neighbours of scan %d: %w", of.ID, err)
	}
	if previous == 0 {
		return nil, nil //nolint:nilnil // a first scan is no failure
	}
	before, err := s.Reader.Scan(ctx, Scope(ctx), previous)
	if err != nil {
		return nil, fmt.Errorf("find scan %d: %w", previous, err)
	}
	before = s.zoned(before)
	return &before, nil
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
