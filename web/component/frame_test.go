package component_test

import (
	"net/url"
	"testing"
	"time"

	"fstally/internal/usage"
	"fstally/web/component"
)

func frame() component.Frame {
	return component.Frame{
		Base: "/tally", Section: component.Files, FileSystem: &usage.FileSystem{Name: "scratch"},
		State: url.Values{"scan": {"12"}, "type": {"a&b=c/ü"}},
	}
}

func TestAddresses(t *testing.T) {
	f := frame()
	for _, tc := range []struct{ name, got, want string }{
		{"root", f.URL("/", nil), "/tally/"},
		{"here", f.Here(), "/tally/fs/scratch/files?scan=12&type=a%26b%3Dc%2F%C3%BC"},
		{"here without", f.Here("type", ""), "/tally/fs/scratch/files?scan=12"},
		{"here with", f.Here("type", "", "histogram", "fine"), "/tally/fs/scratch/files?histogram=fine&scan=12"},
		{"section keeps the scan alone", f.SectionURL(component.Capacity), "/tally/fs/scratch/capacity?scan=12"},
		{"scan", f.ScanURL(7), "/tally/scans/7"},
		{"api", f.API("usage", "by", "files", "type", ""), "/tally/api/v1/filesystems/scratch/usage?by=files"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, tc.got, tc.want)
		}
	}
	if got := f.State.Get("type"); got != "a&b=c/ü" {
		t.Errorf("making links changed the state: type is %q", got)
	}
}

func TestSpan(t *testing.T) {
	const day = 24 * time.Hour
	for d, want := range map[time.Duration]string{
		90 * time.Minute: "1 h 30 min",
		3 * day:          "3 days",
		270 * day:        "9 months",
		767 * day:        "2.1 years",
	} {
		if got := component.Span(d); got != want {
			t.Errorf("Span(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestShownName(t *testing.T) {
	for _, tc := range []struct {
		d    usage.Dimension
		row  usage.Row
		want string
	}{
		{usage.User, usage.Row{Key: "4294967294", Name: "4294967294"}, "uid 4294967294"},
		{usage.Group, usage.Row{Key: "0", Name: "0"}, "gid 0"},
		{usage.User, usage.Row{Key: "0", Name: "root"}, "root"},
		{usage.Type, usage.Row{Key: "bam", Name: "bam"}, "bam"},
	} {
		if got := component.ShownName(tc.d, tc.row); got != tc.want {
			t.Errorf("%s %+v is called %q, want %q", tc.d, tc.row, got, tc.want)
		}
	}
}

func TestPercentIsALength(t *testing.T) {
	for share, want := range map[float64]string{-1: "0.00%", 0.41367: "41.37%", 7: "100.00%"} {
		if got := component.Percent(share); got != want {
			t.Errorf("Percent(%v) = %s, want %s", share, got, want)
		}
	}
}
