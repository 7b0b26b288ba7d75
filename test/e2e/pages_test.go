//go:build linux

package e2e

import (
	"fmt"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"fstally/internal/usage"
	"fstally/web/page/pagetest"
)

// drawn is true when every chart of the page has something in it.
const drawn = `document.readyState === "complete" && document.documentElement.classList.contains("js") &&
	[...document.querySelectorAll("[data-chart]")].every(e => e.offsetParent === null || e.querySelector("svg path"))`

// TestPages checks every page in every state in both themes: no rule of
// accessibility is broken, nothing is in the console, nothing hangs over, and no name
// did anything but to be shown. The other states of a page, which are named after it,
// have its colours and its layout: they are not checked in the dark and at all widths.
func TestPages(t *testing.T) {
	b, rules := newBrowser(t), loadAxe(t)
	server := httptest.NewServer(pagetest.Handler())
	t.Cleanup(server.Close)
	for _, page := range pagetest.Pages("") {
		t.Run(page.Name, func(t *testing.T) {
			p := b.open(t, "light")
			p.goTo(server.URL + "/pages/" + page.Name)
			p.wait("the charts", drawn)
			rules.check(p)
			widths := []int64{375}
			if !strings.Contains(page.Name, "-") {
				p.colours("dark")
				widths = []int64{1100, 720, 375}
			}
			for _, width := range widths {
				p.size(width, 900)
				p.wait("the charts", drawn)
				p.wantFits()
			}
			if len(widths) > 1 {
				rules.check(p, looks()...) // dark and narrow
			}
			if eval[bool](p, `"hit" in window`) {
				t.Error("a name was run as a script")
			}
		})
	}
}

// looks are the rules of accessibility that other colours or another width can break.
func looks() []string {
	return []string{"color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"}
}

// row returns a point in the i-th row from above of a chart of bars.
func (p *tab) row(chart string, i int) (x, y float64) {
	p.t.Helper()
	x, y = p.centre(fmt.Sprintf("document.querySelector(%q)", "#"+chart+"-chart"))
	shape := eval[[]float64](p, fmt.Sprintf(`[document.querySelector("#%[1]s-chart").clientHeight,
		JSON.parse(document.querySelector("#%[1]s-data").textContent).items.length]`, chart))
	height, rows := shape[0], shape[1]
	return x, y + height*((float64(i)+0.5)/rows-0.5)
}

// tooltip returns the lines of the tooltip of a chart once it is shown.
func (p *tab) tooltip(chart, has string) string {
	p.t.Helper()
	read := fmt.Sprintf(`[...document.querySelectorAll("#%s-chart svg text")].map(e => e.textContent).join("\n")`, chart)
	p.wait("the tooltip", fmt.Sprintf(`%s.includes(%q)`, read, has))
	return eval[string](p, read)
}

func (p *tab) hover(x, y float64) {
	p.t.Helper()
	run(p, chromedp.MouseEvent("mouseMoved", x-2, y-2))
	run(p, chromedp.MouseEvent("mouseMoved", x, y))
}

// Names that look like markup, and like the markup of the chart library itself,
// are shown as they are (C029, C033).
func TestHostileNamesInTooltips(t *testing.T) {
	p := newBrowser(t).open(t, "light")
	server := httptest.NewServer(pagetest.Handler())
	t.Cleanup(server.Close)
	p.goTo(server.URL + "/pages/capacity-hostile")
	p.wait("the charts", drawn)
	for i, want := range map[int]string{
		1: "</script><script>window.hit=1</script>",
		8: "{\u2060c|rich} {\u2060a} {\u2060b0|x}", // word joiners keep it from being a style
	} {
		p.hover(p.row("filesets", i))
		p.tooltip("filesets", want)
	}
	if eval[bool](p, `"hit" in window`) {
		t.Error("a name was run as a script")
	}
}

// 2^53+1 bytes are shown exactly where exact bytes are shown (C124).
func TestExactBytesInTooltips(t *testing.T) {
	p := newBrowser(t).open(t, "light")
	server := httptest.NewServer(pagetest.Handler())
	t.Cleanup(server.Close)
	p.goTo(server.URL + "/pages/capacity-huge")
	p.wait("the charts", drawn)
	p.hover(p.row("types", 0))
	p.tooltip("types", "340,282,366,920,938,463,463,365,600,232,513,470,462 bytes") // 2^128-1 less the other
	p.hover(p.row("types", 1))
	p.tooltip("types", "9,007,199,254,740,993 bytes")
}

