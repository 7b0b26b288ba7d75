// Command pictures photographs every page of running sites for the documents:
// light and dark, wide and narrow, full and empty. docs/images/shoot runs it.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// drawn is true when the page and its charts are there.
const drawn = `document.readyState === "complete" && [...document.querySelectorAll("[data-chart]")]
	.every(e => e.offsetParent === null || e.querySelector("svg path"))`

// patience is how long a page may take.
const patience = time.Minute

// format is of one picture; pages longer than height are cut there.
type format struct {
	name          string
	width, height int64
}

func formats() []format { return []format{{"wide", 1440, 1300}, {"narrow", 390, 1600}} }

// picture is one page of a site.
type picture struct{ name, address string }

func main() {
	full := flag.String("full", "", "address, with its token, of a site with history")
	empty := flag.String("empty", "", "the same of a site whose only file system is empty")
	fresh := flag.String("fresh", "", "the same of a site without any file system")
	out := flag.String("out", "docs/images", "folder for the pictures")
	only := flag.String("only", "", "only pictures whose name matches this expression")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *full, *empty, *fresh, *out, *only)
	stop()
	if err != nil {
		slog.New(slog.NewTextHandler(os.Stderr, nil)).Error("no pictures", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, full, empty, fresh, out, only string) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	var all []picture
	for _, site := range []struct{ address, suffix string }{{full, ""}, {empty, "-empty"}} {
		pictures, err := pagesOf(ctx, site.address, site.suffix)
		if err != nil {
			return fmt.Errorf("pages of %s: %w", site.address, err)
		}
		all = append(all, pictures...)
	}
	all = append(all, picture{"welcome", fresh})
	profile, err := os.MkdirTemp("", "fstally-pictures-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(profile) //nolint:errcheck // a profile that is left does no harm
	browser, cancel := chromedp.NewContext(ctx, chromedp.WithAllocatorOptions(
		chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("hide-scrollbars", true),
	))
	defer cancel()
	if err := chromedp.Do(browser); err != nil {
		return fmt.Errorf("start chromium: %w", err)
	}
	for _, theme := range []string{"light", "dark"} {
		for _, f := range formats() {
			for _, p := range all {
				name := p.name + "-" + theme + "-" + f.name + ".webp"
				if !wanted.MatchString(name) {
					continue
				}
				if err := shoot(browser, p.address, theme, f, filepath.Join(out, name)); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	}
	return nil
}

// pagesOf lists the pages of a site, of the largest of what it has.
func pagesOf(ctx context.Context, address, suffix string) ([]picture, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	site := site{base: u.Scheme + "://" + u.Host, token: u.Query().Get("token")}
	var systems struct {
		Items []struct {
			Name string `json:"name"`
		} `json:"items"`
	}
	if err := site.get(ctx, "filesystems", &systems); err != nil {
		return nil, err
	}
	if len(systems.Items) == 0 {
		return nil, errors.New("it has no file system")
	}
	fs := systems.Items[len(systems.Items)-1].Name
	at := func(path string) string { return site.base + path + "?token=" + url.QueryEscape(site.token) }
	pictures := []picture{
		{"overview", at("/")}, {"capacity", at("/fs/" + fs + "/capacity")}, {"files", at("/fs/" + fs + "/files")},
		{"history", at("/fs/"+fs+"/history") + "&group_by=user"}, {"scans", at("/fs/" + fs + "/scans")},
		{"users", at("/fs/" + fs + "/users")},
	}
	var scans struct {
		Items []struct {
			ID      int64  `json:"id"`
			Verdict string `json:"verdict"`
			Errors  int64  `json:"errors"`
		} `json:"items"`
	}
	if err := site.get(ctx, "filesystems/"+fs+"/scans?limit=500", &scans); err != nil {
		return nil, err
	}
	scan := int64(0)
	for _, s := range scans.Items {
		if scan == 0 || s.Verdict == "partial" {
			scan = s.ID
		}
	}
	pictures = append(pictures, picture{"scan", at("/scans/" + strconv.FormatInt(scan, 10))})
	if suffix == "" {
		for _, d := range []struct{ name, folder string }{{"user", "users"}, {"type", "types"}, {"fileset", "filesets"}} {
			var top struct {
				Items []struct {
					Key string `json:"key"`
				} `json:"items"`
			}
			if err := site.get(ctx, "filesystems/"+fs+"/usage?limit=1&group_by="+d.name, &top); err != nil {
				return nil, err
			}
			if len(top.Items) == 0 {
				return nil, fmt.Errorf("no %s in %s", d.name, fs)
			}
			key := url.PathEscape(top.Items[0].Key)
			pictures = append(pictures, picture{d.name, at("/fs/" + fs + "/" + d.folder + "/" + key)})
			if d.name == "user" {
				pictures = append(pictures, picture{"person", at("/users/" + key)})
			}
		}
		pictures = append(pictures, picture{"api", at("/api")}, picture{"login", site.base + "/login"})
	}
	for i := range pictures {
		pictures[i].name += suffix
	}
	return pictures, nil
}

// site is a running fstally.
type site struct{ base, token string }

func (s site) get(ctx context.Context, path string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/api/v1/"+path, http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	answer, err := (&http.Client{Timeout: patience}).Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", path, answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}

// shoot saves one picture, in a tab of its own without cookies.
func shoot(browser context.Context, address, theme string, f format, name string) error {
	tab, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	defer cancel()
	tab, stop := context.WithTimeout(tab, patience)
	defer stop()
	if err := chromedp.Do(tab); err != nil {
		return err
	}
	_, err := chromedp.Call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}},
	})
	if err != nil {
		return err
	}
	if _, err := chromedp.Run(tab, chromedp.EmulateViewport(f.width, f.height)); err != nil {
		return err
	}
	if _, err := chromedp.Run(tab, chromedp.Navigate(address)); err != nil {
		return err
	}
	for {
		ready, err := chromedp.Run(tab, chromedp.Evaluate[bool](drawn))
		if err != nil {
			return err
		}
		if ready {
			break
		}
	}
	const bottom = `Math.ceil(document.querySelector("main").getBoundingClientRect().bottom)`
	tall, err := chromedp.Run(tab, chromedp.Evaluate[int64](bottom))
	if err != nil {
		return err
	}
	answer, err := chromedp.Call(tab, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatWebp, Quality: new(int64(82)),
		Clip: &page.Viewport{Width: float64(f.width), Height: float64(min(f.height, cmp.Or(tall, f.height))), Scale: 1},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(name, answer.Data, 0o644)
}
