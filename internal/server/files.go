package server

import (
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// typesInMenu is how many file types the histogram can be narrowed to by hand.
const typesInMenu = 50

// files is the page that says who creates the files, of which kind, and how
// small they are.
func (s *site) files(r *http.Request) (answer, error) {
	ctx := r.Context()
	model := page.Files{Frame: s.frame(r, "Files")}
	f := &model.Frame
	f.Section, f.By = component.Files, usage.Files
	if err := s.fileSystem(ctx, f, fsParam(r)); err != nil {
		return answer{}, err
	}
	form, err := option(r, f, "histogram", "classes", "fine")
	if err != nil {
		return answer{}, err
	}
	typ := r.URL.Query().Get("type")
	if !utf8.ValidString(typ) || strings.ContainsFunc(typ, unicode.IsControl) {
		return answer{}, badParameter("type", typ, "It must be a file type such as tar.gz.")
	}
	if typ != "" {
		f.State.Set("type", typ)
	}
	if other, ok, err := s.choose(r, f); !ok {
		return other, err
	}

	points, err := s.fortnight(ctx, f)
	if err != nil {
		return answer{}, err
	}
	if model.Users, model.Types, model.Filesets, err = s.rankings(ctx, f, points); err != nil {
		return answer{}, err
	}
	types, err := s.Reader.Usage(ctx, Scope(ctx), usage.Query{
		ScanID: f.Scan.ID, GroupBy: usage.Type, By: usage.Files, Limit: typesInMenu,
	})
	if err != nil {
		return answer{}, fmt.Errorf("usage of scan %d by type: %w", f.Scan.ID, err)
	}
	model.Sizes = page.Sizes{Type: typ, Fine: form == "fine"}
	for _, row := range types.Rows {
		if row.Files > 0 {
			model.Sizes.Types = append(model.Sizes.Types, row.Key)
		}
	}

	if model.AllSizes, err = s.Reader.SizeHistogram(ctx, Scope(ctx), f.Scan.ID, usage.Size, nil); err != nil {
		return answer{}, fmt.Errorf("size histogram of scan %d: %w", f.Scan.ID, err)
	}
	model.Sizes.Rows = model.AllSizes
	if typ != "" {
		model.Sizes.Rows, err = s.Reader.SizeHistogram(ctx, Scope(ctx), f.Scan.ID, usage.Size, &typ)
		if err != nil {
			return answer{}, fmt.Errorf("size histogram of scan %d for %s: %w", f.Scan.ID, typ, err)
		}
	}
	return answer{content: page.FilesPage(model), status: http.StatusOK}, nil
}
