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
	SinceDays int `query:"since_days" minimum:"0" maximum:"36500" doc:"Compare with the scan about so many days before, which gives each item its change in the measure by. 0: do not. Not together with filters."`
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

// changes compares a list with the scan about so many days before the one that it
// is of. There is none where the history does not go back so far: all is unknown
// then.
func (a *api) changes(
	ctx context.Context, fs usage.FileSystem, scan *usage.Scan, top report.Top, days int,
) (since *usage.Scan, changes report.TopChanges, err error) {
	changes.Items = make([]*report.Change, len(top.Items))
	if scan == nil {
		return nil, changes, nil
	}
	shown, err := time.Parse(time.DateOnly, scan.Day)
	if err != nil {
		return nil, changes, fmt.Errorf("day of scan %d: %w", scan.ID, err)
	}
	history, err := a.Reader.History(ctx, a.Scope(ctx), usage.HistoryQuery{
		FileSystemID: fs.ID, By: top.By,
		From: shown.AddDate(0, 0, -2*days-1).Format(time.DateOnly), To: scan.Day,
	})
	if err != nil {
		return nil, changes, fmt.Errorf("history of %s: %w", fs.Name, err)
	}
	base := report.Baseline(history.Points, scan, days)
	if base == nil {
		return nil, changes, nil
	}
	was, err := a.Reader.UsageOf(ctx, a.Scope(ctx), base.Scan.ID, top.Dimension, top.Keys())
	if err != nil {
		return nil, changes, fmt.Errorf("usage of scan %d by %s: %w", base.Scan.ID, top.Dimension, err)
	}
	return &base.Scan, top.ChangesSince(was, base.Total), nil
}

// compare adds the changes to an answer.
func (a *api) compare(
	ctx context.Context, fs usage.FileSystem, scan *usage.Scan, top report.Top, days int, body *usageBody,
) error {
	since, changes, err := a.changes(ctx, fs, scan, top, days)
	if err != nil {
		return err
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
	return nil
}
