//go:build !linux

package jobs

// Apply does nothing: scans run on Linux.
func (Limits) Apply() error { return nil }
