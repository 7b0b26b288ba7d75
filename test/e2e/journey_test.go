//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fstally/test/tree"
)

// hostileDir would do harm as a fileset's name if it were not text.
const hostileDir = `<img src=x onerror="window.hit=1">{c|rich}`

// watched makes a directory whose scan takes some ten seconds at 60 operations a
// second, so that it can be looked at.
func watched(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "scratch")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	pile := func(ext string, n int, size int64) tree.Dir {
		d := tree.Dir{}
		for i := range n {
			d[fmt.Sprintf("f%d.%s", i, ext)] = tree.File{Size: size}
		}
		return d
	}
	tree.Make(t, root, tree.Dir{
		"genomics":   tree.Dir{"reads": pile("fastq.gz", 110, 300<<10), "index": pile("bai", 110, 900)},
		"code":       pile("py", 320, 2000),
		hostileDir:   pile("json", 20, 100),
		"c\x1b[31m":  pile("log", 5, 10),
		"d\xff":      pile("x", 1, 9),
		"e\u202egnp": pile("png", 1, 9),
		"empty.txt":  tree.File{},
		"link":       tree.Symlink{To: "code"},
	})
	return root
}

// TestJourney is what an administrator does on the first day.
func TestJourney(t *testing.T) {
	b, rules := newBrowser(t), loadAxe(t)
	root := watched(t)
	program := serve(t, "--walkers=1", "--ops-limit=60", root)
	p := b.open(t, "light")
	done := t.Run("first run", func(t *testing.T) { p.on(t, func() { firstRun(p, program) }) }) &&
		t.Run("capacity", func(t *testing.T) { p.on(t, func() { capacity(p, program, rules) }) }) &&
		t.Run("files", func(t *testing.T) { p.on(t, func() { files(p, program, rules) }) }) &&
		t.Run("second scan", func(t *testing.T) { p.on(t, func() { secondScan(p, root) }) }) &&
		t.Run("older scan", func(t *testing.T) { p.on(t, func() { olderScan(p, program, rules) }) })
	if !done {
		return
	}
	t.Run("cancel", func(t *testing.T) { p.on(t, func() { cancelScan(p, program) }) })
	t.Run("schedule", func(t *testing.T) { p.on(t, func() { setSchedule(p, program) }) })
	t.Run("settings", func(t *testing.T) { p.on(t, func() { changeSettings(p, program) }) })
	t.Run("dark", func(t *testing.T) { p.on(t, func() { dark(p, program, rules) }) })
	t.Run("keyboard", func(t *testing.T) { p.on(t, func() { byKeyboard(p, program) }) })
	t.Run("narrow", func(t *testing.T) { p.on(t, func() { narrow(p, program) }) })
	t.Run("no JavaScript", func(t *testing.T) { p.on(t, func() { withoutScripts(p, program) }) })
	t.Run("suspect", func(t *testing.T) { p.on(t, func() { suspectScan(p, program, root) }) }) // the last that scans
	t.Run("bad addresses", func(t *testing.T) { p.on(t, func() { badAddresses(p, program, rules) }) })
	t.Run("no token", func(t *testing.T) { withoutToken(b.open(t, "light"), program, rules) })
}

// on lends the tab to a part of a journey.
func (p *tab) on(t *testing.T, part func()) {
	whole := p.t
	p.t = t
	defer func() {
		if t.Failed() {
			p.keepPicture()
		}
		p.t = whole
	}()
	part()
	for _, line := range p.complaints() {
		t.Errorf("the console says: %s", line)
	}
	if eval[bool](p, `"hit" in window`) {
		t.Error("a name was run as a script")
	}
}

// firstRun watches the first scan until the views come up by themselves.
func firstRun(p *tab, program program) {
	p.t.Helper()
	p.goTo(program.address)
	p.waitFor("First scan", "/")
	if address := eval[string](p, "location.href"); strings.Contains(address, "token") {
		p.t.Errorf("the token stays in the address %s", address)
	}
	eval[bool](p, "window.sameDocument = true")
	entries := `Number(document.querySelector("[data-live-text=entries]").textContent.replaceAll(",", ""))`
	p.wait("the scan is seen to run", entries+" > 5 && window.sameDocument")
	p.wantText(".live-card", "Scan of scratch")
	p.wantText(".live-card", "1 walker")
	p.wantText(".live-card", "at most 60 operations per second")
	before := eval[float64](p, entries)
	p.wait("the numbers go on without a reload", fmt.Sprintf("window.sameDocument && %s > %v", entries, before))
	p.waitFor("Capacity", "/fs/scratch/capacity")
}

