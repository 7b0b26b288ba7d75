package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fstally/internal/usage"
)

// ScanOfResult returns the scan that a result became; usage.ErrNotFound where it is not
// in the store.
func (s *Store) ScanOfResult(ctx context.Context, resultID string) (scan usage.Scan, err error) {
	err = s.read(ctx, func(tx pgx.Tx) error {
		stored, err := one(ctx, tx, readScan, selectScan+` WHERE s.result_id = $1`, resultID)
		scan = stored.Scan
		return err
	})
	if err != nil {
		return usage.Scan{}, fmt.Errorf("scan of the result %q: %w", resultID, err)
	}
	return scan, nil
}
