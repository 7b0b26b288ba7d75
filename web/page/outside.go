package page

import (
	"slices"

	"fstally/web/component"
)

// live reports that a scan is under way, so that the page has to follow it.
func (p FirstRun) live() bool {
	return slices.ContainsFunc(p.Waiting, func(w Waiting) bool { return w.Scan != nil && !w.Scan.State.Ended() })
}

// of returns the frame of one of the file systems, for its links.
func (p FirstRun) of(w Waiting) component.Frame {
	f := p.Frame
	f.FileSystem = &w.FileSystem
	return f
}