func capacity(p *tab, program program, rules axe) {
	p.t.Helper()
	p.goTo(program.site + "/")
	p.waitFor("Overview", "/")
	rules.check(p)
	p.click(".systems th a")
	p.waitFor("Capacity", "/fs/scratch/capacity")
	p.wait("the charts", drawn)
	rules.check(p)
	p.wantText(".top", "clean")
	p.wantText("#history-title", "Used capacity over time")
	p.wantText("main", "The history starts here")
	p.wantText("main", "Used, not seen by the scan")
	p.hover(p.row("filesets", 0))
	p.tooltip("filesets", "genomics")
	p.click("[data-table=filesets]")
	// Names are text: markup, control characters, bidi marks and invalid UTF-8.
	for _, name := range []string{hostileDir, `c\x1b[31m`, `d\xff`, `e\xe2\x80\xaegnp`} {
		p.wantText("[data-switch=filesets] tbody", name)
	}
	p.click(`.seg a[href*="by=files"]`)
	p.waitFor("Capacity", "by=files")
	p.wait("the charts", drawn)
	p.wantText(".seg [aria-current]", "Files")
	p.hover(p.row("types", 0))
	p.tooltip("types", "320 files")
}

// files narrows the histogram by a click on a bar.
func files(p *tab, program program, rules axe) {
	p.t.Helper()
	p.goTo(program.site + "/fs/scratch/capacity")
	p.waitFor("Capacity", "/capacity")
	p.click(`.side a[href*="/files"]`)
	p.waitFor("Files", "/fs/scratch/files")
	p.wait("the charts", drawn)
	rules.check(p)
	p.wantText("#sizes-title", "Files by size")
	x, y := p.row("types", 0) // py
	p.clickAt(x, y)
	p.waitFor("Files", "type=py")
	p.wait("the charts", drawn)
	p.wantText("#sizes-title", "py files by size")
	p.click("[data-table=sizes]")
	p.wantText("[data-switch=sizes] tfoot", "320")
	p.click(`.choice a[href*="histogram=fine"]`)
	p.waitFor("Files", "histogram=fine")
	p.wait("the charts", drawn)
	if address := eval[string](p, "location.search"); !strings.Contains(address, "type=py") {
		p.t.Errorf("the address %s forgets the type", address)
	}
	p.click("[data-table=sizes]")
	p.wantText("[data-switch=sizes] tbody", "1.5 KiB to 2 KiB")
	// The select does the same, at once.
	eval[bool](p, `(() => {
		const s = document.querySelector("#type");
		s.value = "fastq.gz";
		s.dispatchEvent(new Event("change", { bubbles: true }));
		return true;
	})()`)
	p.waitFor("Files", "type=fastq.gz")
}

// secondScan starts another one from the page, sees it and goes to its numbers.
func secondScan(p *tab, root string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(root, "new.iso"), make([]byte, 2<<20), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.click(".side .foot button")
	p.wait("the scan is shown", `location.pathname.startsWith("/scans/") || document.querySelector(".side [data-live]")`)
	if !strings.HasPrefix(eval[string](p, "location.pathname"), "/scans/") {
		p.click(".side [data-live] a")
	}
	p.wait("the scan page", `location.pathname.startsWith("/scans/")`)
	p.wait("percent of the scan before", `/\d+%/.test(document.querySelector("[data-live-text=percent]")?.textContent ?? "")`)
	p.waitFor("Capacity", "/fs/scratch/capacity")
	p.click("[data-table=types]")
	p.wantText("[data-switch=types]", "iso")
}

