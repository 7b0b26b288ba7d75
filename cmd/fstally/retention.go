package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"fstally/internal/usage"
)

type retentionCmd struct {
	Nightly *int `placeholder:"DAYS" help:"Days that the details of every scan are kept; 0 for ever."`
	Weekly  *int `placeholder:"DAYS" help:"Days that those of the first scan of a week are kept; 0 for ever."`
	Monthly *int `placeholder:"DAYS" help:"Days that those of the first scan of a month are kept; 0 for ever."`
}

// Run shows how long details are kept, and sets it where flags are given.
func (c retentionCmd) Run(ctx context.Context, a *app) error {
	return a.use(ctx, func(d *database) error {
		kept, err := d.Retention(ctx)
		if err != nil {
			return err
		}
		before := kept
		for _, n := range []struct{ flag, to *int }{
			{c.Nightly, &kept.NightlyDays}, {c.Weekly, &kept.WeeklyDays}, {c.Monthly, &kept.MonthlyDays},
		} {
			if n.flag != nil {
				*n.to = *n.flag
			}
		}
		if kept != before {
			if wrong, ok := errors.AsType[*usage.SettingError](kept.Validate()); ok {
				return usageError{wrong}
			}
			if err := d.SetRetention(ctx, kept); err != nil {
				return err
			}
		}
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "DETAILS OF\tARE KEPT")
		for _, row := range []struct {
			what string
			days int
		}{
			{"every scan", kept.NightlyDays}, {"the first scan of a week", kept.WeeklyDays},
			{"the first scan of a month", kept.MonthlyDays},
		} {
			_, _ = fmt.Fprintf(w, "%s\t%s\n", row.what, usage.FormatKept(row.days))
		}
		return w.Flush()
	})
}
