//go:build linux

package e2e

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"fstally/web/page/pagetest"
)

// Tables sort by any of their columns: by the exact number, the others stay at
// the end, and a third click gives the first order back.
func TestTablesSort(t *testing.T) {
	p := newBrowser(t).open(t, "light")
	server := httptest.NewServer(pagetest.Handler())
	t.Cleanup(server.Close)
	p.goTo(server.URL + "/pages/capacity")
	p.wait("the charts", drawn)
	const table = `document.querySelector("[aria-labelledby=users-title] table")`
	column := func(i string) []string {
		return eval[[]string](p, `[...`+table+`.querySelectorAll("tbody tr:not(.others)")].map(r => r.cells[`+i+`].innerText.trim())`)
	}
	click := func(i string) {
		eval[bool](p, table+`.querySelectorAll("thead button")[`+i+`].click() ?? true`)
	}
	given := column("1")
	click("1")
	if got := column("1"); !slices.Equal(got, given) {
		t.Errorf("the largest first: %q, the page had %q", got, given)
	}
	click("1")
	reversed := slices.Clone(given)
	slices.Reverse(reversed)
	if got := column("1"); !slices.Equal(got, reversed) {
		t.Errorf("the smallest first: %q, want %q", got, reversed)
	}
	if got := eval[string](p, table+`.querySelector("[aria-sort]").ariaSort`); got != "ascending" {
		t.Errorf("aria-sort is %q", got)
	}
	click("1")
	if got := column("1"); !slices.Equal(got, given) {
		t.Errorf("as it was: %q, want %q", got, given)
	}
	// GiB and TiB, up and down, and what is not known last.
	click("3")
	want := []string{
		"▲ + 1.6 TiB", "▲ + 665.9 GiB", "▲ + 357.6 GiB", "▲ + 309.1 GiB", "▲ + 176.1 GiB",
		"0 B", "▼ − 204.8 GiB", "▼ − 266.9 GiB", "▼ − 1 TiB", "–",
	}
	squeeze := func(cells []string) string {
		return strings.NewReplacer(" ", "", "\n", "", "\u00a0", "").Replace(strings.Join(cells, "|"))
	}
	if got := column("3"); squeeze(got) != squeeze(want) {
		t.Errorf("by change: %q, want %q", got, want)
	}
	click("0")
	names := column("0")
	if !strings.HasPrefix(names[0], "cfd_batch") || !strings.HasPrefix(names[len(names)-1], "uid 31877") {
		t.Errorf("by name: %q", names)
	}
	if got := eval[string](p, table+`.querySelector("tbody tr:last-child th").innerText`); !strings.Contains(got, "others") {
		t.Errorf("the last row is %q, not the others", got)
	}
}

// Slices of the doughnut lead where their rows do.
func TestDoughnutLeadsOn(t *testing.T) {
	p := newBrowser(t).open(t, "light")
	server := httptest.NewServer(pagetest.Handler())
	t.Cleanup(server.Close)
	p.goTo(server.URL + "/pages/files")
	p.wait("the charts", drawn)
	// Shortly after twelve o'clock, where the first slice begins, on the ring.
	x, y := p.centre(`document.querySelector("#users-chart")`)
	radius := eval[float64](p, `Math.min(document.querySelector("#users-chart").clientHeight, document.querySelector("#users-chart").clientWidth) / 2`)
	p.hover(x+6, y-0.76*radius)
	p.clickAt(x+6, y-0.76*radius)
	p.wait("the page of the first user", `location.pathname.includes("/users/1840")`)
	p.complaints() // there is no such page here
}

// What the buttons copy is a command that gives the numbers, or the address.
func TestCopy(t *testing.T) {
	p := newBrowser(t).open(t, "light")
	server := httptest.NewServer(pagetest.Handler())
	t.Cleanup(server.Close)
	p.goTo(server.URL + "/pages/user")
	p.wait("the charts", drawn)
	eval[bool](p, `(() => { // sees what is copied
		Object.defineProperty(navigator, "clipboard", { value: { writeText: async t => { window.copied = t; } } });
		return true;
	})()`)
	p.click(".head [data-copy]")
	p.wait("the address", `window.copied === location.href`)
	p.wait("a word that it is done", `document.querySelector(".head [data-copy]").textContent === "Copied"`)
	p.click("[aria-labelledby=history-title] [data-copy]")
	p.wait("the call", `window.copied?.startsWith("curl ")`)
	want := `curl -H "Authorization: Bearer $TOKEN" '` + server.URL +
		`/api/v1/filesystems/scratch/history?by=allocated&group_by=user&key=20417'`
	if got := eval[string](p, "window.copied"); got != want {
		t.Errorf("copied %s, want %s", got, want)
	}
}
