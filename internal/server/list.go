package server

import (
	"net/http"
	"strconv"

	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// list makes the page of all values of a dimension.
func (s *site) list(d usage.Dimension) handler {
	return func(r *http.Request) (answer, error) {
		ctx := r.Context()
		model := page.List{Frame: s.frame(r, "")}
		f := &model.Frame
		f.Measures = timelineMeasures()
		if err := s.fileSystem(ctx, f, fsParam(r)); err != nil {
			return answer{}, err
		}
		f.Path, f.Title = f.ListPath(d), page.ListTitle(d)
		grown, err := option(r, f, "grown", "", "1", "7")
		if err != nil {
			return answer{}, err
		}
		if f.By, err = option(r, f, "by", f.Measures...); err != nil {
			return answer{}, err
		}
		if model.Number, err = pageNumber(r, f); err != nil {
			return answer{}, err
		}
		if other, ok, err := s.choose(r, f); !ok {
			return other, err
		}
		points, err := s.fortnight(ctx, f)
		if err != nil {
			return answer{}, err
		}
		since := baselines(f, points)
		q := usage.Query{GroupBy: d, Limit: page.ListRows, Offset: (model.Number - 1) * page.ListRows}
		for _, base := range since {
			if strconv.Itoa(base.days) == grown {
				model.Grown, q.GrownSince = base.days, base.scan.ID
			}
		}
		model.Ranking, err = s.ranking(ctx, f, q, since...)
		return answer{content: page.ListPage(model)}, err
	}
}

// maxPage keeps the offset of a page within what a database counts with.
const maxPage = 1_000_000

// pageNumber reads which page of a list is asked for, from 1.
func pageNumber(r *http.Request, f *component.Frame) (int, error) {
	text := r.URL.Query().Get("page")
	if text == "" {
		return 1, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 || number > maxPage {
		return 0, badParameter("page", text, "It must be the number of a page, from 1.")
	}
	if number > 1 {
		f.State.Set("page", text)
	}
	return number, nil
}
