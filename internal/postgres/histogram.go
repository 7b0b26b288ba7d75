package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fstally/internal/usage"
)

// SizeHistogram returns the bars of the fine histogram of regular files by size
// or by allocated, ascending, without empty ones: of one file type or, where typ
// is nil, of the whole scan. Those of a type are details: usage.ErrThinned where
// they are no longer kept.
func (s *Store) SizeHistogram(
	ctx context.Context, scope usage.Scope, scanID int64, by usage.Measure, typ *string,
) ([]usage.BucketRow, error) {
	if by != usage.Size && by != usage.Allocated {
		return nil, fmt.Errorf("no histogram by %q: use %s or %s", by, usage.Size, usage.Allocated)
	}
	const whole = `
		SELECT bucket, files, size, allocated
		FROM size_total
		WHERE scan_id = $1 AND by = $2
		ORDER BY bucket`
	const ofType = `
		SELECT bucket, files, size, allocated
		FROM size_histogram
		WHERE scan_id = $1 AND by = $2 AND tier = $3 AND day = $4 AND dimension = $5
			AND key = (SELECT id FROM file_type WHERE name = $6)
		ORDER BY bucket`
	var bars []usage.BucketRow
	err := s.read(ctx, func(tx pgx.Tx) error {
		if typ == nil {
			if _, err := numbersOf(ctx, tx, scope, scanID); err != nil {
				return err
			}
			var err error
			bars, err = all(ctx, tx, readBucket, whole, scanID, histogramBy(by))
			return err
		}
		scan, err := detailsOf(ctx, tx, scope, scanID)
		if err != nil {
			return err
		}
		bars, err = all(ctx, tx, readBucket, ofType, scanID, histogramBy(by),
			int16(scan.tier), scan.Day, int16(byType), unescaped(usage.Type, *typ))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("histogram by %s: %w", by, err)
	}
	return bars, nil
}

func readBucket(row pgx.CollectableRow) (b usage.BucketRow, err error) {
	err = row.Scan(&b.Bucket, &b.Files, (*numeric)(&b.Size), (*numeric)(&b.Allocated))
	return b, err
}
