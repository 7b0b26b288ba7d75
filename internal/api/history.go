package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"fstally/internal/usage"
)

type series struct {
	Key  string `json:"key" doc:"What filters take: a number for users, groups and pools, an escaped name for others."`
	Name string `json:"name" doc:"What a person reads; the key where there is no name."`
}

type historyPoint struct {
	Scan   *scanRef     `json:"scan" doc:"The last published scan of the day."`
	Total  Measures     `json:"total" doc:"Of the whole scan."`
	Used   *usage.Bytes `json:"used,omitempty" doc:"Bytes in use by statfs at the start of the scan; absent where unknown."`
	Size   *usage.Bytes `json:"filesystem_size,omitempty" doc:"Bytes that the file system had then; absent where unknown."`
	Values []value      `json:"values,omitempty" nullable:"false" doc:"The measure by of each of series, in their order."`
	Others *value       `json:"others,omitempty" nullable:"true" doc:"What the series leave of the total; null where one of them is unknown."`
}

type historyBody struct {
	FileSystem string         `json:"filesystem" doc:"Name of the file system."`
	GroupBy    string         `json:"group_by,omitempty" doc:"The dimension of the series; absent where only totals were asked for."`
	By         string         `json:"by" doc:"The measure of the series, of values and of others."`
	From       string         `json:"from,omitempty" doc:"As it was asked for."`
	To         string         `json:"to,omitempty" doc:"As it was asked for."`
	Series     []series       `json:"series,omitempty" nullable:"false" doc:"Those that are largest in the newest scan of the range."`
	Points     []historyPoint `json:"points" nullable:"false" doc:"One for each day with a published scan, oldest first; other days are unknown."`
}

func (b historyBody) columns() []string {
	columns := []string{"day", "scan", "started"}
	if b.GroupBy != "" {
		return append(columns, b.GroupBy, "name", column(usage.Measure(b.By)))
	}
	return append(append(columns, measureColumns()...), "filesystem_used_bytes", "filesystem_size_bytes")
}

// rows are long: one for each day and series.
func (b historyBody) rows() [][]cell {
	var rows [][]cell
	for _, p := range b.Points {
		when := []cell{cell(p.Scan.Day), number(p.Scan.ID), cell(p.Scan.Started.Format(timeFormat))}
		if b.GroupBy == "" {
			sizes := []cell{value{p.Used}.cell(), value{p.Size}.cell()}
			rows = append(rows, slices.Concat(when, p.Total.cells(), sizes))
			continue
		}
		for i, v := range p.Values {
			rows = append(rows, slices.Concat(when, []cell{text(b.Series[i].Key), text(b.Series[i].Name), v.cell()}))
		}
		if p.Others != nil {
			rows = append(rows, slices.Concat(when, []cell{"", "(others)", p.Others.cell()}))
		}
	}
	return rows
}

type historyOutput struct{ Body historyBody }

type historyInput struct {
	FSParam
	GroupBy dimensionParam `query:"group_by" doc:"What to split into series; the totals alone without it."`
	By      measureParam   `query:"by" default:"allocated" doc:"The measure of the series."`
	From    string         `query:"from" doc:"First day, a date in the site's zone; from the first scan without it." example:"2026-01-01"`
	To      string         `query:"to" doc:"The day after the last, not before from; to the newest scan without it." example:"2027-01-01"`
	Top     int            `query:"top" default:"10" minimum:"1" maximum:"100" doc:"Series wanted."`
	Key     string         `query:"key" doc:"Only this value of group_by, by key, instead of the largest."`
	FormatParam
}

func (a *api) registerHistory() {
	register(a, operation{
		id: "history", method: http.MethodGet, path: "/filesystems/{fs}/history", list: true,
		errors: []int{http.StatusNotFound}, group: groupHistory, summary: "How the usage went from scan to scan",
		description: "The totals of each day, and with group_by the series that are largest at its end. " +
			"Suspect and failed scans are not in it, and days without a scan are not made up.",
		answer: "The points, oldest first. In CSV with group_by there is one row for each day and series.",
	}, a.history)
}

func (a *api) history(ctx context.Context, in *historyInput) (*historyOutput, error) {
	fs, err := a.fileSystem(ctx, in.FS)
	if err != nil {
		return nil, err
	}
	if err := checkDay("query.from", in.From); err != nil {
		return nil, err
	}
	if err := checkDay("query.to", in.To); err != nil {
		return nil, err
	}
	if in.From != "" && in.To != "" && in.To < in.From {
		return nil, invalid("query.to", in.To, fmt.Errorf("must not be before from, which is %s", in.From))
	}
	q := usage.HistoryQuery{
		FileSystemID: fs.ID, GroupBy: usage.Dimension(in.GroupBy), By: usage.Measure(in.By),
		From: in.From, To: in.To, Top: in.Top,
	}
	if in.Key != "" {
		if err := checkKeyOf(q.GroupBy, in.Key); err != nil {
			return nil, invalid("query.key", in.Key, err)
		}
		q.Keys = []string{in.Key}
	}
	history, err := a.Reader.History(ctx, a.Scope(ctx), q)
	if err != nil {
		return nil, fmt.Errorf("history of %s by %q: %w", fs.Name, q.GroupBy, err)
	}
	body := historyBody{
		FileSystem: fs.Name, GroupBy: string(in.GroupBy), By: string(in.By), From: in.From, To: in.To,
		Points: make([]historyPoint, 0, len(history.Points)),
	}
	for _, row := range history.Series {
		body.Series = append(body.Series, series{Key: row.Key, Name: row.Name})
	}
	for _, p := range history.Points {
		body.Points = append(body.Points, a.newHistoryPoint(q, p))
	}
	return &historyOutput{Body: body}, nil
}

// checkKeyOf refuses what is no key of the dimension.
func checkKeyOf(d usage.Dimension, key string) error {
	switch d {
	case "":
		return errors.New("group_by must say what it is a key of")
	case usage.User, usage.Group, usage.Pool:
		if _, err := strconv.ParseUint(key, 10, 32); err != nil {
			return errors.New("must be a number from 0 to 4294967295")
		}
		return nil
	default:
		return checkKey(key)
	}
}

func (a *api) newHistoryPoint(q usage.HistoryQuery, p usage.Point) historyPoint {
	out := historyPoint{Scan: a.newScanRef(&p.Scan), Total: newMeasures(p.Total, &p.Scan)}
	if c := p.Scan.Capacity; !c.Size.IsZero() {
		used := c.Used()
		out.Used, out.Size = &used, &c.Size
	}
	if q.GroupBy == "" {
		return out
	}
	known := true
	var sum usage.Bytes
	for _, row := range p.Rows {
		if row == nil {
			known = false
			out.Values = append(out.Values, value{})
			continue
		}
		v := q.By.Of(*row)
		sum = sum.Add(v)
		out.Values = append(out.Values, value{&v})
	}
	out.Others = &value{}
	if known {
		rest := q.By.Of(p.Total).Sub(sum)
		out.Others.of = &rest
	}
	return out
}
