package page_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"fstally/web/page/pagetest"
)

// render returns the pages of pagetest by name, parsed.
func render(t *testing.T) map[string]*goquery.Document {
	t.Helper()
	docs, err := rendered()
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// rendered are the pages of a site at the root of its host; no test changes them.
var rendered = sync.OnceValues(func() (map[string]*goquery.Document, error) { return renderAt("") })

func renderAt(base string) (map[string]*goquery.Document, error) {
	docs := map[string]*goquery.Document{}
	for _, p := range pagetest.Pages(base) {
		var b bytes.Buffer
		if err := p.Render(context.Background(), &b); err != nil {
			return nil, fmt.Errorf("render %s: %w", p.Name, err)
		}
		doc, err := goquery.NewDocumentFromReader(&b)
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", p.Name, err)
		}
		docs[p.Name] = doc
	}
	return docs, nil
}

func TestPagesObeyTheContentPolicy(t *testing.T) {
	for name, doc := range render(t) {
		doc.Find("*").Each(func(_ int, s *goquery.Selection) {
			for _, a := range s.Nodes[0].Attr {
				if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
					t.Errorf("%s: <%s %s=%q>", name, goquery.NodeName(s), a.Key, a.Val)
				}
			}
		})
		if n := doc.Find("style").Length(); n > 0 {
			t.Errorf("%s: %d inline style sheets", name, n)
		}
		doc.Find("script:not([src])").Each(func(_ int, s *goquery.Selection) {
			if s.AttrOr("type", "") != "application/json" {
				t.Errorf("%s: an inline script: %.60s", name, s.Text())
			}
		})
	}
}

func TestEveryAddressIsUnderTheBasePath(t *testing.T) {
	docs, err := renderAt("/tally")
	if err != nil {
		t.Fatal(err)
	}
	for name, doc := range docs {
		for _, attribute := range []string{"href", "src", "action", "data-live", "data-live-events", "data-await"} {
			doc.Find("[" + attribute + "]").Each(func(_ int, s *goquery.Selection) {
				address := s.AttrOr(attribute, "")
				if anchor, ok := strings.CutPrefix(address, "#"); ok {
					if doc.Find("[id='"+anchor+"']").Length() != 1 {
						t.Errorf("%s: there is no place %s", name, address)
					}
				} else if !strings.HasPrefix(address, "/tally/") {
					t.Errorf("%s: %s=%q of <%s> is not under the base path", name, attribute, address, goquery.NodeName(s))
				}
			})
		}
	}
}

func TestPagesAreWellFormedForThoseWhoHearThem(t *testing.T) {
	for name, doc := range render(t) {
		if n := doc.Find("h1").Length(); n != 1 || strings.TrimSpace(doc.Find("h1").Text()) == "" {
			t.Errorf("%s: %d h1", name, n)
		}
		if !strings.HasSuffix(doc.Find("title").Text(), "fstally") {
			t.Errorf("%s: title %q", name, doc.Find("title").Text())
		}
		ids := map[string]bool{}
		doc.Find("[id]").Each(func(_ int, s *goquery.Selection) {
			id := s.AttrOr("id", "")
			if ids[id] {
				t.Errorf("%s: the id %q twice", name, id)
			}
			ids[id] = true
		})
		for _, attribute := range []string{"aria-labelledby", "aria-describedby", "for", "data-source"} {
			doc.Find("[" + attribute + "]").Each(func(_ int, s *goquery.Selection) {
				for id := range strings.FieldsSeq(s.AttrOr(attribute, "")) {
					if !ids[id] {
						t.Errorf("%s: %s points to %q, which is not there", name, attribute, id)
					}
				}
			})
		}
		if n := doc.Find("th:not([scope])").Length(); n > 0 {
			t.Errorf("%s: %d th without a scope", name, n)
		}
		doc.Find("table").Each(func(_ int, s *goquery.Selection) {
			if strings.TrimSpace(s.Find("caption").Text()) == "" {
				t.Errorf("%s: a table without a caption", name)
			}
		})
	}
}

// chart is the JSON beside a chart of a ranking.
type chart struct {
	Total value  `json:"total"`
	Items []item `json:"items"`
}

type item struct {
	Name  string `json:"name"`
	Value value  `json:"value"`
}

type value struct {
	Digits string `json:"v"`
	Text   string `json:"text"`
}

