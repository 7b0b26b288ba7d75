package server_test

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"fstally/internal/server/storetest"
	"fstally/internal/usage"
)

// hostileStore uses hostile names wherever a name can come from outside. File
// types cannot hold one: package classify lets only a few letters through.
func hostileStore() *storetest.Store {
	s := &storetest.Store{Users: map[uint32]string{}, Named: map[string]string{}}
	for i, name := range hostile {
		fs := s.Watch("fs"+string(rune('a'+i)), "/"+name)
		s.Users[uint32(i)] = name
		s.Named["named/"+name] = name
		s.AddScan(fs, night.AddDate(0, 0, -1), nil)
		scan := s.AddScan(fs, night, storetest.Tree{
			{UID: uint32(i), Type: "txt", Fileset: name, Files: 1, Size: 1},
			{UID: uint32(i), Type: "txt", Fileset: "named/" + name, Files: 1, Size: 1},
		})
		scan.Reason, scan.Verdict, scan.Host, scan.FSType = usage.Escape(name), usage.Partial, name, name
		s.Content[scan.ID].Errors = []usage.ScanError{{Op: "open", Errno: "EIO", Message: name, Count: 1, Paths: []string{name}}}
		s.Content[scan.ID].Skipped = []usage.Skipped{{Reason: usage.SkipMount, Count: 1, Paths: []string{name}}}
		running := s.AddState(fs, night, usage.Running)
		running.Progress.Directory = usage.Escape(name)
		running.Progress.Stalled = true
		running.Progress.Blocked = []usage.Blocked{{Directory: usage.Escape(name), Op: name, Seconds: 60}}
		// A store that another program wrote into may hold any text in UTF-8.
		text := strings.ToValidUTF8(name, "?")
		s.Plans = append(s.Plans, usage.Schedule{FileSystemID: fs, Plan: text, Zone: text, Enabled: true})
		s.Systems[fs-1].Worker, s.Systems[fs-1].Identity = text, name
		s.Systems[fs-1].Filesets.Named = []usage.NamedFileset{{Path: name, Name: name}}
		skipped := s.AddState(fs, night, usage.NotRun)
		skipped.Reason = usage.Escape(name)
	}
	return s
}

// No name from outside becomes markup, script or a control character, on any
// page that shows it.
func TestHostileNamesStayText(t *testing.T) {
	s := open(t, hostileStore())
	for i, name := range hostile {
		fs := "/fs/fs" + string(rune('a'+i))
		scan := int64(4*i + 2)
		query := url.QueryEscape(name)
		for _, path := range []string{
			fs + "/capacity", fs + "/files", fs + "/files?histogram=fine&type=txt",
			"/scans/" + itoa(scan), "/scans/" + itoa(scan+1), "/nothing/" + escapePath(name), "/fs/" + escapePath(name) + "/capacity",
			"/scans/" + itoa(scan+2), fs + "/scans", fs + "/settings", fs + "/schedule", "/schedules", "/settings", "/",
			fs + "/schedule?kind=cron&cron=" + query + "&zone=" + query + "&day=" + query + "&at=" + query + "&hours=" + query + "&catch_up=" + query,
			fs + "/schedule?kind=weekly&day=" + query, fs + "/schedule?kind=" + query, "/schedules?saved=" + query, "/settings?saved=" + query,
			fs + "/files?type=" + escapePath(usage.Escape(name)), fs + "/capacity?by=" + escapePath(name),
		} {
			w := s.get(t, path)
			if w.Code >= http.StatusInternalServerError {
				t.Errorf("GET %s = %d", path, w.Code)
			}
			checkMarkup(t, path, w.Body.Bytes())
		}
		if w := s.get(t, fs+"/capacity"); !strings.Contains(html.UnescapeString(w.Body.String()), usage.Escape(name)) {
			t.Errorf("the name %q is not shown", name)
		}
	}
}

// What was typed comes back as text, whatever it is.
func TestHostileFormsStayText(t *testing.T) {
	s := open(t, planned())
	for _, name := range hostile {
		for path, form := range map[string]url.Values{
			"/fs/scratch/schedule": {"kind": {"cron"}, "cron": {name}, "zone": {name}, "catch_up": {name}, "at": {name}, "hours": {name}},
			"/fs/scratch/settings": {
				"name": {name}, "worker": {name}, "walkers": {name}, "memory_limit": {name}, "size_classes": {name + ",1,2,3"},
				"filesets": {name + "=" + name + "\n" + name + "\n/"}, "nice": {name}, "stall_minutes": {name},
			},
			"/fs/scratch/settings/remove": {"confirm": {name}},
			"/settings/add":               {"name": {name}, "root": {name}},
			"/settings/retention":         {"nightly_days": {name}, "weekly_days": {name}, "monthly_days": {name}},
		} {
			w := s.do(t, http.MethodPost, path, form)
			if w.Code != http.StatusUnprocessableEntity {
				t.Errorf("POST %s %q = %d", path, name, w.Code)
			}
			checkMarkup(t, path, w.Body.Bytes())
		}
	}
}

// checkMarkup parses a page as a browser does: every element and attribute must
// be one that the templates write.
func checkMarkup(t *testing.T, path string, body []byte) {
	t.Helper()
	if bytes.ContainsAny(body, "\x00\x1b\u202e\u2028\ufffd") {
		t.Errorf("GET %s has control characters", path)
	}
	doc, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "img" || n.Data == "script" && n.FirstChild != nil && attribute(n, "type") != "application/json" {
			t.Errorf("GET %s has an element <%s> from a name", path, n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
				t.Errorf("GET %s has an attribute %s=%q", path, a.Key, a.Val)
			}
			if (a.Key == "href" || a.Key == "src" || a.Key == "action") && !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#") {
				t.Errorf("GET %s leads to %q", path, a.Val)
			}
		}
	}
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// A name cannot forge a line of the log.
func TestLogLinesAreNotForged(t *testing.T) {
	s := open(t, &storetest.Store{})
	s.get(t, "/a%0a{%22level%22:%22ERROR%22}%1b[2J%e2%80%ae")
	log := s.log.String()
	if n := strings.Count(log, "\n"); n != 1 || strings.ContainsAny(log, "\x1b\u202e") {
		t.Errorf("the log has %d lines: %q", n, log)
	}
}
