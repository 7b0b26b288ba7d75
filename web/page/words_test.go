package page

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/component"
)

func nights(days ...int) []usage.Point {
	points := make([]usage.Point, len(days))
	for i, d := range days {
		points[i].Scan.Started = time.Date(2026, 1, 1+d, 1, 30, 0, 0, time.UTC)
		points[i].Scan.Capacity = usage.Capacity{Size: usage.ByteCount(1000), Free: usage.ByteCount(int64(900 - 10*d))}
	}
	return points
}

func TestGaps(t *testing.T) {
	for _, tc := range []struct {
		name string
		days []int
		want []int
	}{
		{"none", nil, []int{}},
		{"every night", []int{0, 1, 2, 3}, []int{}},
		{"one missed night is bridged", []int{0, 1, 3, 4}, []int{}},
		{"a missed week is not", []int{0, 1, 2, 9, 10}, []int{3}},
		{"weekly scans have no gaps", []int{0, 7, 14, 21}, []int{}},
		{"two scans cannot tell", []int{0, 300}, []int{}},
	} {
		if diff := cmp.Diff(tc.want, History{Points: nights(tc.days...)}.gaps()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tc.name, diff)
		}
	}
}

func TestWallClockIsThatOfTheSite(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, local := range []string{"2026-01-10 00:30", "2026-07-10 23:45"} {
		at, err := time.ParseInLocation("2006-01-02 15:04", local, berlin)
		if err != nil {
			t.Fatal(err)
		}
		if got := time.UnixMilli(wallClock(at)).UTC().Format("2006-01-02 15:04"); got != local {
			t.Errorf("%s is drawn as %s", local, got)
		}
	}
}

func TestForecastStaysInsideTheChart(t *testing.T) {
	points := nights(0, 1, 2, 3, 4, 5)
	last := points[5].Scan
	day := func(n int) time.Time { return last.Started.AddDate(0, 0, n) }
	p := Capacity{History: History{By: usage.Allocated, Points: points}}
	p.Forecast = report.Forecast{Outlook: report.FullAt, At: day(30), Earliest: day(20), Latest: day(300)}
	data := p.forecastData()
	if data == nil {
		t.Fatal("nothing is drawn")
	}
	end := wallClock(day(60)) // at least 60 days are shown
	for _, point := range append(data.Line, data.Band...) {
		if point.Time > end {
			t.Errorf("a point %s lies beyond the end", time.UnixMilli(point.Time).UTC())
		}
	}
	if full := data.Line[1]; full.Time != wallClock(day(30)) || full.Value != "1000" {
		t.Errorf("the line ends at %+v, not at the size when it is full", full)
	}
	if got := len(data.Band); got != 4 {
		t.Errorf("the band has %d corners, want 4: its late edge is cut", got)
	}
	p.Forecast.Outlook = report.NotGrowing
	if p.forecastData() != nil {
		t.Error("a forecast is drawn of what does not grow")
	}
}

func TestSizeRange(t *testing.T) {
	for _, tc := range []struct {
		over, upTo int64
		want       string
	}{
		{-1, 0, "0 B"},
		{0, 1, "1 B"},
		{4, 6, "4 B to 6 B"},
		{-1, 3072, "up to 3 KiB"},
		{3 << 10, 4 << 10, "3 KiB to 4 KiB"},
	} {
		if got := sizeRange(tc.over, tc.upTo); got != tc.want {
			t.Errorf("over %d up to %d is %q, want %q", tc.over, tc.upTo, got, tc.want)
		}
	}
}

func TestLive(t *testing.T) {
	started := time.Date(2026, 1, 1, 1, 30, 0, 0, time.UTC)
	frame := component.Frame{
		Base: "/b", Now: started.Add(100 * time.Second), FileSystem: &usage.FileSystem{Name: "scratch"},
	}
	before := &usage.Scan{Counters: usage.Counters{Entries: 4000}}
	running := usage.Scan{
		ID: 7, State: usage.Running, Started: started,
		Progress: usage.Progress{Entries: 1000, Phase: "walking", Walkers: 4, FSType: "nfs4", OpsLimit: 5000},
	}
	with := func(change func(*usage.Scan)) usage.Scan {
		scan := running
		change(&scan)
		return scan
	}
	for _, tc := range []struct {
		name    string
		scan    usage.Scan
		before  *usage.Scan
		percent float64
		next    string
		texts   map[string]string
	}{
		{
			"a quarter is done", running, before, 25, "",
			map[string]string{"percent": "25%", "left": "about 5 min 0 s left", "rate": "10 per second", "entries": "1,000"},
		},
		{
			"the first scan knows no end", running, nil, -1, "",
			map[string]string{"percent": "–", "left": "no scan before to compare with"},
		},
		{
			"a tree that has grown stays under 100", with(func(s *usage.Scan) { s.Progress.Entries = 9000 }), before, 99, "",
			map[string]string{"percent": "99%", "left": ""},
		},
		{"queued", usage.Scan{State: usage.Queued}, before, 0, "", map[string]string{"state": "queued: starts as soon as the server takes it", "rate": "–"}},
		{
			"complete leads to the numbers", with(func(s *usage.Scan) { s.State = usage.Complete }), before, 100,
			"/b/fs/scratch/capacity", map[string]string{"state": "complete"},
		},
		{
			"suspect leads to the report", with(func(s *usage.Scan) { s.State, s.Verdict = usage.Complete, usage.Suspect }), before,
			100, "/b/scans/7", nil,
		},
		{"failed leads to the reason", with(func(s *usage.Scan) { s.State = usage.Failed }), nil, 100, "/b/scans/7", nil},
	} {
		got := NewLive(frame, tc.scan, tc.before, nil)
		if got.Percent != tc.percent || got.Next != tc.next || got.Ended != tc.scan.State.Ended() {
			t.Errorf("%s: %+v", tc.name, got)
		}
		for name, want := range tc.texts {
			if got.Texts[name] != want {
				t.Errorf("%s: %s is %q, want %q", tc.name, name, got.Texts[name], want)
			}
		}
	}
	if got, want := limits(running.Progress), "4 walkers on nfs4, at most 5,000 operations per second"; got != want {
		t.Errorf("limits %q, want %q", got, want)
	}
}

func TestForecastFact(t *testing.T) {
	started := time.Date(2026, 11, 30, 1, 30, 0, 0, time.UTC)
	at := func(months int) time.Time { return started.AddDate(0, months, 0) }
	p := Capacity{Frame: component.Frame{Scan: &component.ShownScan{Scan: usage.Scan{Started: started}}}}
	for _, tc := range []struct {
		f     report.Forecast
		value string
		note  string
	}{
		{report.Forecast{}, "–", "after three scans over two days"},
		{report.Forecast{Outlook: report.NoLimit}, "–", "the file system's size is not known"},
		{report.Forecast{Outlook: report.NotGrowing}, "never", "it does not grow"},
		{report.Forecast{Outlook: report.Full}, "now", "nothing is free"},
		{report.Forecast{Outlook: report.FullAt, At: at(9), Earliest: at(7), Latest: at(13)}, "in 9 months", "7 months to 13 months, at 80%"},
		{report.Forecast{Outlook: report.FullAt, At: at(9), Earliest: at(7)}, "in 9 months", "7 months or later, at 80%"},
	} {
		p.Forecast = tc.f
		fact := p.forecastFact()
		if fact.Value != tc.value || fact.Notes[0] != tc.note {
			t.Errorf("%+v: %q, %q; want %q, %q", tc.f, fact.Value, fact.Notes[0], tc.value, tc.note)
		}
	}
}
