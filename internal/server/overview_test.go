package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"fstally/internal/server/storetest"
	"fstally/internal/usage"
)

func rowOf(t *testing.T, doc *goquery.Document, fs string) *goquery.Selection {
	t.Helper()
	row := doc.Find(`.systems tr:has(a[href="/fs/` + fs + `/capacity"])`)
	if row.Length() != 1 {
		t.Fatalf("%d rows of %s", row.Length(), fs)
	}
	return row
}

func TestOverview(t *testing.T) {
	doc := open(t, example()).read(t, "/", http.StatusOK)
	row := rowOf(t, doc, "scratch")
	text := strings.Join(strings.Fields(row.Text()), " ")
	for _, want := range []string{"110 GiB of 200 GiB, 55.0%", "106", "50.0%", "clean", "numbers 9 h 0 min old", "in 3 months", "others +7 GiB"} {
		if !strings.Contains(text, want) {
			t.Errorf("the row does not say %q: %s", want, text)
		}
	}
	for i, want := range []string{"+1,073,741,824 bytes", "+7,516,192,768 bytes", "+32,212,254,720 bytes"} {
		if got := row.Find("td.change").Eq(i).AttrOr("title", ""); got != want {
			t.Errorf("growth %d is %q, want %q", i, got, want)
		}
	}
	if n := len(strings.Fields(row.Find("polyline").AttrOr("points", ""))); n != 40 {
		t.Errorf("the small chart has %d points, want one for each of 40 nights", n)
	}
	if row.Find(`a[href="/fs/scratch/users/1001"]`).Length() != 1 || row.Find("th .badge").Length() != 0 {
		t.Error("no link to who grew most, or a finding where nothing is wrong")
	}
	wantWords(t, doc, "nothing was found wrong")
}

// What is wrong stands first, and says what it is.
func TestOverviewFindings(t *testing.T) {
	store := example() // scratch
	tree := storetest.Tree{{UID: 1, Type: "a", Files: 1, Size: 1 << 20}}
	fs := func(name string) int64 { return store.Watch(name, "/"+name) }
	old := fs("aged")
	store.AddScan(old, night.AddDate(0, 0, -3), tree)
	store.AddScan(fs("broken"), night.Add(-time.Hour), tree)
	store.AddState(3, night, usage.Failed).Reason = "the root is not there"
	full := store.AddScan(fs("crowded"), night, tree)
	full.Capacity = usage.Capacity{Size: usage.ByteCount(1000), Free: usage.ByteCount(10), InodesTotal: 100, InodesFree: 8}
	fs("fresh")
	partial := store.AddScan(fs("gappy"), night, tree)
	partial.Verdict, partial.Reason = usage.Partial, "2 directories could not be read"
	sane := store.AddScan(fs("odd"), night.AddDate(0, 0, -1), tree)
	suspect := store.AddScan(sane.FileSystemID, night, nil)
	suspect.Verdict = usage.Suspect
	store.Systems[sane.FileSystemID-1].CurrentScanID = sane.ID
	doc := open(t, store).read(t, "/", http.StatusOK)
	for name, want := range map[string]string{
		"aged": "! stale", "broken": "! last scan failed", "crowded": "! nearly full ! few inodes left",
		"gappy": "! partial", "odd": "! last scan suspect", "scratch": "", "fresh": "",
	} {
		var badges []string
		rowOf(t, doc, name).Find("th .badge").Each(func(_ int, b *goquery.Selection) { badges = append(badges, b.Text()) })
		if got := strings.Join(badges, " "); got != want {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
	var order []string
	doc.Find(".systems th a").Each(func(_ int, a *goquery.Selection) { order = append(order, a.Text()) })
	if got := strings.Join(order, " "); got != "crowded broken odd aged gappy fresh scratch" {
		t.Errorf("the order is %s", got)
	}
	wantWords(t, doc, "1 without a scan", "no numbers yet", "never")
}

// Who grew most is found among all users, however small.
func TestOverviewGrower(t *testing.T) {
	store := &storetest.Store{}
	fs := store.Watch("many", "/many")
	var before, after storetest.Tree
	for n := uint32(1); n <= 300; n++ {
		line := storetest.Line{UID: n, Type: "a", Files: 1000, Size: 1 << 20}
		if n == 300 {
			line.Files = 10
		}
		before = append(before, line)
		if n == 300 {
			line.Files = 500
		}
		after = append(after, line)
	}
	store.AddScan(fs, night.AddDate(0, 0, -7), before)
	store.AddScan(fs, night, after)
	row := rowOf(t, open(t, store).read(t, "/", http.StatusOK), "many")
	if row.Find(`a[href="/fs/many/users/300"]`).Length() != 1 {
		t.Errorf("who grew most is not user 300: %s", row.Text())
	}
}
