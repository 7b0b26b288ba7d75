package usage_test

import (
	"strings"
	"testing"

	"fstally/internal/usage"
)

func TestRetention(t *testing.T) {
	for _, good := range []usage.Retention{{}, {60, 400, 0}, {60, 60, 60}, {1, 0, 0}, {1, 2, usage.MaxRetentionDays}} {
		if err := good.Validate(); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
	for _, tc := range []struct {
		bad           usage.Retention
		setting, want string
	}{
		{usage.Retention{NightlyDays: -1}, usage.SettingNightlyDays, "0 for ever"},
		{usage.Retention{MonthlyDays: usage.MaxRetentionDays + 1}, usage.SettingMonthlyDays, "36526 days"},
		{usage.Retention{NightlyDays: 60, WeeklyDays: 30}, usage.SettingWeeklyDays, "60 days and 30 days"},
		{usage.Retention{NightlyDays: 60, WeeklyDays: 400, MonthlyDays: 399}, usage.SettingMonthlyDays, "400 days and 399 days"},
		{usage.Retention{WeeklyDays: 400}, usage.SettingWeeklyDays, "for ever and 400 days"},
		{usage.Retention{NightlyDays: 60, MonthlyDays: 90}, usage.SettingMonthlyDays, "for ever and 90 days"},
	} {
		problems := usage.SettingProblems(tc.bad.Validate())
		if len(problems) != 1 || !strings.Contains(problems[tc.setting], tc.want) {
			t.Errorf("%+v: %v, want %q of %s", tc.bad, problems, tc.want, tc.setting)
		}
	}
}
