package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// subject is a file system with what its pages are asked for.
type subject struct {
	name               string
	newest, older      int64 // scans
	topUser, smallUser string
	topType, fileset   string
}

// requests lists every page of each file system and every call of the API.
func requests(ctx context.Context, p *program) ([]string, error) {
	var systems struct{ Items []struct{ Name string } }
	if err := decode(ctx, p, "/api/v1/filesystems", &systems); err != nil {
		return nil, err
	}
	paths := []string{
		"/", "/login", "/healthz", "/readyz", "/metrics", "/static/app.css", "/schedules", "/settings",
		"/api", "/api/v1/openapi.json", "/api/v1/filesystems",
		"/api/v1/retention", "/api/v1/schedules",
		"/api/v1/schedules/preview?plan=nightly+01:30&zone=Europe/Prague&n=100",
	}
	for i, fs := range systems.Items {
		s, err := find(ctx, p, fs.Name)
		if err != nil {
			return nil, err
		}
		paths = append(paths, s.pages()...)
		if i == 0 {
			if err := p.schedule(ctx, fs.Name); err != nil {
				return nil, err
			}
			paths = append(paths, "/users/"+s.topUser)
			paths = append(paths, s.calls()...)
		}
	}
	return paths, nil
}

// pages are those of one file system.
func (s subject) pages() []string {
	fs := "/fs/" + s.name
	older := "?scan=" + strconv.FormatInt(s.older, 10)
	paths := []string{
		fs, fs + "/capacity", fs + "/capacity?by=files", fs + "/capacity" + older,
		fs + "/files", fs + "/files?histogram=fine&type=" + url.QueryEscape(s.topType), fs + "/files" + older,
		fs + "/schedule", fs + "/schedule?kind=every&hours=6&zone=UTC&catch_up=12", fs + "/settings",
		fs + "/scans", fs + "/scans?before=" + strconv.FormatInt(s.older, 10),
		fs + "/users/" + s.topUser, fs + "/users/" + s.smallUser, fs + "/users/" + s.topUser + older,
		fs + "/types/" + url.PathEscape(s.topType), fs + "/filesets/" + url.PathEscape(s.fileset),
		fs + "/history", fs + "/history?range=1y",
	}
	for _, d := range page.TimelineDimensions() {
		if d != "" {
			paths = append(paths, fs+"/history?top=10&group_by="+string(d))
		}
	}
	for _, d := range page.ListDimensions() {
		paths = append(paths, fs+"/"+component.ListFolder(d))
	}
	for _, scan := range []int64{s.newest, s.older} {
		paths = append(paths, "/scans/"+strconv.FormatInt(scan, 10))
	}
	newest := "/scans/" + strconv.FormatInt(s.newest, 10)
	return append(paths, newest+"/progress", newest+"/events")
}

// calls are those of the API.
func (s subject) calls() []string {
	fs := "/api/v1/filesystems/" + s.name
	var paths []string
	for _, d := range usage.AllDimensions() {
		by := "group_by=" + string(d)
		paths = append(paths, fs+"/usage?"+by, fs+"/usage?limit=1000&"+by+"&user="+s.topUser,
			fs+"/history?"+by, fs+"/history?top=100&"+by)
	}
	for _, filter := range []string{
		"type=" + url.QueryEscape(s.topType), "fileset=" + url.QueryEscape(s.fileset), "size_class=over", "age_class=7d",
		"category=archive", "group=0", "pool=0",
	} {
		paths = append(paths, fs+"/usage?limit=1000&"+filter)
	}
	return append(paths,
		fs, fs+"/schedule", fs+"/usage?limit=1000&format=csv", fs+"/usage?scan="+strconv.FormatInt(s.older, 10),
		fs+"/top/users?limit=1000", fs+"/top/users?by=files",
		fs+"/history", fs+"/history?format=csv", fs+"/history?top=100&group_by=user&format=csv",
		fs+"/history?group_by=user&key="+s.smallUser, fs+"/history?group_by=type&key="+url.QueryEscape(s.topType),
		fs+"/histogram", fs+"/histogram?fine=true&type="+url.QueryEscape(s.topType),
		fs+"/scans", fs+"/scans?limit=1000", fs+"/scans?limit=1000&format=csv",
		"/api/v1/scans/"+strconv.FormatInt(s.newest, 10), "/api/v1/users/"+s.topUser)
}

// find looks for the largest and the smallest, and for a scan of two years ago.
func find(ctx context.Context, p *program, name string) (subject, error) {
	s := subject{name: name}
	fs := "/api/v1/filesystems/" + name
	var scans struct {
		Items []struct {
			ID        int64
			Published string
		}
	}
	if err := decode(ctx, p, fs+"/scans?limit=1000", &scans); err != nil {
		return s, err
	}
	for i, scan := range scans.Items {
		if s.newest == 0 {
			s.newest = scan.ID
		}
		if scan.Published != "" && i <= 730 {
			s.older = scan.ID
		}
	}
	for _, list := range []struct {
		d           usage.Dimension
		first, last *string
	}{{usage.User, &s.topUser, &s.smallUser}, {usage.Type, &s.topType, nil}, {usage.Fileset, &s.fileset, nil}} {
		var found struct{ Items []struct{ Key string } }
		if err := decode(ctx, p, fs+"/usage?limit=1000&group_by="+string(list.d), &found); err != nil {
			return s, err
		}
		if len(found.Items) == 0 {
			return s, fmt.Errorf("%s has no %s", name, list.d)
		}
		*list.first = found.Items[0].Key
		if list.last != nil {
			*list.last = found.Items[len(found.Items)-1].Key
		}
	}
	return s, nil
}

func decode(ctx context.Context, p *program, path string, into any) error {
	body, err := p.get(ctx, path, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	return nil
}