func TestChartsStandBesideTheirTables(t *testing.T) {
	for name, doc := range render(t) {
		doc.Find("[data-chart]").Each(func(_ int, s *goquery.Selection) {
			source := s.AttrOr("data-source", "")
			text := doc.Find("#" + source).Text()
			if !json.Valid([]byte(text)) {
				t.Errorf("%s: %s is no JSON: %.80s", name, source, text)
			}
			table := s.Parent().Find("table")
			if table.Length() != 1 || s.AttrOr("aria-label", "") == "" {
				t.Errorf("%s: the chart %s has %d tables and the label %q", name, source, table.Length(), s.AttrOr("aria-label", ""))
			}
			if kind := s.AttrOr("data-chart", ""); kind != "bars" && kind != "doughnut" {
				return
			}
			var c chart
			if err := json.Unmarshal([]byte(text), &c); err != nil {
				t.Fatalf("%s: %s: %v", name, source, err)
			}
			rows := table.Find("tbody tr")
			if rows.Length() != len(c.Items) {
				t.Errorf("%s: %s has %d items, its table %d rows", name, source, len(c.Items), rows.Length())
			}
			rows.Each(func(i int, row *goquery.Selection) {
				got := row.Find("td").First().Text()
				if got != c.Items[i].Value.Text {
					t.Errorf("%s: %s row %d shows %q, the chart %q", name, source, i, got, c.Items[i].Value.Text)
				}
			})
		})
	}
}

func TestTablesAndChartsSumToTheirTotals(t *testing.T) {
	checked := 0
	for name, doc := range render(t) {
		if strings.HasSuffix(name, "-few") {
			continue // its rankings are cut without a rest, for their looks
		}
		doc.Find("table.top-table").Each(func(i int, table *goquery.Selection) {
			sum := new(big.Int)
			table.Find("tbody tr").Each(func(_ int, row *goquery.Selection) {
				sum.Add(sum, exact(t, row.Find("td").First()))
			})
			if total := exact(t, table.Find("tfoot td").First()); sum.Cmp(total) != 0 {
				t.Errorf("%s: the rows of table %d sum to %s, not to %s", name, i, sum, total)
			}
			checked++
		})
		doc.Find("[data-chart=bars], [data-chart=doughnut]").Each(func(_ int, s *goquery.Selection) {
			var c chart
			if err := json.Unmarshal([]byte(doc.Find("#"+s.AttrOr("data-source", "")).Text()), &c); err != nil {
				t.Fatal(err)
			}
			sum := new(big.Int)
			for _, item := range c.Items {
				n, _ := new(big.Int).SetString(item.Value.Digits, 10)
				sum.Add(sum, n)
			}
			if sum.String() != c.Total.Digits {
				t.Errorf("%s: a chart sums to %s, not to %s", name, sum, c.Total.Digits)
			}
		})
	}
	if checked < 20 {
		t.Errorf("only %d tables were checked", checked)
	}
}

// exact reads the digits in the title of a cell: "1,234 bytes".
func exact(t *testing.T, cell *goquery.Selection) *big.Int {
	t.Helper()
	digits := strings.ReplaceAll(strings.Fields(cell.AttrOr("title", "?"))[0], ",", "")
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		t.Fatalf("the title %q of %q has no digits", cell.AttrOr("title", ""), cell.Text())
	}
	return n
}

func TestHostileNamesAreText(t *testing.T) {
	docs := render(t)
	for _, name := range []string{
		"capacity-hostile", "files-hostile", "scan-complete", "scan-running", "scan-stalled", "schedules", "schedule-wrong",
		"settings-wrong", "fs-settings", "fs-settings-wrong",
	} {
		doc := docs[name]
		if n := doc.Find("img, main i, main b > b, [onerror], [onmouseover]").Length(); n > 0 {
			t.Errorf("%s: %d elements came out of names", name, n)
		}
		html, _ := doc.Html()
		if strings.ContainsAny(html, "\x1b\x00\u202e") {
			t.Errorf("%s: control characters reached the page", name)
		}
	}
	rows := docs["capacity-hostile"].Find("[data-switch=types] tbody th")
	for i, want := range []string{`<img src=x onerror="window.hit=1">`, `</script><script>window.hit=1</script>`} {
		if got := strings.TrimSpace(rows.Eq(i).Text()); got != want {
			t.Errorf("row %d is called %q, want %q", i, got, want)
		}
	}
	var c chart
	data := docs["capacity-hostile"].Find("#types-data").Text()
	if err := json.Unmarshal([]byte(data), &c); err != nil {
		t.Fatal(err)
	}
	if got, want := c.Items[1].Name, `</script><script>window.hit=1</script>`; got != want {
		t.Errorf("the chart calls it %q, want %q", got, want)
	}
}

