package api

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"fstally/internal/report"
	"fstally/internal/usage"
)

// SinceParam compares an answer with an earlier scan.
type SinceParam struct {
	SinceDays int    `query:"since_days" minimum:"0" maximum:"36500" doc:"Compare with the scan about so many days before, which gives each item its change in the measure by. 0: do not. Not together with filters."`
	Order     string `query:"order" enum:"measure,change" default:"measure" doc:"measure: those with most first. change: those that grew most first, which needs since_days; what is gone by now is among the others."`
}

// change is a signed difference, or null where it is not known.
type change struct{ of *report.Change }

// Schema has no format: int64 would be too small.
func (change) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeInteger, Nullable: true,
		Description: "Change since the scan since, in the measure by: exact, negative where it shrank; " +
			"null where it is not known. Absent unless since_days asks for it.",
	}
}

// MarshalJSON writes the digits or null.
func (c change) MarshalJSON() ([]byte, error) {
	if c.of == nil {
		return []byte("null"), nil
	}
	return c.of.Diff().Append(nil, 10), nil
}

// cell writes the digits or nothing.
func (c *change) cell() cell {
	if c == nil || c.of == nil {
		return ""
	}
	return number(c.of.Diff())
}

// before returns the scan about so many days before another; nil where the history
// does not go back so far.
func (a *api) before(ctx context.Context, fs usage.FileSystem, scan *usage.Scan, days int) (*usage.Scan, error) {
	if scan == nil || days == 0 {
		return nil, nil
	}
	shown, err := time.Parse(time.DateOnly, scan.Day)
	if err != nil {
		return nil, fmt.Errorf("day of scan %d: %w", scan.ID, err)
	}
	history, err := a.Reader.History(ctx, a.Scope(ctx), usage.HistoryQuery{
		FileSystemID: fs.ID, By: usage.Allocated,
		From: shown.AddDate(0, 0, -2*days-1).Format(time.DateOnly), To: scan.Day,
	})
	if err != nil {
		return nil, fmt.Errorf("history of %s: %w", fs.Name, err)
	}
	base := report.Baseline(history.Points, scan, days)
	if base == nil {
		return nil, nil
	}
	return &base.Scan, nil
}

// compare adds the changes since an earlier scan to an answer; all is unknown
// where there is none.
func (a *api) compare(ctx context.Context, since *usage.Scan, top report.Top, body *usageBody) error {
	changes := report.TopChanges{Items: make([]*report.Change, len(top.Items))}
	if since != nil {
		was, err := a.Reader.UsageOf(ctx, a.Scope(ctx), since.ID, top.Dimension, top.Keys())
		if err != nil {
			return fmt.Errorf("usage of scan %d by %s: %w", since.ID, top.Dimension, err)
		}
		changes = top.ChangesSince(was, since.Totals)
	}
	body.Since = a.newScanRef(since)
	body.TotalChange = &change{changes.Total}
	for i := range body.Items {
		body.Items[i].Change = &change{changes.Items[i]}
	}
	if body.Others != nil {
		body.Others.Change = &change{changes.Others}
	}
	return nil
}

// check refuses what cannot be compared.
func (p SinceParam) check(filter usage.Filter) error {
	if p.SinceDays > 0 && !filter.IsZero() {
		return invalid("query.since_days", strconv.Itoa(p.SinceDays),
			errors.New("must not be given together with filters: only whole lists can be compared"))
	}
	if p.Order == "change" && p.SinceDays == 0 {
		return invalid("query.order", p.Order, errors.New("needs since_days: change since when?"))
	}
	return nil
}
