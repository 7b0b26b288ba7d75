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

// personCharts is how many charts the page of a person draws.
const personCharts = 6

// person makes the page of one user over all file systems.
func (s *site) person(r *http.Request) (answer, error) {
	ctx := r.Context()
	uid := chi.URLParam(r, "uid")
	model := page.Person{Frame: s.frame(r, ""), UID: uid, Charts: personCharts}
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
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i, fs := range f.FileSystems {
		group.Go(func() (err error) {
			if holdings[i], err = s.holding(ctx, fs, f.By, uid); err != nil {
				return fmt.Errorf("user %s in %s: %w", uid, fs.Name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return answer{}, err
	}
	from := firstDay(model.Range, f.Now)
	for _, h := range holdings {
		if h == nil {
			continue
		}
		for len(h.Course.Points) > 0 && h.Course.Points[0].Scan.Day < from {
			h.Course.Points = h.Course.Points[1:]
		}
		model.Holdings = append(model.Holdings, *h)
	}
	if len(model.Holdings) == 0 {
		return answer{}, nobody
	}
	slices.SortStableFunc(model.Holdings, func(a, b page.Holding) int {
		larger := -f.By.Of(a.Row.Measures).Cmp(f.By.Of(b.Row.Measures))
		return cmp.Or(larger, cmp.Compare(a.FileSystem.Name, b.FileSystem.Name))
	})
	f.Title = model.Name()
	return answer{content: page.PersonPage(model)}, nil
}

// holding reads what a user has, and had, in one file system; nil where that was
// never anything.
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
	history, err := s.Reader.History(ctx, Scope(ctx), usage.HistoryQuery{
		FileSystemID: fs.ID, GroupBy: usage.User, By: by, Keys: []string{uid},
	})
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	if !everHad(history.Points) {
		return nil, nil
	}
	h := &page.Holding{FileSystem: fs, Scan: s.zoned(scan), Row: usage.Row{Key: uid, Name: uid}}
	for _, series := range history.Series {
		h.Row.Name = cmp.Or(series.Name, uid)
	}
	for i := range history.Points {
		p := &history.Points[i]
		p.Scan = s.zoned(p.Scan)
		if p.Scan.ID == scan.ID && len(p.Rows) > 0 && p.Rows[0] != nil {
			h.Row.Measures = *p.Rows[0]
		}
	}
	for i, days := range []int{1, 7, 30} {
		h.Earlier[i] = report.Baseline(history.Points, &h.Scan, days)
	}
	h.Course = page.Course{
		By: by, GroupBy: usage.User, Series: history.Series, Points: history.Points, Past: history.Points,
	}
	return h, nil
}
