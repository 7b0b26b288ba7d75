package server

import (
	"context"
	"fmt"

	"fstally/internal/usage"
	"fstally/web/component"
)

// attempts returns the other attempts at the occurrence of a scan, oldest first. A first
// attempt that went well has none.
func (s *site) attempts(ctx context.Context, of usage.Scan) ([]usage.Scan, error) {
	if of.Occurrence.IsZero() || of.Attempt <= 1 && of.State != usage.Interrupted {
		return nil, nil
	}
	all, err := s.Reader.Attempts(ctx, Scope(ctx), of)
	if err != nil {
		return nil, fmt.Errorf("attempts at the occurrence of scan %d: %w", of.ID, err)
	}
	var others []usage.Scan
	for _, other := range all {
		if other.ID != of.ID {
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
