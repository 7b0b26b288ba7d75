package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// entity makes the page of one value of a dimension: a user, a type, a fileset.
func (s *site) entity(d usage.Dimension) handler {
	return func(r *http.Request) (answer, error) {
		model := page.Entity{Frame: s.frame(r, ""), Dimension: d}
		f := &model.Frame
		f.Measures = timelineMeasures()
		if err := s.fileSystem(r.Context(), f, fsParam(r)); err != nil {
			return answer{}, err
		}
		key := keyParam(r)
		filter, ok := filterBy(d, key)
		if !ok {
			return answer{}, noEntity(f, d, key)
		}
		f.Path, f.Title = f.EntityPath(d, key), key
		var err error
		if f.By, err = option(r, f, "by", f.Measures...); err != nil {
			return answer{}, err
		}
		if model.Range, err = option(r, f, "range", page.RangeAll, page.RangeThree, page.RangeYear); err != nil {
			return answer{}, err
		}
		if other, ok, err := s.choose(r, f); !ok {
			return other, err
		}
		if err := s.findEntity(r.Context(), &model, key); err != nil {
			return answer{}, err
		}
		if err := s.splits(r.Context(), &model, filter); err != nil {
			return answer{}, err
		}
		return answer{content: page.EntityPage(model)}, nil
	}
}

// findEntity reads what the value is in the shown scan, and what it was before.
// It fails where no scan of the file system has it.
func (s *site) findEntity(ctx context.Context, model *page.Entity, key string) error {
	f, d := &model.Frame, model.Dimension
	model.From = firstDay(model.Range, f.Now)
	model.Course = page.Course{By: f.By, GroupBy: d}
	err := s.course(ctx, f, &model.Course, usage.HistoryQuery{GroupBy: d, Keys: []string{key}}, reading{
		from: model.From, points: smallChartPoints, until: f.Scan.Day, spans: earlierSpans(),
	})
	if err != nil {
		return err
	}
	table, err := s.Reader.Usage(ctx, Scope(ctx), usage.Query{
		ScanID: f.Scan.ID, GroupBy: d, By: f.By, Limit: page.RankLimit,
	})
	if err != nil {
		return fmt.Errorf("usage of scan %d by %s: %w", f.Scan.ID, d, err)
	}
	model.Count = table.Count
	if i := slices.IndexFunc(table.Rows, func(row usage.Row) bool { return row.Key == key }); i >= 0 {
		model.Row, model.Rank = table.Rows[i], i+1
	} else {
		now, err := s.Reader.UsageOf(ctx, Scope(ctx), f.Scan.ID, d, []string{key})
		if err != nil {
			return fmt.Errorf("usage of scan %d by %s: %w", f.Scan.ID, d, err)
		}
		m, known := now[key]
		model.Row, model.Unknown = usage.Row{Key: key, Name: key, Measures: m}, !known
		for _, series := range model.Course.Series {
			model.Row.Name = cmp.Or(series.Name, key)
		}
		if m.IsZero() {
			// The value may be in one old scan alone, which the chart leaves out.
			had, err := s.Reader.EverHad(ctx, Scope(ctx), f.FileSystem.ID, d, key)
			if err != nil {
				return err
			}
			if !had {
				return noEntity(f, d, key)
			}
		}
	}
	f.Title = component.ShownName(d, model.Row)
	model.Earlier = earlier(f, model.Course.Past)
	return nil
}

// earlierSpans are over how many days a value is compared.
func earlierSpans() []int { return []int{1, 7, 30} }

// earlier returns what the one series of a history was 1, 7 and 30 days before
// the shown scan, as far as there are scans of about those days.
func earlier(f *component.Frame, points []usage.Point) []page.Earlier {
	var all []page.Earlier
	for _, days := range earlierSpans() {
		base := report.Baseline(points, &f.Scan.Scan, days)
		if base == nil || len(all) > 0 && all[len(all)-1].Since.ID == base.Scan.ID {
			continue
		}
		e := page.Earlier{Label: between(&base.Scan, &f.Scan.Scan), Since: base.Scan}
		if len(base.Rows) > 0 {
			e.Was = base.Rows[0]
		}
		all = append(all, e)
	}
	return all
}

// splits reads what the value is made of, from the details of the shown scan.
func (s *site) splits(ctx context.Context, model *page.Entity, filter usage.Filter) error {
	f := &model.Frame
	if model.Row.IsZero() {
		return nil
	}
	for _, d := range page.SplitsOf(model.Dimension) {
		q := usage.Query{ScanID: f.Scan.ID, GroupBy: d, By: f.By, Filter: filter, Limit: topN}
		classes := d == usage.SizeClassDim || d == usage.AgeClassDim
		if classes {
			q.Limit = int(usage.AgeNotFile) + 1 // all
		}
		table, err := s.Reader.Usage(ctx, Scope(ctx), q)
		if errors.Is(err, usage.ErrThinned) {
			model.Thinned = true
			return nil
		}
		if err != nil {
			return fmt.Errorf("usage of %s %q in scan %d by %s: %w", model.Dimension, model.Row.Key, f.Scan.ID, d, err)
		}
		if classes { // in their own order
			slices.SortFunc(table.Rows, func(a, b usage.Row) int { return cmp.Compare(a.ID, b.ID) })
		}
		model.Splits = append(model.Splits, component.Ranking{Top: report.NewTop(d, f.By, table)})
	}
	return nil
}

// filterBy narrows to one value; ok is false where no value can have the key.
func filterBy(d usage.Dimension, key string) (f usage.Filter, ok bool) {
	if d == usage.User {
		id, err := strconv.ParseUint(key, 10, 32)
		if err != nil || strconv.FormatUint(id, 10) != key {
			return f, false
		}
		uid := uint32(id)
		return usage.Filter{User: &uid}, true
	}
	if _, err := usage.UnescapeKey(key); err != nil || key == "" ||
		!utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl) {
		return f, false
	}
	if d == usage.Type {
		return usage.Filter{Type: &key}, true
	}
	return usage.Filter{Fileset: &key}, true
}

// keyParam returns the key at the end of an address. It may have slashes, encoded
// or, behind a proxy that decodes them, not.
func keyParam(r *http.Request) string {
	param := chi.URLParam(r, "*")
	if r.URL.RawPath == "" {
		return param
	}
	if decoded, err := url.PathUnescape(param); err == nil {
		return decoded
	}
	return param
}

func noEntity(f *component.Frame, d usage.Dimension, key string) error {
	return &pageError{
		status:  http.StatusNotFound,
		message: fmt.Sprintf("There is no %s %s in %s", component.DimensionWord(d), shownKey(key), f.FileSystem.Name),
		remedy:  "No scan that is kept found any: choose one of those on the Capacity page.",
	}
}

// shownKey shows a key from an address, which is escaped already if it is one.
func shownKey(key string) string {
	if raw, err := usage.Unescape(key); err == nil {
		return usage.Escape(raw)
	}
	return usage.Escape(key)
}