func TestExactNumbersSurvive(t *testing.T) {
	doc := render(t)["capacity-huge"]
	if n := doc.Find(`td[title="9,007,199,254,740,993 bytes"]`).Length(); n == 0 {
		t.Error("no cell tells 2^53+1 exactly")
	}
	if text := doc.Find("#types-data").Text(); !strings.Contains(text, `"340282366920938463463374607431768211455"`) {
		t.Errorf("the chart has no 2^128-1: %.200s", text)
	}
}

func TestOthersAreNoLink(t *testing.T) {
	doc := render(t)["files"]
	if n := doc.Find("tr.others").Length(); n != 3 {
		t.Errorf("%d rows of others, want 3", n)
	}
	if n := doc.Find("tr.others a").Length(); n > 0 {
		t.Errorf("%d links from others", n)
	}
}

func TestAddressesHoldTheState(t *testing.T) {
	docs := render(t)
	for _, tc := range []struct{ page, selector, want string }{
		{"capacity", ".seg a:nth-child(1)", "/fs/scratch/capacity"},
		{"capacity", ".seg a:nth-child(3)", "/fs/scratch/capacity?by=files"},
		{"capacity-by-files", ".seg a:nth-child(1)", "/fs/scratch/capacity"},
		{"capacity-by-files", ".choice a:first-child", "/fs/scratch/capacity?by=files&range=1y"},
		{"capacity-older", ".seg a:nth-child(2)", "/fs/scratch/capacity?by=size&scan=1800"},
		{"capacity-older", ".side a:nth-child(3)", "/fs/scratch/files?scan=1800"},
		{"capacity-older", ".latest", "/fs/scratch/capacity"},
		{"capacity", "[data-switch=types] tbody tr:first-child a", "/fs/scratch/types/fastq.gz"},
		{"files", "[data-switch=types] tbody tr:first-child a", "/fs/scratch/files?type=py"},
		{"files-type", "[data-switch=types] tbody tr:first-child a", "/fs/scratch/files"},
		{"files-type", ".choice a:nth-child(2)", "/fs/scratch/files?histogram=fine&type=py"},
	} {
		if got := docs[tc.page].Find(tc.selector).First().AttrOr("href", ""); got != tc.want {
			t.Errorf("%s: %s leads to %q, want %q", tc.page, tc.selector, got, tc.want)
		}
	}
}

func TestEmptyStatesSayWhatToDo(t *testing.T) {
	docs := render(t)
	for _, tc := range []struct{ page, want string }{
		{"first-run", "fstally fs add NAME PATH"},
		{"schedules-none", "Add one"},
		{"settings-none", "which directory to watch"},
		{"scan-waiting", "waits for a free worker, as scans of home, proj and tape-cache"},
		{"scan-retried", "another attempt, not before 10:43:00 CET"},
		{"scan-retried", "Scheduled for Mon 30 Nov 2026, 01:30 CET, second attempt"},
		{"scan-stalled", "the last answer came 4 min 10 s ago"},
		{"scan-stalled", "given up after 30 min."},
		{"scan-cancelled", "no chart, no list and no other page counts it"},
		{"scan-skipped", "Scan 2609 was not over yet."},
		{"error-503", "loads itself anew"},
		{"capacity-first-scan", "The history starts here"},
		{"capacity-empty", "Show the whole history"},
		{"files-empty", "Show all types"},
		{"login", "fstally token"},
	} {
		if text := docs[tc.page].Find("main").Text(); !strings.Contains(text, tc.want) {
			t.Errorf("%s does not say %q", tc.page, tc.want)
		}
	}
}

func TestNothingIsGuessed(t *testing.T) {
	docs := render(t)
	if text := docs["capacity-empty"].Find("#space-title").Closest("section").Text(); !strings.Contains(text, "was not measured") {
		t.Errorf("an unknown size is not said to be so: %s", text)
	}
	if n := docs["capacity"].Find("td.change[title^='Not known']").Length(); n == 0 {
		t.Error("an unknown change is not said to be so")
	}
}
