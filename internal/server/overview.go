package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"fstally/internal/report"
	"fstally/internal/schedule"
	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// overviewDays is how far back the overview reads: what a pace is measured over,
// and a month more.
const overviewDays = 120

// readers is how many questions at a time one page asks the store: some, so that
// it is quick with many file systems, and few, so that other pages get a turn.
const readers = 3

// overview is the page of the morning.
func (s *site) overview(r *http.Request, all []usage.FileSystem) (answer, error) {
	model := page.Overview{Frame: s.frame(r, "Overview")}
	model.FileSystems, model.By, model.Section = all, usage.Allocated, component.Overview
	model.Systems = make([]page.System, len(all))
	schedules, err := s.schedulesOf(r.Context(), Scope(r.Context()))
	if err != nil {
		return answer{}, err
	}
	group, ctx := errgroup.WithContext(r.Context())
	group.SetLimit(readers)
	for i, fs := range all {
		group.Go(func() (err error) {
			if model.Systems[i], err = s.system(ctx, fs, schedules); err != nil {
				return fmt.Errorf("overview of %s: %w", fs.Name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return answer{}, err
	}
	return answer{content: page.OverviewPage(model)}, nil
}

// system reads the row of one file system.
func (s *site) system(
	ctx context.Context, fs usage.FileSystem, schedules map[int64]usage.Schedule,
) (row page.System, err error) {
	scheduled := s.scheduled(fs, schedules)
	row = page.System{FileSystem: fs, Schedule: scheduled.Schedule}
	if len(scheduled.Upcoming) > 0 {
		row.Next = scheduled.Upcoming[0]
	}
	if row.Newest, row.Skipped, err = s.newest(ctx, fs.ID); err != nil {
		return row, err
	}
	if fs.CurrentScanID == 0 {
		return row, nil
	}
	current, err := s.Reader.Scan(ctx, Scope(ctx), fs.CurrentScanID)
	if errors.Is(err, usage.ErrNotFound) {
		return row, nil // removed since the list was read
	}
	if err != nil {
		return row, fmt.Errorf("scan %d: %w", fs.CurrentScanID, err)
	}
	current = s.zoned(current)
	row.Current, row.Expected = &current, expected(row.Schedule, &current)
	history, err := s.Reader.History(ctx, Scope(ctx), usage.HistoryQuery{
		FileSystemID: fs.ID, By: usage.Allocated,
		From: current.Started.AddDate(0, 0, -overviewDays).Format(time.DateOnly),
	})
	if err != nil {
		return row, fmt.Errorf("history: %w", err)
	}
	for i := range history.Points {
		history.Points[i].Scan = s.zoned(history.Points[i].Scan)
	}
	row.Points = history.Points
	row.Forecast = forecast(&current, row.Points)
	for i, days := range []int{1, 7, 30} {
		row.Earlier[i] = report.Baseline(row.Points, &current, days)
	}
	if week := row.Earlier[1]; week != nil {
		row.Grower, err = s.grower(ctx, &current, &week.Scan)
	}
	return row, err
}

// expected returns the first occurrence after a scan started, in the site's zone; zero
// where nothing is scheduled.
func expected(stored *usage.Schedule, current *usage.Scan) time.Time {
	if stored == nil || !stored.Enabled {
		return time.Time{}
	}
	parsed, err := schedule.New(*stored)
	if err != nil {
		return time.Time{}
	}
	next, _ := parsed.Plan.Next(current.Started, parsed.Zone)
	return next.In(current.Started.Location())
}

// grower finds the user who grew most between two scans, nil for none. It looks
// at the largest users first: one who is not among them cannot have grown by more
// than the last of them has.
func (s *site) grower(ctx context.Context, now, before *usage.Scan) (*page.Grower, error) {
	var most *page.Grower
	for _, limit := range []int{100, 1000} {
		table, err := s.Reader.Usage(ctx, Scope(ctx), usage.Query{
			ScanID: now.ID, GroupBy: usage.User, By: usage.Allocated, Limit: limit,
		})
		if err != nil {
			return nil, fmt.Errorf("usage of scan %d by user: %w", now.ID, err)
		}
		top := report.NewTop(usage.User, usage.Allocated, table)
		was, err := s.Reader.UsageOf(ctx, Scope(ctx), before.ID, usage.User, top.Keys())
		if err != nil {
			return nil, fmt.Errorf("usage of scan %d by user: %w", before.ID, err)
		}
		most = nil
		for i, change := range top.ChangesSince(was, before.Totals).Items {
			if change == nil || change.Sign() <= 0 || most != nil && change.Diff().Cmp(most.Change.Diff()) <= 0 {
				continue
			}
			most = &page.Grower{Row: top.Items[i].Row, Since: *before, Change: *change}
		}
		if top.Others == nil {
			return most, nil
		}
		last := top.Items[len(top.Items)-1].Allocated
		if most != nil && most.Change.Diff().Cmp(last.Big()) >= 0 {
			return most, nil
		}
		if most != nil {
			most.Among = limit
		}
	}
	return most, nil
}
