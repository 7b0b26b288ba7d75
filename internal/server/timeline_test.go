package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"fstally/internal/server/storetest"
)

// seriesOf reads what the chart of a page is drawn from.
func seriesOf(t *testing.T, doc *goquery.Document) (data struct {
	Stacked bool
	Gaps    []int
	Totals  []string
	Series  []struct {
		Name   string
		Values []*string
		Others bool
	}
},
) {
	t.Helper()
	if err := json.Unmarshal([]byte(doc.Find("#history-data").Text()), &data); err != nil {
		t.Fatal(err)
	}
	return data
}

func TestTimelineOfTheWhole(t *testing.T) {
	s := open(t, example())
	doc := s.read(t, "/fs/scratch/history", http.StatusOK)
	// The week and the month are exact; there is no scan of a year before.
	wantWords(t, doc, "Allocated over time", "allocated in 40 scans since 22 Oct 2026",
		"Week: since 23 Nov 2026; month: since 31 Oct 2026.", "Mon 30 Nov 2026, 01:30100 GiB110 GiB200 GiB")
	changes := doc.Find(".change-table tfoot td.change")
	for i, want := range []string{"+7,516,192,768 bytes", "+32,212,254,720 bytes"} {
		if got := changes.Eq(i).AttrOr("title", ""); got != want {
			t.Errorf("change %d is %q, want %q", i, got, want)
		}
	}
	if got := changes.Eq(2).Text(); !strings.Contains(got, "–") {
		t.Errorf("the change in a year is %q, although nobody knows it", got)
	}
	if doc.Find(`a[href="/api/v1/filesystems/scratch/history?by=allocated&format=csv"]`).Length() == 0 {
		t.Error("no CSV of the same numbers")
	}
	wantWords(t, s.read(t, "/fs/scratch/history?by=inodes", http.StatusOK), "Inodes over time", "500")
}

func TestTimelineBySeries(t *testing.T) {
	s := open(t, example())
	doc := s.read(t, "/fs/scratch/history?group_by=user&by=files&from=2026-11-24&to=2026-11-30&top=10", http.StatusOK)
	data := seriesOf(t, doc)
	if len(data.Totals) != 6 || len(data.Series) != 4 || !data.Stacked {
		t.Fatalf("%d scans of %d series, stacked %v; want 6 of 4, stacked", len(data.Totals), len(data.Series), data.Stacked)
	}
	if first := data.Series[0]; first.Name != "others" || first.Others || *first.Values[5] != "99" {
		t.Errorf("the first is %+v: want the user who is called others, with 99 files", first)
	}
	// What was before the range is known to the table of changes.
	wantWords(t, doc, "Files by user over time", "Week: since 22 Nov 2026", "29 Nov 2026", "uid 4242")
	for _, want := range []string{
		`a[href="/fs/scratch/history?from=2026-11-24&group_by=user&to=2026-11-30&top=10"]`, // allocated
		`a[href="/fs/scratch/history?by=files&group_by=user&range=1y&top=10"]`,
		`input[type=hidden][name=group_by][value=user]`, `input[name=from][value="2026-11-24"]`,
		`a[href="/api/v1/filesystems/scratch/history?by=files&format=csv&from=2026-11-24&group_by=user&to=2026-11-30&top=10"]`,
		`a[href="/fs/scratch/capacity?by=files&scan=39"]`,
	} {
		if doc.Find(want).Length() == 0 {
			t.Errorf("no %s", want)
		}
	}
	lines := seriesOf(t, s.read(t, "/fs/scratch/history?group_by=type&as=lines&range=3y", http.StatusOK))
	if lines.Stacked || len(lines.Series) != 4 {
		t.Errorf("lines: %+v", lines)
	}
}

// Many values are the largest of the newest scan and others that make the whole.
func TestTimelineOthers(t *testing.T) {
	store := many()
	store.AddScan(1, night.AddDate(0, 0, 1), storetest.Tree{{UID: 15, Type: "to", Files: 3, Size: 1 << 20}})
	store.AddScan(1, night.AddDate(0, 0, 9), storetest.Tree{{UID: 15, Type: "to", Files: 4, Size: 1 << 20}})
	store.AddScan(1, night.AddDate(0, 0, 10), storetest.Tree{
		{UID: 1, Type: "ta", Files: 2, Size: 1 << 20}, {UID: 2, Type: "tb", Files: 3, Size: 1 << 20},
	})
	data := seriesOf(t, open(t, store).read(t, "/fs/many/history?group_by=user&by=files", http.StatusOK))
	if len(data.Series) != 3 || !data.Series[2].Others {
		t.Fatalf("series %+v, want the two of the newest scan and the others", data.Series)
	}
	for i, want := range []string{"117", "3", "4", "0"} {
		if got := *data.Series[2].Values[i]; got != want {
			t.Errorf("others of scan %d are %s, want %s", i, got, want)
		}
	}
	if len(data.Gaps) != 1 || data.Gaps[0] != 2 {
		t.Errorf("gaps %v, want one before the third scan", data.Gaps)
	}
}

func TestTimelineStates(t *testing.T) {
	store := example()
	store.Watch("fresh", "/fresh")
	store.AddScan(store.Watch("one", "/one"), night, nil)
	s := open(t, store)
	wantWords(t, s.read(t, "/fs/fresh/history", http.StatusOK), "First scan")
	wantWords(t, s.read(t, "/fs/one/history?group_by=user", http.StatusOK), "One day so far", "0 B on 30 Nov 2026")
	wantWords(t, s.read(t, "/fs/scratch/history?from=2027-01-01", http.StatusOK), "No scan in this range")
	for _, tc := range []struct{ query, says string }{
		{"by=money", "by=money"},
		{"group_by=size", "group_by=size"},
		{"top=0", "top=0"},
		{"as=pie", "as=pie"},
		{"range=2y", "range=2y"},
		{"from=yesterday", "from=yesterday"},
		{"to=2026-02-30", "to=2026-02-30"},
		{"from=2026-11-30&to=2026-11-30", "a day after 2026-11-30"},
	} {
		wantWords(t, s.read(t, "/fs/scratch/history?"+tc.query, http.StatusBadRequest), tc.says)
	}
}
