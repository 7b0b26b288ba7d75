package server

import (
	"context"
	"fmt"
	"net/http"

	"golang.org/x/sync/errgroup"

	"fstally/internal/schedule"
	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// occurrencesShown is how many of the next occurrences of a schedule are shown.
const occurrencesShown = 5

// schedules is the page of the schedules of all file systems.
func (s *site) schedules(r *http.Request) (answer, error) {
	ctx := r.Context()
	model := page.Schedules{Frame: s.frame(r, "Schedules")}
	model.Section = component.Schedules
	var err error
	if model.FileSystems, err = s.Reader.FileSystems(ctx, Scope(ctx)); err != nil {
		return answer{}, fmt.Errorf("list file systems: %w", err)
	}
	for _, fs := range model.FileSystems {
		if fs.Name == r.URL.Query().Get("saved") {
			model.Saved = fs.Name
		}
	}
	of, err := s.schedulesOf(ctx, Scope(ctx))
	if err != nil {
		return answer{}, err
	}
	model.Rows = make([]page.Scheduled, len(model.FileSystems))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i, fs := range model.FileSystems {
		group.Go(func() error {
			row := s.scheduled(fs, of)
			newest, skipped, err := s.newest(ctx, fs.ID)
			row.Newest, row.Skipped = newest, skipped
			model.Rows[i] = row
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return answer{}, err
	}
	return answer{content: page.SchedulesPage(model)}, nil
}

// schedulesOf returns the schedules by the ids of their file systems.
func (s *site) schedulesOf(ctx context.Context, scope usage.Scope) (map[int64]usage.Schedule, error) {
	list, err := s.Reader.Schedules(ctx, scope)
	if err != nil {
		return nil, fmt.Errorf("list schedules: %w", err)
	}
	of := make(map[int64]usage.Schedule, len(list))
	for _, stored := range list {
		of[stored.FileSystemID] = stored
	}
	return of, nil
}

// scheduled reads the schedule of a file system. One that a newer program has set, and
// that this one does not understand, is shown as it is.
func (s *site) scheduled(fs usage.FileSystem, of map[int64]usage.Schedule) page.Scheduled {
	row := page.Scheduled{FileSystem: fs}
	stored, ok := of[fs.ID]
	if !ok {
		return row
	}
	row.Schedule = &stored
	parsed, err := schedule.New(stored)
	switch {
	case err != nil:
		row.Problem = escapeTyped(err.Error())
	case stored.Enabled:
		row.Upcoming = parsed.Upcoming(s.Clock(), occurrencesShown)
	}
	return row
}