// A scan at 01:30 in the site's zone is drawn there for every viewer (C131).
func TestHistoryIsInTheZoneOfTheSite(t *testing.T) {
	server := httptest.NewServer(pagetest.Handler())
	t.Cleanup(server.Close)
	b := newBrowser(t)
	for _, zone := range []string{"America/Los_Angeles", "Pacific/Kiritimati"} {
		t.Run(strings.ReplaceAll(zone, "/", "-"), func(t *testing.T) {
			p := b.open(t, "light")
			p.zone(zone)
			p.goTo(server.URL + "/pages/capacity")
			p.wait("the charts", drawn)
			x, y := p.centre(`document.querySelector("#history-chart")`)
			p.hover(x, y)
			text := p.tooltip("history", "found")
			if !strings.Contains(text, "01:30") {
				t.Errorf("the tooltip does not tell 01:30: %s", text)
			}
			found := regexp.MustCompile(`found (.+) \(([\d,]+) bytes\)`).FindStringSubmatch(text)
			if found == nil {
				t.Fatalf("the tooltip tells no bytes: %s", text)
			}
			exact, err := usage.ParseBytes(strings.ReplaceAll(found[2], ",", ""))
			if err != nil || usage.FormatBytes(exact) != found[1] {
				t.Errorf("scripts show %s as %s, the program as %s (%v)", found[2], found[1], usage.FormatBytes(exact), err)
			}
		})
	}
}

func TestHistoryIsZoomedByDragging(t *testing.T) {
	p := newBrowser(t).open(t, "light")
	server := httptest.NewServer(pagetest.Handler())
	t.Cleanup(server.Close)
	p.goTo(server.URL + "/pages/capacity")
	p.wait("the charts", drawn)
	const labels = `[...document.querySelectorAll("#history-chart svg text")].map(e => e.textContent).join(" ")`
	if whole := eval[string](p, labels); !strings.Contains(whole, "2020") || !strings.Contains(whole, "2026") {
		t.Fatalf("the history is not shown whole: %s", whole)
	}
	x, y := p.centre(`document.querySelector("#history-chart")`)
	run(p, chromedp.DragAndDropXY(x-40, y, x+20, y, 5))
	p.wait("the range that was marked", "!"+labels+`.includes("2020") && !`+labels+`.includes("2026")`)
	run(p, chromedp.MouseClickXY(x, y, chromedp.ClickCount(2)))
	p.wait("everything after a double click", labels+`.includes("2020")`)
}

func TestChartsGiveWayToTheirTables(t *testing.T) {
	p := newBrowser(t).open(t, "light")
	server := httptest.NewServer(pagetest.Handler())
	t.Cleanup(server.Close)
	p.goTo(server.URL + "/pages/files")
	p.wait("the charts", drawn)
	shown := func(selector string) bool {
		return eval[bool](p, fmt.Sprintf(`document.querySelector(%q).checkVisibility()`, selector))
	}
	if shown("[data-switch=sizes] table") || !shown("#sizes-chart") {
		t.Error("the chart is not shown at first")
	}
	p.click("[data-table=sizes]")
	if !shown("[data-switch=sizes] table") || shown("#sizes-chart") {
		t.Error("the table is not shown in place of the chart")
	}
	p.wantText("[data-switch=sizes] tbody", "32 KiB to 8 MiB")
	p.click("[data-table=sizes]")
	p.wait("the charts", drawn)
}

func TestChartsAreSavedAsPictures(t *testing.T) {
	p := newBrowser(t).open(t, "dark")
	server := httptest.NewServer(pagetest.Handler())
	t.Cleanup(server.Close)
	p.goTo(server.URL + "/pages/files")
	p.wait("the charts", drawn)
	for _, chart := range []string{"types", "users", "sizes"} {
		eval[bool](p, `(() => { // sees what is saved, and saves nothing
			window.saved = {};
			URL.createObjectURL = blob => { Object.assign(window.saved, { type: blob.type, size: blob.size }); return "#"; };
			HTMLAnchorElement.prototype.click = function () { window.saved.name = this.download; };
			return true;
		})()`)
		p.click("[data-png=" + chart + "]")
		p.wait("the picture of "+chart, `window.saved.name?.endsWith(".png") && window.saved.type === "image/png" && window.saved.size > 5000`)
	}
}

func TestTheme(t *testing.T) {
	p := newBrowser(t).open(t, "light")
	server := httptest.NewServer(pagetest.Handler())
	t.Cleanup(server.Close)
	background := func() string { return eval[string](p, `getComputedStyle(document.body).backgroundColor`) }
	labels := func() string {
		return eval[string](p, `document.querySelector("#types-chart svg text").getAttribute("fill")`)
	}
	p.goTo(server.URL + "/pages/files")
	p.wait("the charts", drawn)
	light, lightLabels := background(), labels()
	p.click("#theme")
	dark, darkLabels := background(), labels()
	if dark == light || darkLabels == lightLabels {
		t.Errorf("the button changes nothing: %s, labels %s", dark, darkLabels)
	}
	p.goTo(server.URL + "/pages/capacity")
	if got := background(); got != dark {
		t.Errorf("the next page is %s, want %s as chosen", got, dark)
	}
	p.click("#theme") // light
	p.click("#theme") // automatic
	p.colours("dark")
	if got := background(); got != dark {
		t.Errorf("automatic is %s in a dark system, want %s", got, dark)
	}
	// Without scripts the system decides.
	p.scripts(false)
	p.goTo(server.URL + "/pages/files")
	p.scripts(true)
	if got := background(); got != dark {
		t.Errorf("without scripts a dark system gets %s, want %s", got, dark)
	}
}
