package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"fstally/internal/report"
	"fstally/internal/usage"
)

type item struct {
	Key  string `json:"key" doc:"What filters take: a number for users, groups and pools, an escaped name for others."`
	Name string `json:"name" doc:"What a person reads; the key where there is no name."`
	Measures
	Share  float64 `json:"share" minimum:"0" maximum:"1" doc:"Part of the total in the measure by."`
	Change *change `json:"change,omitempty" nullable:"true"`
}

type others struct {
	Count int64 `json:"count" doc:"Values that are not among the items."`
	Measures
	Share  float64 `json:"share" minimum:"0" maximum:"1" doc:"Part of the total in the measure by."`
	Change *change `json:"change,omitempty" nullable:"true"`
}

type usageBody struct {
	FileSystem  string   `json:"filesystem" doc:"Name of the file system."`
	Scan        *scanRef `json:"scan" doc:"The scan that the numbers come from; null where none is published yet."`
	Since       *scanRef `json:"since,omitempty" doc:"The earlier scan that since_days compares with; absent where there is none."`
	GroupBy     string   `json:"group_by" doc:"The dimension that the items are values of."`
	By          string   `json:"by" doc:"The measure of order and shares."`
	Total       Measures `json:"total" doc:"Of everything that passes the filters: the items and the others."`
	TotalChange *change  `json:"total_change,omitempty" nullable:"true"`
	Items       []item   `json:"items" nullable:"false" doc:"By the measure descending, or by its change, then by number or bytewise key."`
	Others      *others  `json:"others" doc:"Everything that is not among the items; null where there is nothing."`
}

// TransformSchema says what can be null.
func (usageBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "scan", "others")
}

func (b usageBody) columns() []string {
	columns := slices.Concat([]string{b.GroupBy, "name"}, measureColumns(), []string{"share"})
	if b.TotalChange != nil {
		columns = append(columns, "change_of_"+column(usage.Measure(b.By)))
	}
	return columns
}

// rows are the items and, with an empty key, the others, so that the rows of a
// file sum to the total.
func (b usageBody) rows() [][]cell {
	var rows [][]cell
	add := func(key, name cell, m *Measures, part float64, c *change) {
		row := slices.Concat([]cell{key, name}, m.cells(), []cell{share(part)})
		if b.TotalChange != nil {
			row = append(row, c.cell())
		}
		rows = append(rows, row)
	}
	for i := range b.Items {
		it := &b.Items[i]
		add(text(it.Key), text(it.Name), &it.Measures, it.Share, it.Change)
	}
	if o := b.Others; o != nil {
		add("", text(fmt.Sprintf("(%d others)", o.Count)), &o.Measures, o.Share, o.Change)
	}
	return rows
}

type usageOutput struct{ Body usageBody }

// PageParams cut a part out of a list.
type PageParams struct {
	By     measureParam `query:"by" default:"allocated" doc:"The measure of order and shares."`
	Limit  int          `query:"limit" default:"10" minimum:"1" maximum:"1000" doc:"Items wanted."`
	Offset int          `query:"offset" default:"0" minimum:"0" maximum:"1000000000" doc:"Items passed over; they are among the others."`
}

type usageInput struct {
	FSParam
	ScanParam
	GroupBy dimensionParam `query:"group_by" default:"user" doc:"What the usage is split by."`
	PageParams
	FilterParams
	SinceParam
	FormatParam
}

type topUsersInput struct {
	FSParam
	ScanParam
	PageParams
	FilterParams
	SinceParam
	FormatParam
}

func (a *api) registerUsage() {
	errors := []int{http.StatusNotFound, http.StatusGone}
	const answer = "The items of the page, and the others. In CSV the others are a row with an empty key."
	register(a, operation{
		id: "usage", method: http.MethodGet, path: "/filesystems/{fs}/usage", list: true, errors: errors,
		group: groupUsage, summary: "The usage of one scan by one dimension, filtered",
		description: "Largest first. What is not among the items is in others, so that both always sum to the total. " +
			"Filters can be combined and narrow all of it, the total too.",
		answer: answer,
	}, func(ctx context.Context, in *usageInput) (*usageOutput, error) {
		return a.usage(ctx, in)
	})
	register(a, operation{
		id: "top-users", method: http.MethodGet, path: "/filesystems/{fs}/top/users", list: true, errors: errors,
		group: groupUsage, summary: "The users who use most",
		description: "The same as usage with group_by=user.",
		answer:      answer,
	}, func(ctx context.Context, in *topUsersInput) (*usageOutput, error) {
		return a.usage(ctx, &usageInput{
			FSParam: in.FSParam, ScanParam: in.ScanParam, GroupBy: dimensionParam(usage.User),
			PageParams: in.PageParams, FilterParams: in.FilterParams, SinceParam: in.SinceParam,
		})
	})
}

func (a *api) usage(ctx context.Context, in *usageInput) (*usageOutput, error) {
	fs, err := a.fileSystem(ctx, in.FS)
	if err != nil {
		return nil, err
	}
	scan, err := a.scan(ctx, fs, in.Scan)
	if err != nil {
		return nil, err
	}
	classes := fs.SizeClasses
	if scan != nil {
		classes = scan.SizeClasses
	}
	filter, err := in.filter(classes)
	if err != nil {
		return nil, err
	}
	if err := in.check(filter); err != nil {
		return nil, err
	}
	q := usage.Query{
		GroupBy: usage.Dimension(in.GroupBy), By: usage.Measure(in.By), Filter: filter,
		Limit: in.Limit, Offset: in.Offset,
	}
	since, err := a.before(ctx, fs, scan, in.SinceDays)
	if err != nil {
		return nil, err
	}
	if since != nil && in.Order == "change" {
		q.GrownSince = since.ID
	}
	var table usage.Table
	if scan != nil {
		q.ScanID = scan.ID
		table, err = a.Reader.Usage(ctx, a.Scope(ctx), q)
		if err != nil {
			return nil, fmt.Errorf("usage of scan %d by %s: %w", scan.ID, q.GroupBy, err)
		}
	}
	top := report.NewTop(q.GroupBy, q.By, table)
	body := usageBody{
		FileSystem: fs.Name, Scan: a.newScanRef(scan), GroupBy: string(top.Dimension), By: string(top.By),
		Total: newMeasures(top.Total, scan), Items: make([]item, 0, len(top.Items)),
	}
	for _, it := range top.Items {
		body.Items = append(body.Items, item{
			Key: it.Key, Name: it.Name, Measures: newMeasures(it.Measures, scan), Share: it.Share,
		})
	}
	if o := top.Others; o != nil {
		body.Others = &others{Count: o.Count, Measures: newMeasures(o.Measures, scan), Share: o.Share}
	}
	if in.SinceDays > 0 {
		if err := a.compare(ctx, since, top, &body); err != nil {
			return nil, err
		}
	}
	return &usageOutput{Body: body}, nil
}
