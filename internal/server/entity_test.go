package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"fstally/internal/server/storetest"
	"fstally/internal/usage"
)

func TestUser(t *testing.T) {
	s := open(t, example())
	doc := s.read(t, "/fs/scratch/users/1001", http.StatusOK)
	wantWords(t, doc, "User of scratch, uid 1001", "100 GiB", "#1", "of 4 users",
		"allocated100 GiB100.0%▲+ 1 GiB▲+ 7 GiB▲+ 30 GiB", "Allocated of others over time",
		"tar.gz 100 GiB100.0%", "home 100 GiB100.0%", "8 MiB to 1 GiB 100 GiB", "Growth in 30 days")
	// The sums of the splits are the user's own, to the byte.
	splits := doc.Find(".splits table tfoot td:nth-child(2)")
	for i := range 4 {
		if got := splits.Eq(i).AttrOr("title", ""); got != "107,374,182,400 bytes" {
			t.Errorf("split %d sums to %q", i, got)
		}
	}
	for _, want := range []string{
		`a[href="/fs/scratch/types/tar.gz"]`, `a[href="/fs/scratch/filesets/home"]`,
		`a[href="/fs/scratch/users/1001?scan=39"]`,
		`a[href="/api/v1/filesystems/scratch/history?by=allocated&format=csv&group_by=user&key=1001"]`,
		`a[href="/api/v1/filesystems/scratch/usage?by=allocated&format=csv&group_by=type&limit=1000&scan=40&user=1001"]`,
	} {
		if doc.Find(want).Length() == 0 {
			t.Errorf("no %s", want)
		}
	}
	older := s.read(t, "/fs/scratch/users/1001?scan=10&by=files&range=1y", http.StatusOK)
	wantWords(t, older, "Sat 31 Oct 2026, 01:30", "Files of others over time", "files70")
	wantWords(t, s.read(t, "/fs/scratch/users/4242", http.StatusOK), "uid 4242", "no account")
}

func TestTypeAndFileset(t *testing.T) {
	s := open(t, example())
	doc := s.read(t, "/fs/scratch/types/tar.gz", http.StatusOK)
	wantWords(t, doc, "tar.gz", "File type of scratch", "others", "home", "By size of the files")
	doc = s.read(t, "/fs/scratch/filesets/home?by=files", http.StatusOK)
	wantWords(t, doc, "Fileset of scratch", "files103", "alice", "tar.gz")
	// What lies in no fileset has a page too.
	wantWords(t, s.read(t, "/fs/scratch/filesets/(none)", http.StatusOK), "(none)")
}

// Names and bars lead to the pages, with the scan and the measure.
func TestListsLeadToEntities(t *testing.T) {
	s := open(t, example())
	doc := s.read(t, "/fs/scratch/capacity?scan=39&by=files", http.StatusOK)
	for _, path := range []string{"users/1001", "types/tar.gz", "filesets/home"} {
		address := "/fs/scratch/" + path + "?by=files&scan=39"
		if doc.Find(`a[href="`+address+`"]`).Length() == 0 {
			t.Errorf("no link to %s", address)
		}
		if !strings.Contains(doc.Find("#types-data").Text()+doc.Find("#filesets-data").Text(), "types/tar.gz?by=files") {
			t.Error("the bars lead nowhere")
		}
		s.read(t, address, http.StatusOK)
	}
	doc = s.read(t, "/fs/scratch/files?type=txt", http.StatusOK)
	for _, address := range []string{"/fs/scratch/users/1001?by=files", "/fs/scratch/types/txt?by=files"} {
		if doc.Find(`a[href="`+address+`"]`).Length() == 0 {
			t.Errorf("Files: no link to %s", address)
		}
	}
}

// A fileset can be called anything; its page is found by the link to it.
func TestHostileFilesets(t *testing.T) {
	store := &storetest.Store{}
	fs := store.Watch("odd", "/odd")
	names := append([]string{"a/b", "a//b", "100%", "a%2fb", "a?b=c&d", "a#b", "ü ñ", `back\slash`, "+", "a;b", "tail/"}, hostile...)
	var tree storetest.Tree
	for i, name := range names {
		tree = append(tree, storetest.Line{UID: 1, Type: "txt", Fileset: name, Files: int64(i + 1), Size: 1})
	}
	store.AddScan(fs, night, tree)
	s := open(t, store)
	for i, name := range names {
		path := "/fs/odd/filesets/" + url.PathEscape(usage.EscapeKey(name))
		w := s.get(t, path)
		body := html.UnescapeString(w.Body.String())
		if want := "<td title=\"" + itoa(int64(i+1)) + " files\">"; w.Code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%q at %s = %d without its %d files", name, path, w.Code, i+1)
		}
		checkMarkup(t, path, w.Body.Bytes())
	}
	// A proxy may decode the slash.
	wantWords(t, s.read(t, "/fs/odd/filesets/a/b", http.StatusOK), "a/b")
}

func TestEntityStates(t *testing.T) {
	store := example()
	store.AddScan(1, night.AddDate(0, 0, 1), storetest.Tree{{UID: 1000, Type: "txt", Files: 3, Size: 5000}})
	s := open(t, store)
	// Gone from the latest scan, but not from the history.
	doc := s.read(t, "/fs/scratch/users/1001", http.StatusOK)
	wantWords(t, doc, "This scan found nothing of others", "▼− 100 GiB")
	wantWords(t, s.read(t, "/fs/scratch/users/1001?scan=40", http.StatusOK), "#1")
	// The details of old scans are no longer kept.
	store.AllScans[9].Thinned = true
	doc = s.read(t, "/fs/scratch/users/1001?scan=10", http.StatusOK)
	wantWords(t, doc, "No details of this scan", "70 GiB", "#1")
	for _, tc := range []struct{ path, says string }{
		{"users/7", "There is no user 7 in scratch"},
		{"users/alice", "There is no user alice in scratch"},
		{"users/007", "There is no user 007 in scratch"},
		{"users/-1", "There is no user -1"},
		{"users/4294967296", "There is no user 4294967296"},
		{"users/", "There is no user"},
		{"types/xyz", "There is no file type xyz in scratch"},
		{"types/%00", `There is no file type \x00`},
		{"filesets/" + url.PathEscape(`no\xfe`), `There is no fileset no\xfe in scratch`},
		{"filesets/" + url.PathEscape(`bad\escape`), `There is no fileset bad\\escape`},
		{"filesets/%ff", `There is no fileset \xff`},
	} {
		wantWords(t, s.read(t, "/fs/scratch/"+tc.path, http.StatusNotFound), tc.says)
	}
	s.read(t, "/fs/none/users/1001", http.StatusNotFound)
	s.read(t, "/fs/scratch/users/1001?by=money", http.StatusBadRequest)
	s.read(t, "/fs/scratch/users/1001?scan=99", http.StatusNotFound)
	if w := s.get(t, "/fs/scratch/filesets/a%2Fb?day=2026-11-15"); w.Header().Get("Location") != "/fs/scratch/filesets/a%2Fb?scan=25" {
		t.Errorf("the scan of a day is at %q", w.Header().Get("Location"))
	}
}
