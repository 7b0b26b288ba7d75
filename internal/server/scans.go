package server

import (
	"fmt"
	"net/http"
	"strconv"

	"fstally/web/component"
	"fstally/web/page"
)

// scansOnPage is how many scans one page of the list has: two months of nights.
const scansOnPage = 60

// scans is the page that lists the scans of a file system.
func (s *site) scans(r *http.Request) (answer, error) {
	ctx := r.Context()
	model := page.Scans{Frame: s.frame(r, "Scans"), Newest: true}
	f := &model.Frame
	f.Section = component.Scans
	if err := s.fileSystem(ctx, f, fsParam(r)); err != nil {
		return answer{}, err
	}
	var before int64
	if text := r.URL.Query().Get("before"); text != "" {
		var err error
		if before, err = strconv.ParseInt(text, 10, 64); err != nil || before < 1 {
			return answer{}, badParameter("before", text, "It must be the id of a scan.")
		}
		f.State.Set("before", text)
		model.Newest = false
	}
	// One more than is shown tells whether there are older ones.
	list, err := s.Reader.Scans(ctx, Scope(ctx), f.FileSystem.ID, scansOnPage+1, before)
	if err != nil {
		return answer{}, fmt.Errorf("list scans of %s: %w", f.FileSystem.Name, err)
	}
	if len(list) > scansOnPage {
		list = list[:scansOnPage]
		model.Older = list[scansOnPage-1].ID
	}
	for _, scan := range list {
		model.Items = append(model.Items, s.zoned(scan))
	}
	if f.Running != nil {
		if model.Before, _, err = s.around(ctx, *f.Running); err != nil {
			return answer{}, err
		}
		if model.Waits, err = s.waits(ctx, *f, *f.Running); err != nil {
			return answer{}, err
		}
	}
	return answer{content: page.ScansPage(model)}, nil
}
