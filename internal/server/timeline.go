package server

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// timeline is the page that shows one measure over time.
func (s *site) timeline(r *http.Request) (answer, error) {
	ctx := r.Context()
	model := page.Timeline{Frame: s.frame(r, "History")}
	f := &model.Frame
	f.Section = component.History
	f.Measures = timelineMeasures()
	if err := s.fileSystem(ctx, f, fsParam(r)); err != nil {
		return answer{}, err
	}
	course := &model.Course
	var err error
	if f.By, err = option(r, f, "by", f.Measures...); err != nil {
		return answer{}, err
	}
	if course.GroupBy, err = option(r, f, "group_by", page.TimelineDimensions()...); err != nil {
		return answer{}, err
	}
	top, err := option(r, f, "top", "5", "10")
	if err != nil {
		return answer{}, err
	}
	model.Top, _ = strconv.Atoi(top)
	as, err := option(r, f, "as", "stacked", "lines")
	if err != nil {
		return answer{}, err
	}
	if err := span(r, &model); err != nil {
		return answer{}, err
	}
	if f.FileSystem.CurrentScanID == 0 {
		return s.firstRun(ctx, f, []usage.FileSystem{*f.FileSystem})
	}
	course.By, course.Whole, course.Lines = f.By, true, as == "lines"
	points := chartPoints
	if course.GroupBy != "" {
		points = smallChartPoints
	}
	err = s.course(ctx, f, course, usage.HistoryQuery{GroupBy: course.GroupBy, To: model.To, Top: model.Top}, reading{
		from: model.From, points: points, spans: page.Spans(),
	})
	return answer{content: page.TimelinePage(model)}, err
}

// timelineMeasures are those that every scan measures.
func timelineMeasures() []usage.Measure {
	return []usage.Measure{usage.Allocated, usage.Size, usage.Files, usage.Inodes, usage.Slack}
}

// span reads which time is shown: from and to, or else a range that ends now.
func span(r *http.Request, model *page.Timeline) error {
	f := &model.Frame
	var err error
	if model.Range, err = option(r, f, "range", page.RangeAll, page.RangeThree, page.RangeYear); err != nil {
		return err
	}
	for _, day := range []struct {
		name string
		into *string
	}{{"from", &model.From}, {"to", &model.To}} {
		text := r.URL.Query().Get(day.name)
		if text == "" {
			continue
		}
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return badParameter(day.name, text, "It must be a date such as 2026-01-31.")
		}
		*day.into = text
		f.State.Set(day.name, text)
	}
	if model.From == "" && model.To == "" {
		model.From = firstDay(model.Range, f.Now)
		return nil
	}
	model.Range = ""
	f.State.Del("range")
	if model.From != "" && model.To != "" && model.From >= model.To {
		return badParameter("to", model.To, "It must be a day after "+model.From+".")
	}
	return nil
}

// firstDay returns the first day of a range that ends now; "" for all.
func firstDay(span page.Range, now time.Time) string {
	switch span {
	case page.RangeYear:
		return now.AddDate(-1, 0, 0).Format(time.DateOnly)
	case page.RangeThree:
		return now.AddDate(-3, 0, 0).Format(time.DateOnly)
	default:
		return ""
	}
}

// course reads the history of the shown file system.
func (s *site) course(
	ctx context.Context, f *component.Frame, course *page.Course, q usage.HistoryQuery, r reading,
) error {
	q.FileSystemID, q.By = f.FileSystem.ID, course.By
	history, err := s.readHistory(ctx, q, r)
	if err != nil {
		return fmt.Errorf("%s by %q: %w", f.FileSystem.Name, q.GroupBy, err)
	}
	course.Series, course.Past = history.series, history.points
	course.Points, course.Excerpt = history.chart, history.excerpt
	return nil
}
