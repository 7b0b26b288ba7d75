package page

import (
	"fstally/internal/usage"
	"fstally/web/component"
)

// Live is what the server answers at /scans/{id}/progress, once a second while a
// page shows a running scan. Its texts are those that the page itself shows, so
// that the script copies them and formats nothing.
type Live struct {
	State   usage.ScanState   `json:"state"`
	Ended   bool              `json:"ended"`
	Percent float64           `json:"percent"`        // 0..100; -1 where there is nothing to compare with
	Texts   map[string]string `json:"texts"`          // by the page's data-live names
	Next    string            `json:"next,omitempty"` // where to go when it has ended
}

// NewLive returns what a page shows of a scan at the time f.Now. A scan before,
// nil where there is none, gives percent and time left.
func NewLive(f component.Frame, scan usage.Scan, before *usage.Scan) Live {
	return Live{State: scan.State, Ended: scan.State.Ended(), Percent: -1}
}
