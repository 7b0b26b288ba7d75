//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The parts of the journey that are about scans by themselves: schedules, settings, and
// scans that do not go well.

// scanNow starts a scan and goes to its page.
func scanNow(p *tab, program program) {
	p.t.Helper()
	p.goTo(program.site + "/fs/scratch/scans")
	p.waitFor("Scans", "/fs/scratch/scans")
	p.click(".head button")
	p.wait("the page of the scan", `location.pathname.startsWith("/scans/")`)
}

// cancelScan watches a scan by its stream of events and stops it; how far it got is told.
func cancelScan(p *tab, program program) {
	p.t.Helper()
	scanNow(p, program)
	entries := `Number(document.querySelector("[data-live-text=entries]").textContent.replaceAll(",", ""))`
	p.wait("the scan gets on", entries+" > 5")
	const streams = `performance.getEntriesByType("resource").filter(e => /\/(events|progress)$/.test(e.name)).map(e => e.name)`
	for _, address := range eval[[]string](p, streams) {
		if strings.HasSuffix(address, "/progress") {
			p.t.Errorf("the page asks %s although it is told", address)
		}
	}
	p.click(".live-card button.danger")
	p.wait("the end", `document.querySelector(".head .badge")?.textContent === "cancelled"`)
	p.wantText("main", "no other page counts it")
	p.wantText("main", "Asked for by hand")
}

// setSchedule sees what a schedule would mean, saves it, changes it without scripts and
// takes it away.
func setSchedule(p *tab, program program) {
	p.t.Helper()
	p.goTo(program.site + "/")
	p.waitFor("Overview", "/")
	p.click(`.systems a[href$="/schedule"]`) // no schedule
	p.waitFor("Schedule of scratch", "/fs/scratch/schedule")
	p.click(`[name=kind][value=weekly]`)
	p.wait("the preview follows the form", `document.querySelector("[data-preview]").innerText.includes("every Sunday at 01:30")`)
	if n := eval[int](p, `document.querySelectorAll("[data-preview] time").length`); n != 5 {
		p.t.Errorf("%d scans are told, want 5", n)
	}
	fill(p, "#zone", "Europe/Nowhere")
	p.wait("the preview says what is wrong", `document.querySelector("[data-preview]").innerText.includes("is not known")`)
	p.click(".plan .primary")
	p.wait("the refusal", `document.querySelector("#zone-problem") && document.querySelector("#zone").value === "Europe/Nowhere"`)
	fill(p, "#zone", "America/New_York")
	p.click(".plan .primary")
	p.waitFor("Schedules", "/schedules?saved=scratch")
	p.wantText("main", "Every Sunday at 01:30")
	p.wantText("main", "America/New_York")

	p.scripts(false)
	p.click(".actions .button")
	p.waitFor("Schedule of scratch", "/fs/scratch/schedule")
	p.click(`[name=kind][value=every]`)
	p.click("[name=preview]")
	p.waitFor("Schedule of scratch", "kind=every")
	p.wantText("[data-preview]", "every 6 hours")
	p.click(".plan .primary")
	p.waitFor("Schedules", "/schedules?saved=scratch")
	p.wantText("main", "Every 6 hours")
	p.scripts(true)
	p.goTo(program.site + "/fs/scratch/schedule")
	p.click(`form[action$="/remove"] button`)
	p.waitFor("Schedules", "/schedules")
	p.wantText("main", "not scheduled")
	for _, line := range p.complaints() { // the refusal is an error of HTTP
		if !strings.Contains(line, "Failed to load resource") {
			p.t.Error(line)
		}
	}
}

// fill puts a text into a field as if it were typed over.
func fill(p *tab, selector, text string) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`(() => {
		const field = document.querySelector(%q);
		field.value = %q;
		return field.dispatchEvent(new Event("input", { bubbles: true }));
	})()`, selector, text))
}

// changeSettings lifts the ceiling, so that the scans after it take a moment.
func changeSettings(p *tab, program program) {
	p.t.Helper()
	p.goTo(program.site + "/fs/scratch/capacity")
	p.waitFor("Capacity", "/capacity")
	p.click(`.side a[href="/settings"]`)
	p.waitFor("Settings", "/settings")
	p.click(`.watched .button`)
	p.waitFor("Settings of scratch", "/fs/scratch/settings")
	fill(p, "#ops_limit", "-1")
	fill(p, "#memory_limit", "a lot")
	p.click("form.stack .primary")
	p.wait("the refusal", `document.querySelector("#memory_limit-problem") && document.querySelector("#ops_limit").value === "-1"`)
	fill(p, "#memory_limit", "0")
	p.click("form.stack .primary")
	p.waitFor("Settings of scratch", "saved=1")
	p.wantText("main", "The settings are saved")
	for _, line := range p.complaints() {
		if !strings.Contains(line, "Failed to load resource") {
			p.t.Error(line)
		}
	}
}

// suspectScan loses most of the tree: the scan is not believed until somebody has looked.
func suspectScan(p *tab, program program, root string) {
	p.t.Helper()
	for _, dir := range []string{"code", "genomics"} {
		if err := os.RemoveAll(filepath.Join(root, dir)); err != nil {
			p.t.Fatal(err)
		}
	}
	scanNow(p, program)
	p.wait("the verdict", `document.querySelector(".head .badge")?.textContent.includes("suspect")`)
	p.click(`form[action$="/reject"] button`)
	p.wait("it is rejected", `document.querySelector(".head .badge")?.textContent.includes("rejected")`)
	p.click(`form[action$="/accept"] button`)
	p.wait("it is accepted", `document.querySelector(".head .badge")?.textContent.includes("clean")`)
}
