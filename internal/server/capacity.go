package server

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// topN is how many values a list on a page has.
const topN = 10

// growthDays is what the headline of growth looks back over.
const growthDays = 30

// capacity is the page that says who holds the space, and how it grows.
func (s *site) capacity(r *http.Request) (answer, error) {
	ctx := r.Context()
	model := page.Capacity{Frame: s.frame(r, "Capacity")}
	f := &model.Frame
	f.Section = component.Capacity
	f.Measures = []usage.Measure{usage.Allocated, usage.Size, usage.Files}
	if err := s.fileSystem(ctx, f, fsParam(r)); err != nil {
		return answer{}, err
	}
	var err error
	if f.By, err = option(r, f, "by", f.Measures...); err != nil {
		return answer{}, err
	}
	span, err := option(r, f, "range", page.RangeAll, page.RangeThree, page.RangeYear)
	if err != nil {
		return answer{}, err
	}
	if other, ok, err := s.choose(r, f); !ok {
		return other, err
	}

	history, err := s.readHistory(ctx, usage.HistoryQuery{FileSystemID: f.FileSystem.ID, By: f.By}, reading{
		from: firstDay(span, f.Now), points: chartPoints,
		until: f.Scan.Day, spans: []int{1, 7, growthDays}, recent: report.TrendDays + 1,
	})
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", f.FileSystem.Name, err)
	}
	if model.Users, model.Types, model.Filesets, err = s.rankings(ctx, f, history.points); err != nil {
		return answer{}, err
	}
	model.Errors, model.Skipped, err = s.Reader.ScanProblems(ctx, Scope(ctx), f.Scan.ID)
	if err != nil {
		return answer{}, fmt.Errorf("problems of scan %d: %w", f.Scan.ID, err)
	}
	model.Growth = growth(f, history.points)
	model.Forecast = forecast(&f.Scan.Scan, history.points)
	model.History = page.History{
		By: f.By, Range: span, From: firstDay(span, f.Now), Points: history.chart, Excerpt: history.excerpt,
	}
	return answer{content: page.CapacityPage(model), status: http.StatusOK}, nil
}

// history returns published scans of the file system, within the days of q.
func (s *site) history(ctx context.Context, f *component.Frame, q usage.HistoryQuery) ([]usage.Point, error) {
	q.FileSystemID, q.By = f.FileSystem.ID, f.By
	history, err := s.Reader.History(ctx, Scope(ctx), q)
	if err != nil {
		return nil, fmt.Errorf("history of %s: %w", f.FileSystem.Name, err)
	}
	for i := range history.Points {
		history.Points[i].Scan = s.zoned(history.Points[i].Scan)
	}
	return history.Points, nil
}

// ranking returns a part of a list of the shown scan, compared with others. Of q,
// the scan and the order are those of the page.
func (s *site) ranking(
	ctx context.Context, f *component.Frame, q usage.Query, since ...baseline,
) (component.Ranking, error) {
	q.ScanID, q.By = f.Scan.ID, f.By
	table, err := s.Reader.Usage(ctx, Scope(ctx), q)
	if err != nil {
		return component.Ranking{}, fmt.Errorf("usage of scan %d by %s: %w", q.ScanID, q.GroupBy, err)
	}
	ranking := component.Ranking{Top: report.NewTop(q.GroupBy, q.By, table), All: f.ListURL(q.GroupBy)}
	for _, base := range since {
		scan := base.scan
		before, err := s.Reader.UsageOf(ctx, Scope(ctx), scan.ID, q.GroupBy, ranking.Keys())
		if err != nil {
			return component.Ranking{}, fmt.Errorf("usage of scan %d by %s: %w", scan.ID, q.GroupBy, err)
		}
		ranking.Compared = append(ranking.Compared, component.Comparison{
			Days: base.days, Label: between(&scan, &f.Scan.Scan), Since: scan,
			TopChanges: ranking.ChangesSince(before, scan.Totals),
		})
	}
	return ranking, nil
}

// rankings reads the heads of the lists of users, types and filesets, each
// compared with the scans about a day and a week before, as far as there are any.
func (s *site) rankings(
	ctx context.Context, f *component.Frame, points []usage.Point,
) (users, types, filesets component.Ranking, err error) {
	since := baselines(f, points)
	group, ctx := errgroup.WithContext(ctx)
	for d, into := range map[usage.Dimension]*component.Ranking{
		usage.User: &users, usage.Type: &types, usage.Fileset: &filesets,
	} {
		group.Go(func() (err error) {
			*into, err = s.ranking(ctx, f, usage.Query{GroupBy: d, Limit: topN}, since...)
			return err
		})
	}
	err = group.Wait()
	return users, types, filesets, err
}

// baseline is the scan that is about so many days older than the shown one.
type baseline struct {
	days int
	scan usage.Scan
}

// baselines returns those of a day and a week, out of a history, without those
// that are not there.
func baselines(f *component.Frame, points []usage.Point) []baseline {
	var since []baseline
	for _, days := range []int{1, 7} {
		p := report.Baseline(points, &f.Scan.Scan, days)
		if p != nil && (len(since) == 0 || since[0].scan.ID != p.Scan.ID) {
			since = append(since, baseline{days, p.Scan})
		}
	}
	return since
}

// fortnight returns the published scans of the two weeks up to the shown one:
// those that baselines looks for.
func (s *site) fortnight(ctx context.Context, f *component.Frame) ([]usage.Point, error) {
	shown, err := time.Parse(time.DateOnly, f.Scan.Day)
	if err != nil {
		return nil, fmt.Errorf("day of scan %d: %w", f.Scan.ID, err)
	}
	return s.history(ctx, f, usage.HistoryQuery{
		From: shown.AddDate(0, 0, -14).Format(time.DateOnly), To: shown.AddDate(0, 0, 1).Format(time.DateOnly),
	})
}

// between says how many days of the calendar lie between two scans.
func between(earlier, later *usage.Scan) string {
	from, err1 := time.Parse(time.DateOnly, earlier.Day)
	to, err2 := time.Parse(time.DateOnly, later.Day)
	if err1 != nil || err2 != nil {
		return ""
	}
	if days := int(to.Sub(from).Hours() / 24); days != 1 {
		return fmt.Sprintf("%d days", days)
	}
	return "1 day"
}

// growth compares the totals of the shown scan with those of about 30 days
// before, or of the earliest scan where the history is shorter, and of the day
// before.
func growth(f *component.Frame, points []usage.Point) []page.Growth {
	shown := &f.Scan.Scan
	month := report.Baseline(points, shown, growthDays)
	if month == nil && len(points) > 0 && points[0].Scan.Day < shown.Day {
		month = &points[0]
	}
	var all []page.Growth
	for _, p := range []*usage.Point{month, report.Baseline(points, shown, 1)} {
		if p == nil || len(all) > 0 && all[0].Since.ID == p.Scan.ID {
			continue
		}
		all = append(all, page.Growth{
			Label: between(&p.Scan, shown), Since: p.Scan,
			Change: report.Change{By: f.By, From: p.Total, To: shown.Totals},
		})
	}
	return all
}

// forecast carries on the pace that the used space had up to the shown scan.
func forecast(shown *usage.Scan, points []usage.Point) report.Forecast {
	var until []usage.Point
	for _, p := range points {
		if !p.Scan.Started.After(shown.Started) {
			until = append(until, p)
		}
	}
	trend := report.NewTrend(report.UsedSamples(until))
	return report.NewForecast(trend, shown.Started, shown.Capacity.Used(), shown.Capacity.Size)
}
