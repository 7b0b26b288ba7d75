package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fstally/internal/usage"
)

// DefaultRetention holds until somebody sets another: two months of nights, a year
// and a month of weeks, all months.
func DefaultRetention() usage.Retention { return usage.Retention{NightlyDays: 60, WeeklyDays: 400} }

// String returns the word of the tier.
func (t Tier) String() string {
	switch t {
	case Nightly:
		return "nightly"
	case Weekly:
		return "weekly"
	default:
		return "monthly"
	}
}

// keptDays returns for how many days the details of a tier's scans are kept.
func keptDays(r usage.Retention, t Tier) int {
	return [...]int{Nightly: r.NightlyDays, Weekly: r.WeeklyDays, Monthly: r.MonthlyDays}[t]
}

// past reports whether every day of the partition is older than its tier is kept,
// on that date.
func (p partition) past(r usage.Retention, today time.Time) bool {
	days := keptDays(r, p.tier)
	return days > 0 && !p.to.AddDate(0, 0, days).After(today)
}

// Retention returns how long details are kept: what is in tables usage, size_histogram,
// age_histogram and directory.
func (s *Store) Retention(ctx context.Context) (usage.Retention, error) {
	r, err := readRetention(ctx, s.pool)
	return r, explainUnavailable(err)
}

func readRetention(ctx context.Context, q querier) (usage.Retention, error) {
	const sql = `SELECT nightly_days, weekly_days, monthly_days FROM retention`
	r, err := one(ctx, q, pgx.RowToStructByPos[usage.Retention], sql)
	switch {
	case errors.Is(err, usage.ErrNotFound):
		return DefaultRetention(), nil
	case err != nil:
		return usage.Retention{}, fmt.Errorf("read how long details are kept: %w", err)
	}
	return r, nil
}

// SetRetention sets how long details are kept. The next ThinOut acts on it; what is
// gone does not come back.
func (s *Store) SetRetention(ctx context.Context, r usage.Retention) error {
	if err := r.Validate(); err != nil {
		return err
	}
	const set = `
		INSERT INTO retention (nightly_days, weekly_days, monthly_days) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET nightly_days = $1, weekly_days = $2, monthly_days = $3`
	if _, err := s.pool.Exec(ctx, set, r.NightlyDays, r.WeeklyDays, r.MonthlyDays); err != nil {
		return fmt.Errorf("set how long details are kept: %w", explainUnavailable(err))
	}
	return nil
}
