//go:build linux

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"fstally/test/tree"
)

// patience is how long a page may take for anything. It is only spent where
// something is broken; CI machines are slow and busy.
const patience = 90 * time.Second

// browser is a chromium for the time of one test, with a profile of its own.
type browser struct {
	ctx context.Context //nolint:containedctx // chromedp keeps the browser in it
}

func newBrowser(t *testing.T) browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	tree.Need(t, err == nil, "chromium (Debian's package of that name)")
	// Not under the context of the test: it ends before pictures of failures are
	// taken.
	ctx := context.Background() //nolint:usetesting // see above
	ctx, cancel := chromedp.NewContext(ctx, chromedp.WithAllocatorOptions(
		chromedp.ExecPath(path),
		chromedp.UserDataDir(t.TempDir()),
		chromedp.NoSandbox, // CI runs as root, where the sandbox does not start
		chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("hide-scrollbars", true),
	))
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return browser{ctx}
}

// tab is one page of a browser, with cookies and storage of its own.
type tab struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // chromedp keeps the tab in it

	mu      sync.Mutex
	console []string // what no page may write: errors and warnings
}

// open makes a tab in the colours "light" or "dark". At the end of the test it
// keeps a picture if the test has failed, and fails it for what is in the console.
func (b browser) open(t *testing.T, theme string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	p := &tab{t: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	var watch sync.WaitGroup
	messages := chromedp.Console(ctx)
	watch.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.Type == chromedp.ConsoleException || m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleWarning {
				p.mu.Lock()
				p.console = append(p.console, fmt.Sprintf("%s: %s (%s)", m.Type, m.Text, m.URL))
				p.mu.Unlock()
			}
		}
	})
	t.Cleanup(func() {
		for _, line := range p.complaints() {
			t.Errorf("the console says: %s", line)
		}
		if t.Failed() {
			p.keepPicture()
		}
		cancel()
		watch.Wait()
	})
	p.colours(theme)
	p.size(1440, 900)
	return p
}

// complaints returns what is in the console and forgets it.
func (p *tab) complaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := p.console
	p.console = nil
	return lines
}

func (p *tab) keepPicture() {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		p.t.Logf("no picture of the failure: %v", err)
		return
	}
	name := regexp.MustCompile(`[^\w-]+`).ReplaceAllString(p.t.Name(), "-") + ".png"
	path := filepath.Join("failures", name)
	if err := os.MkdirAll("failures", 0o755); err != nil {
		p.t.Log(err)
	} else if err := os.WriteFile(path, picture, 0o600); err != nil {
		p.t.Log(err)
	} else {
		p.t.Logf("the page is shown in test/e2e/%s", path)
	}
}

// run does something in the tab, within reason.
func run[T any](p *tab, action chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, action)
	if err != nil {
		p.t.Fatalf("in the browser: %v", err)
	}
	return v
}

// eval returns the value of a JavaScript expression; promises are awaited.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	return run(p, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

func (p *tab) colours(theme string) {
	p.t.Helper()
	feature := &emulation.MediaFeature{Name: "prefers-color-scheme", Value: theme}
	p.call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{feature},
		})
		return err
	})
}

func (p *tab) scripts(on bool) {
	p.t.Helper()
	p.call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
		return err
	})
}

func (p *tab) zone(name string) {
	p.t.Helper()
	p.call(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: name})
		return err
	})
}

func (p *tab) call(f func(ctx context.Context) error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := f(ctx); err != nil {
		p.t.Fatal(err)
	}
}

func (p *tab) size(width, height int64) {
	p.t.Helper()
	run(p, chromedp.EmulateViewport(width, height))
}

func (p *tab) goTo(address string) {
	p.t.Helper()
	run(p, chromedp.Navigate(address))
}

// click clicks the first visible element of a CSS selector.
func (p *tab) click(selector string) {
	p.t.Helper()
	run(p, chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

func (p *tab) press(key string, modifiers ...chromedp.Modifier) {
	p.t.Helper()
	run(p, chromedp.KeyEvent(key, chromedp.KeyModifiers(modifiers...)))
}

func (p *tab) tabKey() { p.t.Helper(); p.press(kb.Tab) }

// wait waits until a JavaScript expression is true, over navigations.
func (p *tab) wait(what, expression string) {
	p.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		ctx, cancel := context.WithTimeout(p.ctx, patience)
		// A page that goes away while it is asked answers with an error: the
		// next one is asked then.
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		cancel()
		if err == nil && ok {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%s: never became true: %s (last error: %v)", what, expression, err)
		}
		select {
		case <-p.ctx.Done():
			p.t.Fatalf("%s: %v", what, p.ctx.Err())
		case <-time.After(50 * time.Millisecond): // how often to look, not how long to wait
		}
	}
}

// waitFor waits for a page with this heading at an address that holds part.
func (p *tab) waitFor(heading, part string) {
	p.t.Helper()
	p.wait("page "+heading, fmt.Sprintf(
		`document.readyState === "complete" && document.querySelector("h1")?.textContent.startsWith(%q) && location.href.includes(%q)`,
		heading, part))
}

func (p *tab) text(selector string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.innerText).join(" ")`, selector))
}

// wantText fails the test unless the element reads so.
func (p *tab) wantText(selector, want string) {
	p.t.Helper()
	if got := p.text(selector); !strings.Contains(got, want) {
		p.t.Errorf("%s reads %.300q, want %q in it", selector, got, want)
	}
}

// wantFits fails the test if the page has to be scrolled sideways.
func (p *tab) wantFits() {
	p.t.Helper()
	const wide = `(() => {
		const room = document.documentElement.clientWidth;
		if (document.documentElement.scrollWidth <= room) return "";
		return "page is " + document.documentElement.scrollWidth + " px wide of " + room + ": " +
			[...document.querySelectorAll("main *, header *")].filter(e => e.getBoundingClientRect().right > room + 1)
				.slice(0, 5).map(e => e.tagName + "." + e.className).join(", ");
	})()`
	if problem := eval[string](p, wide); problem != "" {
		p.t.Error(problem)
	}
}

// centre returns the middle of an element in the window, scrolled into view.
func (p *tab) centre(find string) (x, y float64) {
	p.t.Helper()
	at := eval[[]float64](p, `(() => {
		const e = `+find+`;
		e.scrollIntoView({ block: "center" });
		const r = e.getBoundingClientRect();
		return [r.left + r.width / 2, r.top + r.height / 2];
	})()`)
	return at[0], at[1]
}

func (p *tab) clickAt(x, y float64) {
	p.t.Helper()
	run(p, chromedp.MouseClickXY(x, y))
}

func (p *tab) typeInto(selector, text string) {
	p.t.Helper()
	run(p, chromedp.SendKeys(chromedp.CSS(selector), text))
}
