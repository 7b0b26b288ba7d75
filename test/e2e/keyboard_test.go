//go:build linux

package e2e

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"fstally/web/page/pagetest"
)

// TestKeyboard walks through each page with the Tab key: everything that can be
// done is reached, and what has the focus is seen to have it.
func TestKeyboard(t *testing.T) {
	b := newBrowser(t)
	server := httptest.NewServer(pagetest.Handler())
	t.Cleanup(server.Close)
	for _, page := range []string{
		"overview", "capacity", "files", "history-users", "scans", "scan-complete",
		"user", "users", "person", "reference", "first-run-scanning", "login",
		"schedules", "schedule", "settings", "fs-settings", "scan-suspect",
	} {
		t.Run(page, func(t *testing.T) {
			p := b.open(t, "light")
			p.goTo(server.URL + "/pages/" + page)
			p.wait("the charts", drawn)
			everythingIsReached(p)
		})
	}
}

func everythingIsReached(p *tab) {
	p.t.Helper()
	reachable := eval[int](p, `(() => {
		const all = [...document.querySelectorAll("a[href], button, select, input, textarea, summary")];
		const free = all.filter(e => e.checkVisibility({ visibilityProperty: true }) && !e.disabled && e.type !== "hidden" &&
			(e.type !== "radio" || e.checked)); // the arrows choose among them
		free.forEach(e => { e.dataset.expected = "1"; });
		return free.length;
	})()`)
	if reachable < 3 {
		p.t.Fatalf("only %d things can be done on the page", reachable)
	}
	// Watched from within the page: to ask it after each key would take minutes.
	eval[bool](p, `(() => {
		window.unseen = [];
		document.addEventListener("focusin", ({ target }) => {
			delete target.dataset.expected;
			const s = getComputedStyle(target);
			if (s.outlineStyle === "none" || s.outlineWidth === "0px") {
				window.unseen.push(target.outerHTML.slice(0, 120));
			}
		});
		return true;
	})()`)
	p.tabKey()
	if got := eval[string](p, `document.activeElement.className`); got != "skip" && eval[bool](p, `!document.querySelector("[autofocus]")`) {
		p.t.Errorf("the first thing reached is %q, not the link to the content", got)
	}
	for range reachable + 8 { // fields of a date have parts
		p.tabKey()
	}
	if unseen := eval[[]string](p, `window.unseen`); len(unseen) > 0 {
		p.t.Errorf("the focus is not seen on %s", strings.Join(unseen, "\n"))
	}
	if missed := eval[[]string](p, `[...document.querySelectorAll("[data-expected]")].map(e => e.outerHTML.slice(0, 120))`); len(missed) > 0 {
		p.t.Errorf("not reached: %s", strings.Join(missed, "\n"))
	}
}

// A menu opens and closes, and gives the focus back.
func TestMenuByKeyboard(t *testing.T) {
	p := newBrowser(t).open(t, "light")
	server := httptest.NewServer(pagetest.Handler())
	t.Cleanup(server.Close)
	p.goTo(server.URL + "/pages/files")
	p.wait("the charts", drawn)
	eval[bool](p, `document.querySelector(".stepper summary").focus() ?? true`)
	p.press(kb.Enter)
	p.wait("the menu opens", `document.querySelector(".stepper details").open`)
	p.tabKey()
	p.wait("the focus is in the menu", `document.activeElement.closest(".panel")`)
	p.press(kb.Escape)
	p.wait("the menu closes", `!document.querySelector(".stepper details").open && document.activeElement.matches(".stepper summary")`)
}

// tabTo presses the Tab key until an element of the selector has the focus.
func (p *tab) tabTo(selector string) {
	p.t.Helper()
	const limit = 300
	for range limit {
		if eval[bool](p, fmt.Sprintf(`document.activeElement.matches(%q)`, selector)) {
			return
		}
		p.tabKey()
	}
	p.t.Fatalf("%d times Tab do not reach %s", limit, selector)
}

// byKeyboard goes from the first page to one user and its history, without a mouse.
func byKeyboard(p *tab, program program) {
	p.t.Helper()
	follow := func(selector, heading, part string) {
		p.t.Helper()
		p.tabTo(selector)
		p.press(kb.Enter)
		p.waitFor(heading, part)
		p.wait("the charts", drawn)
	}
	p.goTo(program.site + "/")
	p.waitFor("Overview", "/")
	follow(".systems th a", "Capacity", "/fs/scratch/capacity")
	follow(`.stepper a[aria-label="Earlier scan"]`, "Capacity", "scan=")
	follow(".latest", "Capacity", "/fs/scratch/capacity")
	follow(`tfoot a[href*="/users"]`, "Users", "/fs/scratch/users")
	follow(`.list thead a[href*="by=files"]`, "Users", "by=files")
	follow(".list tbody a", "", "/fs/scratch/users/")
	follow(`.side a[href*="/history"]`, "History", "/fs/scratch/history")
	follow(`.choices a[href*="group_by=type"]`, "History", "group_by=type")
	follow(`.side a[href*="/files"]`, "Files", "/fs/scratch/files")
	p.tabTo("[data-table=sizes]")
	p.press(" ")
	p.wait("the table", `document.querySelector("[data-switch=sizes] table").checkVisibility()`)
}
