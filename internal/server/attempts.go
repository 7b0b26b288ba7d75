package server

import (
	"context"
	"fmt"
	"slices"

	"fstally/internal/usage"
	"fstally/web/component"
)

// attemptWindow is how far from each other, in ids and rows, attempts at one occurrence
// are looked for. The next attempt is queued with the end of the one before.
const attemptWindow = 24

// attempts returns the other attempts at the occurrence of a scan, oldest first: those
// that are found near it. A first attempt that went well has none.
func (s *site) attempts(ctx context.Context, of usage.Scan) ([]usage.Scan, error) {
	if of.Occurrence.IsZero() || of.Attempt <= 1 && of.State != usage.Interrupted {
		return nil, nil
	}
	near, err := s.Reader.Scans(ctx, Scope(ctx), of.FileSystemID, attemptWindow, of.ID+attemptWindow/2)
	if err != nil {
		return nil, fmt.Errorf("attempts at the occurrence of scan %d: %w", of.ID, err)
	}
	var others []usage.Scan
	for _, other := range slices.Backward(near) {
		if other.ID != of.ID && other.Occurrence.Equal(of.Occurrence) {
			others = append(others, s.zoned(other))
		}
	}
	return others, nil
}

// waitsForMost bounds how many file systems are looked at to find whose scans run.
const waitsForMost = 50

// waits returns the file systems whose scans run where a queued scan has to wait for a
// place.
func (s *site) waits(ctx context.Context, f component.Frame, of usage.Scan) ([]string, error) {
	if of.State != usage.Queued {
		return nil, nil
	}
	var running []string
	for i, fs := range f.FileSystems {
		if i >= waitsForMost {
			break
		}
		if fs.ID == of.FileSystemID || fs.Worker != f.FileSystem.Worker {
			continue
		}
		newest, _, err := s.newest(ctx, fs.ID)
		if err != nil {
			return nil, err
		}
		if newest != nil && newest.State == usage.Running {
			running = append(running, fs.Name)
		}
	}
	return running, nil
}
