package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fstally/internal/usage"
)

// Retention says for how many days after its day the details of a scan are kept
// (tables usage, size_histogram, age_histogram and directory); 0 is for ever. What
// is not a detail is always kept for ever: totals, marginals, the fine histogram of
// the whole scan, the verdict. So are the details of the scan that a file system
// shows, however old it is.
type Retention struct {
	NightlyDays int
	WeeklyDays  int // of the first published scan of an ISO week
	MonthlyDays int // of the first published scan of a month
}

// DefaultRetention holds until somebody sets another: two months of nights, a year
// and a month of weeks, all months.
func DefaultRetention() Retention { return Retention{NightlyDays: 60, WeeklyDays: 400} }

// maxRetentionDays is a century: more is for ever.
const maxRetentionDays = 36525

// Validate refuses what makes no sense: days below 0 or above a century, and a week
// that goes before its nights, or a month before its weeks.
func (r Retention) Validate() error {
	for _, t := range []Tier{Nightly, Weekly, Monthly} {
		if days := r.days(t); days < 0 || days > maxRetentionDays {
			return fmt.Errorf("details of %s scans cannot be kept for %d days: use 0 for ever, or 1 to %d",
				t, days, maxRetentionDays)
		}
	}
	for _, t := range []Tier{Weekly, Monthly} {
		shorter, longer := r.days(t-1), r.days(t)
		if longer != 0 && (shorter == 0 || shorter > longer) {
			return fmt.Errorf("details of %s scans cannot be kept longer than those of %s ones (%s and %s)",
				t-1, t, daysText(shorter), daysText(longer))
		}
	}
	return nil
}

func daysText(days int) string {
	if days == 0 {
		return "for ever"
	}
	return fmt.Sprintf("%d days", days)
}

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

func (r Retention) days(t Tier) int {
	return [...]int{Nightly: r.NightlyDays, Weekly: r.WeeklyDays, Monthly: r.MonthlyDays}[t]
}

// past reports whether every day of the partition is older than its tier is kept,
// on that date.
func (r Retention) past(p partition, today time.Time) bool {
	days := r.days(p.tier)
	return days > 0 && !p.to.AddDate(0, 0, days).After(today)
}

// Retention returns how long details are kept.
func (s *Store) Retention(ctx context.Context) (Retention, error) {
	r, err := readRetention(ctx, s.pool)
	return r, explainUnavailable(err)
}

func readRetention(ctx context.Context, q querier) (Retention, error) {
	const sql = `SELECT nightly_days, weekly_days, monthly_days FROM retention`
	r, err := one(ctx, q, pgx.RowToStructByPos[Retention], sql)
	switch {
	case errors.Is(err, usage.ErrNotFound):
		return DefaultRetention(), nil
	case err != nil:
		return Retention{}, fmt.Errorf("read how long details are kept: %w", err)
	}
	return r, nil
}

// SetRetention sets how long details are kept. The next ThinOut acts on it; what is
// gone does not come back.
func (s *Store) SetRetention(ctx context.Context, r Retention) error {
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
