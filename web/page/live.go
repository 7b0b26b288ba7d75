package page

import (
	"fmt"
	"time"

	"fstally/internal/usage"
	"fstally/web/component"
)

// Live is what the server answers at /scans/{id}/progress, once a second while a
// page shows a running scan. Its texts are those that the page itself shows, so
// that the script copies them and formats nothing.
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
// nil where there is none, gives percent and time left.
func NewLive(f component.Frame, scan usage.Scan, before *usage.Scan) Live {
	live := Live{State: scan.State, Ended: scan.State.Ended(), Percent: percent(scan, before)}
	elapsed := scan.Duration(f.Now)
	live.Texts = map[string]string{
		"state":     stateWords(scan),
		"entries":   component.Count(scan.Progress.Entries),
		"rate":      rate(scan.Progress.Entries, elapsed),
		"found":     usage.FormatBytes(scan.Progress.Allocated),
		"errors":    component.Count(scan.Progress.Errors),
		"elapsed":   usage.FormatDuration(elapsed),
		"percent":   percentWords(live.Percent),
		"left":      left(live.Percent, elapsed),
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
// before a twentieth is done.
func left(percent float64, elapsed time.Duration) string {
	if percent < 0 {
		return "no scan before to compare with"
	}
	if percent < 5 || percent >= 99 {
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
func stateWords(scan usage.Scan) string {
	if scan.State != usage.Running {
		return string(scan.State)
	}
	switch scan.Progress.Phase {
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
	case scan.State.Ended():
		return string(scan.State)
	case percent >= 0:
		return percentWords(percent)
	default:
		return usage.FormatCount(scan.Progress.Entries)
	}
}
