package api

import (
	"context"
	"net/http"

	"fstally/internal/usage"
)

type retentionBody struct {
	NightlyDays int `json:"nightly_days" doc:"Days that the details of every scan are kept; 0 for ever."`
	WeeklyDays  int `json:"weekly_days" doc:"Days that those of the first scan of a week are kept; 0 for ever."`
	MonthlyDays int `json:"monthly_days" doc:"Days that those of the first scan of a month are kept; 0 for ever."`
}

type retentionOutput struct{ Body retentionBody }

type retentionInput struct {
	Body struct {
		_           struct{} `json:"-" additionalProperties:"false"`
		NightlyDays int      `json:"nightly_days" minimum:"0" maximum:"36525" doc:"Days that the details of every scan are kept; 0 for ever."`
		WeeklyDays  int      `json:"weekly_days" minimum:"0" maximum:"36525" doc:"Of the first scan of a week; not less than nightly_days."`
		MonthlyDays int      `json:"monthly_days" minimum:"0" maximum:"36525" doc:"Of the first scan of a month; not less than weekly_days."`
	}
}

func (a *api) registerRetention() {
	const details = "Details are what filters read: who has which type where. Totals, the sums of each dimension, and " +
		"the details of the scan that is shown now are kept for ever."
	register(a, operation{
		id: "retention", method: http.MethodGet, path: "/retention",
		group: groupScans, summary: "How long details of scans are kept", description: details,
		answer: "Days by kind of scan.",
	}, func(ctx context.Context, _ *struct{}) (*retentionOutput, error) {
		kept, err := a.Reader.Retention(ctx)
		return &retentionOutput{Body: retentionBody(kept)}, err
	})
	register(a, operation{
		id: "set-retention", method: http.MethodPut, path: "/retention", body: true,
		group: groupScans, summary: "Set how long details of scans are kept",
		description: details + " What is removed does not come back.",
		answer:      "Days by kind of scan, as they are now.",
	}, func(ctx context.Context, in *retentionInput) (*retentionOutput, error) {
		wanted := usage.Retention{
			NightlyDays: in.Body.NightlyDays, WeeklyDays: in.Body.WeeklyDays, MonthlyDays: in.Body.MonthlyDays,
		}
		if err := invalidSettings(wanted.Validate()); err != nil {
			return nil, err
		}
		if err := a.Scans.SetRetention(ctx, wanted); err != nil {
			return nil, err
		}
		a.Logger.InfoContext(ctx, "retention set", "nightly_days", wanted.NightlyDays,
			"weekly_days", wanted.WeeklyDays, "monthly_days", wanted.MonthlyDays)
		return &retentionOutput{Body: retentionBody(wanted)}, nil
	})
}
