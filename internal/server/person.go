package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"
	"golang.org/x/sync/errgroup"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/page"
)

// personChartsMax is how many charts the page of a person draws.
const personChartsMax = 6

// person makes the page of one user over all file systems.
func (s *site) person(r *http.Request) (answer, error) {
	ctx := r.Context()
	uid := chi.URLParam(r, "uid")
	model := page.Person{Frame: s.frame(r, ""), UID: uid, Charts: personChartsMax}
	f := &model.Frame
	f.Path, f.Measures = "/users/"+uid, timelineMeasures()
	nobody := &pageError{
		status:  http.StatusNotFound,
		message: fmt.Sprintf("There is no user %s in any file system", shownKey(uid)),
		remedy:  "Users are addressed by their number, as id -u NAME tells it: choose one from a list of users.",
	}
	if _, ok := filterBy(usage.User, uid); !ok {
		return answer{}, nobody
	}
	var err error
	if f.By, err = option(r, f, "by", f.Measures...); err != nil {
		return answer{}, err
	}
	if model.Range, err = option(r, f, "range", page.RangeAll, page.RangeThree, page.RangeYear); err != nil {
		return answer{}, err
	}
	if f.FileSystems, err = s.Reader.FileSystems(ctx, Scope(ctx)); err != nil {
		return answer{}, fmt.Errorf("list file systems: %w", err)
	}
	holdings := make([]*page.Holding, len(f.FileSystems))
	group, each := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i, fs := range f.FileSystems {
		group.Go(func() (err error) {
			if holdings[i], err = s.holding(each, fs, f.By, uid); err != nil {
				return fmt.Errorf("user %s in %s: %w", uid, fs.Name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return answer{}, err
	}
	for _, h := range holdings {
		if h != nil {
			model.Holdings = append(model.Holdings, *h)
		}
	}
	if len(model.Holdings) == 0 {
		return answer{}, nobody
	}
	slices.SortStableFunc(model.Holdings, func(a, b page.Holding) int {
		larger := -f.By.Of(a.Row.Measures).Cmp(f.By.Of(b.Row.Measures))
		return cmp.Or(larger, cmp.Compare(a.FileSystem.Name, b.FileSystem.Name))
	})
	f.Title = model.Name()
	if err := s.personCharts(ctx, &model); err != nil {
		return answer{}, err
	}
	return answer{content: page.PersonPage(model)}, nil
}

// personCharts reads the courses that are drawn, those of the first file systems.
func (s *site) personCharts(ctx context.Context, model *page.Person) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	from := firstDay(model.Range, model.Now)
	for i := range min(len(model.Holdings), model.Charts) {
		h := &model.Holdings[i]
		group.Go(func() error {
			history, err := s.readHistory(ctx, historyOfUser(h.FileSystem.ID, model.By, model.UID), reading{
				from: from, points: smallChartPoints,
			})
			if err != nil {
				return fmt.Errorf("user %s in %s: %w", model.UID, h.FileSystem.Name, err)
			}
			h.Course.Points, h.Course.Excerpt = history.chart, history.excerpt
			return nil
		})
	}
	return group.Wait()
}

func historyOfUser(fileSystemID int64, by usage.Measure, uid string) usage.HistoryQuery {
	return usage.HistoryQuery{FileSystemID: fileSystemID, GroupBy: usage.User, By: by, Keys: []string{uid}}
}

// holding reads what a user has, and had lately, in one file system; nil where that
// was never anything.
func (s *site) holding(ctx context.Context, fs usage.FileSystem, by usage.Measure, uid string) (*page.Holding, error) {
	if fs.CurrentScanID == 0 {
		return nil, nil
	}
	scan, err := s.Reader.Scan(ctx, Scope(ctx), fs.CurrentScanID)
	if errors.Is(err, usage.ErrNotFound) {
		return nil, nil // removed since the list was read
	}
	if err != nil {
		return nil, fmt.Errorf("scan %d: %w", fs.CurrentScanID, err)
	}
	if had, err := s.Reader.EverHad(ctx, Scope(ctx), fs.ID, usage.User, uid); err != nil || !had {
		return nil, err
	}
	history, err := s.readHistory(ctx, historyOfUser(fs.ID, by, uid), reading{
		from: daysBefore(scan.Day, page.SparkDays), points: chartPoints, until: scan.Day, spans: earlierSpans(),
	})
	if err != nil {
		return nil, err
	}
	h := &page.Holding{FileSystem: fs, Scan: s.zoned(scan), Row: usage.Row{Key: uid, Name: uid}}
	for _, series := range history.series {
		h.Row.Name = cmp.Or(series.Name, uid)
	}
	for _, p := range history.points {
		if p.Scan.ID == scan.ID && len(p.Rows) > 0 && p.Rows[0] != nil {
			h.Row.Measures = *p.Rows[0]
		}
	}
	for i, days := range earlierSpans() {
		h.Earlier[i] = report.Baseline(history.points, &h.Scan, days)
	}
	h.Course = page.Course{By: by, GroupBy: usage.User, Series: history.series, Past: history.points}
	return h, nil
}
