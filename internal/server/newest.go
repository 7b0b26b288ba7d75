package server

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"fstally/internal/usage"
)

// scanPagesRead bounds how far back a scan is looked for among occurrences without one:
// a scan of a month that is due each hour has some seven hundred behind it.
const scanPagesRead = 20

// scanPages yields the scans of a file system in pages, the newest first. The first is
// of a size, later ones are larger.
func (s *site) scanPages(ctx context.Context, fileSystemID int64, size int) iter.Seq2[[]usage.Scan, error] {
	return func(yield func([]usage.Scan, error) bool) {
		var before int64
		for range scanPagesRead {
			list, err := s.Reader.Scans(ctx, Scope(ctx), fileSystemID, size, before)
			if err != nil {
				yield(nil, fmt.Errorf("list scans of file system %d: %w", fileSystemID, err))
				return
			}
			if !yield(list, nil) || len(list) < size {
				return
			}
			before, size = list[len(list)-1].ID, scansInMenu
		}
	}
}

// newestWindow is how many scans are read to find the newest: some, as occurrences
// without a scan may stand before it.
const newestWindow = 8

// newest returns the newest scan of a file system, whatever became of it, nil for none;
// and the newest occurrence without a scan since, nil for none. The scan is the one
// under way if there is one, unless results of other hosts came in meanwhile.
func (s *site) newest(ctx context.Context, fileSystemID int64) (scan, skipped *usage.Scan, err error) {
	for list, err := range s.scanPages(ctx, fileSystemID, newestWindow) {
		if err != nil {
			return nil, nil, err
		}
		at := slices.IndexFunc(list, func(scan usage.Scan) bool { return !scan.State.Ended() })
		if at < 0 {
			at = slices.IndexFunc(list, func(scan usage.Scan) bool { return scan.State != usage.NotRun })
		}
		since := list
		if at >= 0 {
			since = list[:at]
		}
		for _, other := range since {
			if skipped == nil && other.State == usage.NotRun {
				other = s.zoned(other)
				skipped = &other
			}
		}
		if at >= 0 {
			found := s.zoned(list[at])
			return &found, skipped, nil
		}
	}
	return nil, skipped, nil
}
