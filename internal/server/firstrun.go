package server

import (
	"context"
	"fmt"
	"net/http"

	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// firstPage is the overview, once a file system has something to show.
func (s *site) firstPage(r *http.Request) (answer, error) {
	ctx := r.Context()
	f := s.frame(r, "First scan")
	all, err := s.Reader.FileSystems(ctx, Scope(ctx))
	if err != nil {
		return answer{}, fmt.Errorf("list file systems: %w", err)
	}
	for i := range all {
		if all[i].CurrentScanID != 0 {
			return s.overview(r, all)
		}
	}
	f.FileSystems = all
	return s.firstRun(ctx, &f, all)
}

// fileSystemPage is the address of a file system without a page.
func (s *site) fileSystemPage(r *http.Request) (answer, error) {
	f := s.frame(r, "")
	if err := s.fileSystem(r.Context(), &f, fsParam(r)); err != nil {
		return answer{}, err
	}
	return answer{redirect: f.SectionPath(component.Capacity)}, nil
}

// firstRun shows file systems that have no published scan, and what their first
// scans are doing.
func (s *site) firstRun(ctx context.Context, f *component.Frame, waiting []usage.FileSystem) (answer, error) {
	f.Title, f.Section = "First scan", ""
	model := page.FirstRun{Frame: *f}
	for _, fs := range waiting {
		w := page.Waiting{FileSystem: fs}
		var err error
		if w.Scan, _, err = s.newest(ctx, fs.ID); err != nil {
			return answer{}, err
		}
		model.Waiting = append(model.Waiting, w)
	}
	return answer{content: page.FirstRunPage(model), status: http.StatusOK}, nil
}
