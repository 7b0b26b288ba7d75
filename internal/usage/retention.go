package usage

import "fmt"

// Retention says for how many days after its day the details of a scan are kept: what
// filters read. Totals, sums of each dimension and verdicts are kept for ever, and so
// are the details of the scan that a file system shows. 0 is for ever.
type Retention struct {
	NightlyDays int
	WeeklyDays  int // of the first published scan of an ISO week
	MonthlyDays int // of the first published scan of a month
}

// MaxRetentionDays is a century: more is for ever.
const MaxRetentionDays = 36525

// The settings of a Retention, as the API and forms call them.
const (
	SettingNightlyDays = "nightly_days"
	SettingWeeklyDays  = "weekly_days"
	SettingMonthlyDays = "monthly_days"
)

// Validate reports what makes no sense, as a *SettingError: days below 0 or above a
// century, and a week that goes before its nights, or a month before its weeks.
func (r Retention) Validate() error {
	tiers := []struct {
		setting, name string
		days          int
	}{
		{SettingNightlyDays, "nightly", r.NightlyDays},
		{SettingWeeklyDays, "weekly", r.WeeklyDays},
		{SettingMonthlyDays, "monthly", r.MonthlyDays},
	}
	for i, t := range tiers {
		if t.days < 0 || t.days > MaxRetentionDays {
			return &SettingError{t.setting, fmt.Errorf(
				"details of %s scans cannot be kept for %d days: use 1 to %d, or 0 for ever", t.name, t.days, MaxRetentionDays)}
		}
		if i == 0 || t.days == 0 {
			continue
		}
		if shorter := tiers[i-1]; shorter.days == 0 || shorter.days > t.days {
			return &SettingError{t.setting, fmt.Errorf(
				"details of %s scans cannot be kept longer than those of %s ones (%s and %s)",
				shorter.name, t.name, FormatKept(shorter.days), FormatKept(t.days))}
		}
	}
	return nil
}

// FormatKept says for how many days something is kept; 0 is for ever.
func FormatKept(days int) string {
	if days == 0 {
		return "for ever"
	}
	return fmt.Sprintf("%d days", days)
}
