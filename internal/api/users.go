package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"fstally/internal/usage"
)

type userRef struct {
	Key  string `json:"key" doc:"The number of the user."`
	Name string `json:"name" doc:"What the first of the hosts that knows the number calls it; the key where none does."`
}

type userItem struct {
	FileSystem string   `json:"filesystem" doc:"Name of the file system."`
	Scan       *scanRef `json:"scan" doc:"The latest published scan of the file system."`
	Name       string   `json:"name" doc:"What the host that scanned calls the number: hosts can differ."`
	Measures
	Share float64 `json:"share" minimum:"0" maximum:"1" doc:"Part of the file system's total in the measure by."`
}

type userBody struct {
	User  userRef    `json:"user" doc:"Whom the numbers are about."`
	By    string     `json:"by" doc:"The measure of order and shares."`
	Total Measures   `json:"total" doc:"Of the items. Two file systems that are parts of one another count twice."`
	Items []userItem `json:"items" nullable:"false" doc:"The file systems where the user has anything, by the measure descending, then by name."`
}

func (b userBody) columns() []string {
	return slices.Concat([]string{"filesystem", "scan", "day", "user", "name"}, measureColumns(), []string{"share"})
}

func (b userBody) rows() [][]cell {
	rows := make([][]cell, len(b.Items))
	for i := range b.Items {
		it := &b.Items[i]
		who := []cell{text(it.FileSystem), number(it.Scan.ID), cell(it.Scan.Day), text(b.User.Key), text(it.Name)}
		rows[i] = slices.Concat(who, it.cells(), []cell{share(it.Share)})
	}
	return rows
}

type userOutput struct{ Body userBody }

type userInput struct {
	UID string       `path:"uid" doc:"The number of the user, 0 to 4294967295." example:"1801"`
	By  measureParam `query:"by" default:"allocated" doc:"The measure of order and shares."`
	FormatParam
}

func (a *api) registerUsers() {
	register(a, operation{
		id: "user", method: http.MethodGet, path: "/users/{uid}", list: true, group: groupUsage,
		description: "One item for each file system where the user has anything. " +
			"A number that nobody has is no error: its items are empty.",
		answer:  "The sum and the file systems that it comes from.",
		summary: "What one user has in all file systems, as of their latest scans",
	}, a.user)
}

func (a *api) user(ctx context.Context, in *userInput) (*userOutput, error) {
	uid, err := strconv.ParseUint(in.UID, 10, 32)
	if err != nil {
		return nil, invalid("path.uid", in.UID, errors.New("must be a number from 0 to 4294967295"))
	}
	key := strconv.FormatUint(uid, 10)
	all, err := a.Reader.FileSystems(ctx, a.Scope(ctx))
	if err != nil {
		return nil, fmt.Errorf("list file systems: %w", err)
	}
	by := usage.Measure(in.By)
	body := userBody{User: userRef{Key: key, Name: key}, By: string(by), Items: []userItem{}}
	var total usage.Measures
	offline := true // whether every scan measured it
	for _, fs := range all {
		name, point, err := a.userIn(ctx, fs, key)
		if err != nil {
			return nil, err
		}
		if point == nil || point.Rows[0] == nil || point.Rows[0].IsZero() {
			continue
		}
		if body.User.Name == key {
			body.User.Name = name
		}
		has := *point.Rows[0]
		total.Add(has)
		offline = offline && point.Scan.Offline
		body.Items = append(body.Items, userItem{
			FileSystem: fs.Name, Scan: a.newScanRef(&point.Scan), Name: name,
			Measures: newMeasures(has, &point.Scan), Share: by.Share(has, point.Total),
		})
	}
	body.Total = newMeasures(total, &usage.Scan{Offline: offline && len(body.Items) > 0})
	slices.SortStableFunc(body.Items, func(x, y userItem) int {
		return cmp.Or(-x.of(by).Cmp(y.of(by)), cmp.Compare(x.FileSystem, y.FileSystem))
	})
	return &userOutput{Body: body}, nil
}

// userIn returns the latest point of the history of one user in a file system,
// and what the user is called there; nil where there is no published scan.
func (a *api) userIn(ctx context.Context, fs usage.FileSystem, key string) (string, *usage.Point, error) {
	scan, err := a.scan(ctx, fs, "latest")
	if err != nil || scan == nil {
		return "", nil, err
	}
	history, err := a.Reader.History(ctx, a.Scope(ctx), usage.HistoryQuery{
		FileSystemID: fs.ID, GroupBy: usage.User, By: usage.Allocated, From: scan.Day, Keys: []string{key},
	})
	if err != nil {
		return "", nil, fmt.Errorf("user %s in %s: %w", key, fs.Name, err)
	}
	if len(history.Points) == 0 || len(history.Series) == 0 {
		return "", nil, nil
	}
	return history.Series[0].Name, &history.Points[len(history.Points)-1], nil
}

// of returns one measure; 0 for one that was not measured.
func (m *Measures) of(by usage.Measure) usage.Bytes {
	sums := usage.Measures{Files: m.Files, Inodes: m.Inodes, Size: m.Size, Allocated: m.Allocated, Slack: m.Slack}
	if m.Offline != nil {
		sums.Offline = *m.Offline
	}
	return by.Of(sums)
}
