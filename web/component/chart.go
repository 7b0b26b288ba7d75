package component

import (
	"fstally/internal/report"
	"fstally/internal/usage"
)

// ChartKind names the function of web/src/charts that draws a chart.
type ChartKind string

// The kinds; the data of each is the type beside it.
const (
	BarChart      ChartKind = "bars"     // RankingData
	DoughnutChart ChartKind = "doughnut" // RankingData
	HistoryChart  ChartKind = "history"  // page.historyData
	SeriesChart   ChartKind = "series"   // page.seriesData
	SizesChart    ChartKind = "sizes"    // page.sizesData
)

// Value is a number as a chart gets it: its exact decimal digits, which can be
// more than a JavaScript number holds, and how it reads.
type Value struct {
	Digits string `json:"v"`
	Text   string `json:"text"`
	Exact  string `json:"exact"`
}

// NewValue returns one measure of v for a chart.
func NewValue(m usage.Measure, v usage.Measures) Value {
	return Value{Digits: m.Of(v).String(), Text: m.Format(v), Exact: m.Exact(v)}
}

// RankingData is what the charts of a top-N list are drawn from.
type RankingData struct {
	Bytes bool          `json:"bytes"` // whether the values are bytes or counts
	Total Value         `json:"total"`
	Items []RankingItem `json:"items"`
}

// RankingItem is one bar or slice.
type RankingItem struct {
	Name  string `json:"name"`
	Value Value  `json:"value"`
	Share string `json:"share"`
	// Changes are those since the scans that the ranking is compared with.
	Changes []ItemChange `json:"changes,omitempty"`
	Link    string       `json:"link,omitempty"`
	Others  bool         `json:"others,omitempty"`
}

// ItemChange is how an item went over a span of time.
type ItemChange struct {
	Label string `json:"label"` // "7 days"
	Text  string `json:"text"`  // "+1.2 TiB", or a dash where it is unknown
}

// NewRankingData returns the chart of a ranking. Link, which may be nil, gives
// the address of an item's details, or "".
func NewRankingData(r Ranking, link func(report.Item) string) RankingData {
	data := RankingData{Bytes: r.By.IsBytes(), Total: NewValue(r.By, r.Total), Items: []RankingItem{}}
	for i, item := range r.Items {
		data.Items = append(data.Items, RankingItem{
			Name:    ShownName(r.Dimension, item.Row),
			Value:   NewValue(r.By, item.Measures),
			Share:   usage.FormatShare(item.Share),
			Link:    address(link, item),
			Changes: r.itemChanges(func(c Comparison) *report.Change { return c.Item(i) }),
		})
	}
	if r.Others != nil {
		data.Items = append(data.Items, RankingItem{
			Name:    OthersName(r.Others.Count),
			Value:   NewValue(r.By, r.Others.Measures),
			Share:   usage.FormatShare(r.Others.Share),
			Link:    r.All,
			Changes: r.itemChanges(func(c Comparison) *report.Change { return c.Others }),
			Others:  true,
		})
	}
	return data
}

// itemChanges words the changes of one row.
func (r Ranking) itemChanges(of func(Comparison) *report.Change) []ItemChange {
	var all []ItemChange
	for _, c := range r.Compared {
		text := "–"
		if change := of(c); change != nil {
			text = change.Format()
		}
		all = append(all, ItemChange{Label: c.Label, Text: text})
	}
	return all
}

func address(link func(report.Item) string, item report.Item) string {
	if link == nil {
		return ""
	}
	return link(item)
}

// OthersName is the name of the row that sums what a top-N list leaves.
func OthersName(count int64) string { return Plural(count, "other", "others") }
