package page

import (
	"fmt"
	"strings"
	"time"

	"fstally/internal/usage"
	"fstally/web/component"
)

// Live is what the server tells at /scans/{id}/events, or answers at
// /scans/{id}/progress, each second while a page shows a running scan. Its texts are
// those that the page itself shows, so that the script copies them and formats nothing.
type Live struct {
	State   usage.ScanState   `json:"state"`
	Ended   bool              `json:"ended"`
	Percent float64           `json:"percent"` // 0..100; -1 where there is nothing to compare with
	Texts   map[string]string `json:"texts"`   // by the names in the page's data-live-text
	// Next is where to go when the scan has ended: its numbers, or why there
	// are none.
	Next string `json:"next,omitempty"`
}

// NewLive returns what a page shows of a scan at the time f.Now. A scan before,
// nil where there is none, gives percent and time left; waits are file systems whose
// scans hold it up.
func NewLive(f component.Frame, scan usage.Scan, before *usage.Scan, waits []string) Live {
	live := Live{State: scan.State, Ended: scan.State.Ended(), Percent: percent(scan, before)}
	elapsed := scan.Duration(f.Now)
	live.Texts = map[string]string{
		"state":     stateWords(f, scan, waits),
		"stalled":   stalledWords(f, scan),
		"blocked":   blockedWords(scan.Progress),
		"entries":   component.Count(scan.Progress.Entries),
		"rate":      rate(scan.Progress.Entries, elapsed),
		"found":     usage.FormatBytes(scan.Progress.Allocated),
		"errors":    component.Count(scan.Progress.Errors),
		"elapsed":   usage.FormatDuration(elapsed),
		"percent":   percentWords(live.Percent),
		"left":      left(live.Percent, elapsed, scan.Progress.Stalled),
		"directory": scan.Progress.Directory,
		"limits":    limits(scan.Progress),
		"short":     short(scan, live.Percent),
	}
	switch {
	case !live.Ended:
	case scan.State == usage.Complete && scan.Verdict != usage.Suspect:
		live.Next = f.URL(f.SectionPath(component.Capacity), nil)
	default:
		live.Next = f.ScanURL(scan.ID)
	}
	return live
}

// percent relates the entries so far to those of the scan before. It stays under
// 100 while the scan runs, because the tree may have grown.
func percent(scan usage.Scan, before *usage.Scan) float64 {
	switch {
	case scan.State.Ended():
		return 100
	case before == nil || before.Counters.Entries == 0:
		return -1
	case scan.Progress.Phase != "" && scan.Progress.Phase != "walking":
		return 99
	default:
		return min(99, 100*float64(scan.Progress.Entries)/float64(before.Counters.Entries))
	}
}

func percentWords(percent float64) string {
	if percent < 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f%%", percent)
}

// left estimates the time that remains from what has passed; it says nothing
// before a twentieth is done, nor while nothing gets on.
func left(percent float64, elapsed time.Duration, stalled bool) string {
	if percent < 0 {
		return "no scan before to compare with"
	}
	if stalled || percent < 5 || percent >= 99 {
		return ""
	}
	return "about " + usage.FormatDuration(time.Duration(float64(elapsed)/percent*(100-percent))) + " left"
}

func rate(entries int64, elapsed time.Duration) string {
	if elapsed < time.Second {
		return "–"
	}
	return usage.FormatCount(int64(float64(entries)/elapsed.Seconds())) + " per second"
}

// stateWords says what the scan is doing.
func stateWords(f component.Frame, scan usage.Scan, waits []string) string {
	switch scan.State {
	case usage.Running:
		return phaseWords(scan.Progress.Phase)
	case usage.Queued:
		return queuedWords(f, scan, waits)
	default:
		return string(scan.State)
	}
}

func phaseWords(phase string) string {
	switch phase {
	case "naming":
		return "looking up names"
	case "writing":
		return "writing the result"
	case "importing":
		return "storing the result"
	case "walking":
		return "reading directories"
	default:
		return "starting"
	}
}

// queuedWords says what a queued scan waits for.
func queuedWords(f component.Frame, scan usage.Scan, waits []string) string {
	worker := ""
	if f.FileSystem != nil {
		worker = f.FileSystem.Worker
	}
	switch {
	case scan.NotBefore.After(f.Now):
		return fmt.Sprintf("queued: another attempt, not before %s", scan.NotBefore.Format("15:04:05 MST"))
	case len(waits) > 0:
		verb := "is"
		if len(waits) > 1 {
			verb = "are"
		}
		return fmt.Sprintf("queued: waits for a free worker, as %s of %s %s running",
			plural(len(waits), "the scan", "scans"), enumeration(waits), verb)
	case worker != "":
		return "queued: waits for the worker " + usage.Escape(worker)
	default:
		return "queued: starts as soon as the server takes it"
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// enumeration joins names: "a, b and c"; of many it tells how many others there are.
func enumeration(names []string) string {
	const shown = 3
	if len(names) > shown+1 {
		return strings.Join(names[:shown], ", ") + " and " + component.Count(int64(len(names)-shown)) + " others"
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// stalledWords says since when a file system does not answer; "" while it does.
func stalledWords(f component.Frame, scan usage.Scan) string {
	p := scan.Progress
	if scan.State != usage.Running || !p.Stalled {
		return ""
	}
	words := "The file system does not answer"
	if !p.LastAnswer.IsZero() {
		words += fmt.Sprintf(": the last answer came %s ago, at %s", usage.FormatDuration(max(0, f.Now.Sub(p.LastAnswer))),
			p.LastAnswer.In(f.Now.Location()).Format("15:04:05"))
	}
	words += "."
	if f.FileSystem != nil && f.FileSystem.StallAfter > 0 {
		words += fmt.Sprintf(" The scan is given up after %s.", wholeUnits(f.FileSystem.StallAfter))
	}
	return words
}

// blockedWords lists the directories that are waited for, one on each line.
func blockedWords(p usage.Progress) string {
	lines := make([]string, 0, len(p.Blocked))
	for _, b := range p.Blocked {
		lines = append(lines, fmt.Sprintf("%s %s, for %s", usage.Escape(b.Op), b.Directory,
			usage.FormatDuration(time.Duration(b.Seconds)*time.Second)))
	}
	return strings.Join(lines, "\n")
}

// limits says how hard the scan works on the file system.
func limits(p usage.Progress) string {
	if p.Walkers == 0 {
		return ""
	}
	words := component.Plural(int64(p.Walkers), "walker", "walkers")
	if p.FSType != "" {
		words += " on " + usage.Escape(p.FSType)
	}
	if p.OpsLimit > 0 {
		return words + ", at most " + component.Plural(int64(p.OpsLimit), "operation", "operations") + " per second"
	}
	return words + ", no ceiling of operations"
}

// short is what fits beside the navigation.
func short(scan usage.Scan, percent float64) string {
	switch {
	case scan.State == usage.Queued:
		return "queued"
	case scan.State == usage.Running && scan.Progress.Stalled:
		return "stalled"
	case scan.State.Ended():
		return string(scan.State)
	case percent >= 0:
		return percentWords(percent)
	default:
		return usage.FormatCount(scan.Progress.Entries)
	}
}