// olderScan goes back to the first scan; the address holds what is shown.
func olderScan(p *tab, program program, rules axe) {
	p.t.Helper()
	p.goTo(program.site + "/fs/scratch/capacity?by=files")
	p.waitFor("Capacity", "by=files")
	newest := p.text("#types-title")
	p.click(".stepper summary")
	p.click(".stepper li:last-child a")
	p.waitFor("Capacity", "scan=")
	p.wait("the charts", drawn)
	address := eval[string](p, "location.href")
	if !strings.Contains(address, "by=files") {
		p.t.Errorf("the address %s forgets the measure", address)
	}
	rules.check(p)
	p.click("[data-table=types]")
	if strings.Contains(p.text("[data-switch=types]"), "iso") {
		p.t.Error("the first scan shows a file that was made after it")
	}
	p.click(`.side a[href*="/files"]`)
	p.waitFor("Files", "scan=")
	p.click(`.side a[href*="/scans/"]`) // its report
	p.waitFor("Scan of", "/scans/")
	rules.check(p)
	p.wantText("main", "Engine")
	p.goTo(address)
	p.waitFor("Capacity", "scan=")
	p.click(".latest")
	p.waitFor("Capacity", "by=files")
	if again := p.text("#types-title"); again != newest || strings.Contains(eval[string](p, "location.href"), "scan=") {
		p.t.Errorf("latest leads to %q at %s", again, eval[string](p, "location.href"))
	}
}

func views(program program) []string {
	return []string{
		program.site + "/fs/scratch/capacity", program.site + "/fs/scratch/capacity?by=size",
		program.site + "/fs/scratch/files", program.site + "/fs/scratch/files?histogram=fine&type=py",
		program.site + "/", program.site + "/fs/scratch/scans", program.site + "/fs/scratch/types/py",
		program.site + "/fs/scratch/users", program.site + "/users/0", program.site + "/api",
		program.site + "/schedules", program.site + "/fs/scratch/schedule", program.site + "/settings", program.site + "/fs/scratch/settings",
		program.site + "/fs/scratch/history?group_by=fileset", program.site + "/fs/scratch/history?by=inodes",
	}
}

func dark(p *tab, program program, rules axe) {
	p.t.Helper()
	p.colours("dark")
	defer p.colours("light")
	for _, address := range views(program) {
		p.goTo(address)
		p.wait("the charts", drawn)
		rules.check(p, looks()...)
	}
}

func narrow(p *tab, program program) {
	p.t.Helper()
	p.size(375, 800)
	defer p.size(1440, 900)
	for _, address := range views(program) {
		p.goTo(address)
		p.wait("the charts", drawn)
		p.wantFits()
	}
}

// withoutScripts does with links and forms what the other journeys do.
func withoutScripts(p *tab, program program) {
	p.t.Helper()
	p.scripts(false)
	defer p.scripts(true)
	// The debugger still answers, so that the page can be read.
	p.goTo(program.site + "/fs/scratch/capacity")
	p.wantText("[data-switch=filesets] tbody", "genomics")
	if got := p.text("[data-chart]"); strings.TrimSpace(got) != "" {
		p.t.Errorf("a chart was drawn without scripts: %s", got)
	}
	p.click(".stepper summary")
	p.click(".stepper li:last-child a")
	p.waitFor("Capacity", "scan=")
	p.click(`.side a[href*="/files"]`)
	p.waitFor("Files", "scan=")
	eval[string](p, `document.querySelector("#type").value = "py"`)
	p.click("[data-submit]")
	p.waitFor("Files", "type=py")
	p.wantText("[data-switch=sizes] tfoot", "320")
}

func badAddresses(p *tab, program program, rules axe) {
	p.t.Helper()
	for _, tc := range []struct{ path, want string }{
		{"/fs/nothing/capacity", "nothing"},
		{"/fs/scratch/capacity?scan=99999", "99999"},
		{"/fs/scratch/capacity?by=weight", "weight"},
		{"/nowhere", ""},
	} {
		p.goTo(program.site + tc.path)
		p.wait("an answer", `document.readyState === "complete" && document.querySelector(".status")`)
		p.wantText("main", tc.want)
		rules.check(p)
	}
	for _, line := range p.complaints() { // a browser reports each page of an error
		if !strings.Contains(line, "Failed to load resource") {
			p.t.Error(line)
		}
	}
}

// withoutToken is asked for it, refused a wrong one and let in with the right one.
func withoutToken(p *tab, program program, rules axe) {
	p.t.Helper()
	p.goTo(program.site + "/fs/scratch/files")
	p.waitFor("Access token", "")
	rules.check(p)
	p.typeInto("#token", "wrong")
	p.click("main button")
	p.wait("the refusal", `document.querySelector("[role=alert]")`)
	rules.check(p)
	_, token, _ := strings.Cut(program.address, "token=")
	p.typeInto("#token", token)
	p.click("main button")
	p.waitFor("Files", "/fs/scratch/files")
	for _, line := range p.complaints() {
		if !strings.Contains(line, "Failed to load resource") {
			p.t.Error(line)
		}
	}
}
