package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"fstally/internal/schedule"
	"fstally/internal/usage"
)

// occurrencesShown is how many of the next occurrences of a schedule are told.
const occurrencesShown = 5

type scheduleBody struct {
	FileSystem   string     `json:"filesystem" doc:"Name of the file system."`
	Plan         string     `json:"plan" doc:"Such as nightly 01:30, weekly sun 22:00, every 6h, or the five fields of cron."`
	Zone         string     `json:"zone" doc:"Name of the time zone that the plan is in, such as Europe/Berlin."`
	Enabled      bool       `json:"enabled" doc:"Whether scans are run by it."`
	CatchUpHours int        `json:"catch_up_hours" doc:"How old a missed occurrence may be to be run late; 0 for none."`
	NextRun      *time.Time `json:"next_run,omitempty" doc:"The occurrence that is waited for; absent where it is not enabled, or was set seconds ago."`
	// Not in UTC, as the rule is elsewhere: what they show is what the plan says.
	Upcoming []time.Time `json:"upcoming" nullable:"false" doc:"The next five occurrences, with the offset of the zone; empty where it is not enabled."`
}

func (a *api) newScheduleBody(name string, s usage.Schedule) scheduleBody {
	body := scheduleBody{
		FileSystem: name, Plan: s.Plan, Zone: s.Zone, Enabled: s.Enabled,
		CatchUpHours: int(s.CatchUp / time.Hour), Upcoming: []time.Time{},
	}
	// One that a newer program has set, and that this one cannot read, is shown without.
	if parsed, err := schedule.New(s); err == nil && s.Enabled {
		body.NextRun = timeOrNil(s.NextRun)
		body.Upcoming = parsed.Upcoming(a.Clock(), occurrencesShown)
	}
	return body
}

type schedulesBody struct {
	Items []scheduleBody `json:"items" nullable:"false" doc:"By the name of the file system; those without a schedule are not there."`
}

func (b schedulesBody) columns() []string {
	return []string{"filesystem", "plan", "zone", "enabled", "catch_up_hours", "next"}
}

func (b schedulesBody) rows() [][]cell {
	rows := make([][]cell, len(b.Items))
	for i, s := range b.Items {
		var next cell
		if len(s.Upcoming) > 0 {
			next = cell(s.Upcoming[0].Format(timeFormat))
		}
		rows[i] = []cell{text(s.FileSystem), text(s.Plan), text(s.Zone), number(s.Enabled), number(s.CatchUpHours), next}
	}
	return rows
}

type schedulesOutput struct{ Body schedulesBody }

type scheduleOutput struct{ Body scheduleBody }

type scheduleInput struct {
	FSParam
	Body struct {
		_    struct{} `json:"-" additionalProperties:"false"`
		Plan string   `json:"plan" maxLength:"200" doc:"nightly HH:MM, weekly DAY HH:MM with sun to sat, every Nh, or the five fields of cron." example:"nightly 01:30"`
		Zone string   `json:"zone" maxLength:"100" doc:"Name of the time zone that the plan is in." example:"Europe/Berlin"`
		// Pointers, as a default would else take the place of false and of 0.
		Enabled      *bool `json:"enabled,omitempty" default:"true" doc:"Whether scans are run by it."`
		CatchUpHours *int  `json:"catch_up_hours,omitempty" default:"12" minimum:"0" maximum:"8760" doc:"How old a missed occurrence may be to be run late; 0 for none."`
	}
}

type previewInput struct {
	Plan string `query:"plan" required:"true" doc:"A plan, as a schedule has one." example:"nightly 01:30"`
	Zone string `query:"zone" required:"true" doc:"Name of the time zone that the plan is in." example:"Europe/Berlin"`
	N    int    `query:"n" default:"5" minimum:"1" maximum:"100" doc:"Occurrences wanted."`
}

type previewBody struct {
	Plan     string      `json:"plan" doc:"The plan, as it would be kept."`
	Zone     string      `json:"zone" doc:"The time zone."`
	Upcoming []time.Time `json:"upcoming" nullable:"false" doc:"The next occurrences, with the offset of the zone."`
}

type previewOutput struct{ Body previewBody }

func (a *api) registerSchedules() {
	register(a, operation{
		id: "list-schedules", method: http.MethodGet, path: "/schedules", list: true,
		group: groupSchedules, summary: "All schedules, with their next occurrences",
		description: "Of the file systems that have one. Times of a plan that clocks pass over are due at the jump, " +
			"and those that clocks show twice are due once.",
		answer: "The schedules by the name of their file system.",
	}, a.listSchedules)
	register(a, operation{
		id: "preview-schedule", method: http.MethodGet, path: "/schedules/preview",
		group: groupSchedules, summary: "When a plan would be due",
		description: "Nothing is stored. A plan or a zone that cannot be is an error that says why.",
		answer:      "The next occurrences of the plan.",
	}, a.previewSchedule)
	register(a, operation{
		id: "schedule", method: http.MethodGet, path: "/filesystems/{fs}/schedule", errors: []int{http.StatusNotFound},
		group: groupSchedules, summary: "The schedule of a file system",
		description: "With its next occurrences.",
		answer:      "The schedule.",
	}, func(ctx context.Context, in *FSParam) (*scheduleOutput, error) {
		fs, err := a.fileSystem(ctx, in.FS)
		if err != nil {
			return nil, err
		}
		return a.scheduleOf(ctx, &fs)
	})
	register(a, operation{
		id: "set-schedule", method: http.MethodPut, path: "/filesystems/{fs}/schedule", body: true,
		errors: []int{http.StatusNotFound}, group: groupSchedules, summary: "Scan a file system by a schedule",
		description: "In the place of the schedule that it has. What the old one missed is not made up for.",
		answer:      "The schedule as it is now.",
	}, a.setSchedule)
	register(a, operation{
		id: "remove-schedule", method: http.MethodDelete, path: "/filesystems/{fs}/schedule", status: http.StatusNoContent,
		errors: []int{http.StatusNotFound}, group: groupSchedules, summary: "Take the schedule of a file system away",
		description: "A scan that is queued or runs already goes on.",
		answer:      "It has no schedule any more.",
	}, func(ctx context.Context, in *FSParam) (*struct{}, error) {
		fs, err := a.fileSystem(ctx, in.FS)
		if err != nil {
			return nil, err
		}
		err = a.Scans.RemoveSchedule(ctx, fs.ID)
		if errors.Is(err, usage.ErrNotFound) {
			return nil, noSchedule(fs.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("remove the schedule of %s: %w", fs.Name, err)
		}
		a.Logger.InfoContext(ctx, "schedule removed", "filesystem", fs.Name, "filesystem_id", fs.ID)
		return nil, nil //nolint:nilnil // an answer without a body
	})
}

func noSchedule(name string) error {
	return notFound("path.fs", name, fmt.Sprintf("%s has no schedule: set one with PUT.", name))
}

func (a *api) listSchedules(ctx context.Context, _ *FormatParam) (*schedulesOutput, error) {
	systems, err := a.Reader.FileSystems(ctx, a.Scope(ctx))
	if err != nil {
		return nil, fmt.Errorf("list file systems: %w", err)
	}
	schedules, err := a.Reader.Schedules(ctx, a.Scope(ctx))
	if err != nil {
		return nil, err
	}
	of := make(map[int64]usage.Schedule, len(schedules))
	for _, s := range schedules {
		of[s.FileSystemID] = s
	}
	out := &schedulesOutput{Body: schedulesBody{Items: []scheduleBody{}}}
	for _, fs := range systems {
		if s, ok := of[fs.ID]; ok {
			out.Body.Items = append(out.Body.Items, a.newScheduleBody(fs.Name, s))
		}
	}
	return out, nil
}

func (a *api) previewSchedule(_ context.Context, in *previewInput) (*previewOutput, error) {
	parsed, err := readSchedule("query.", in.Plan, in.Zone)
	if err != nil {
		return nil, err
	}
	return &previewOutput{Body: previewBody{
		Plan: parsed.Plan.String(), Zone: in.Zone, Upcoming: parsed.Upcoming(a.Clock(), in.N),
	}}, nil
}

// readSchedule reads a plan and a zone; where names the place of those parameters.
func readSchedule(where, plan, zone string) (schedule.Schedule, error) {
	parsed, err := schedule.Parse(plan)
	if err != nil {
		return schedule.Schedule{}, invalid(where+"plan", plan, err)
	}
	location, err := schedule.Zone(zone)
	if err != nil {
		return schedule.Schedule{}, invalid(where+"zone", zone, err)
	}
	return schedule.Schedule{Plan: parsed, Zone: location}, nil
}

// scheduleOf answers with the stored schedule of a file system.
func (a *api) scheduleOf(ctx context.Context, fs *usage.FileSystem) (*scheduleOutput, error) {
	found, err := a.Reader.Schedules(ctx, usage.OnlyFileSystems(fs.ID))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, noSchedule(fs.Name)
	}
	return &scheduleOutput{Body: a.newScheduleBody(fs.Name, found[0])}, nil
}

func (a *api) setSchedule(ctx context.Context, in *scheduleInput) (*scheduleOutput, error) {
	fs, err := a.fileSystem(ctx, in.FS)
	if err != nil {
		return nil, err
	}
	parsed, err := readSchedule("body.", in.Body.Plan, in.Body.Zone)
	if err != nil {
		return nil, err
	}
	err = a.Scans.SetSchedule(ctx, usage.Schedule{
		FileSystemID: fs.ID, Plan: parsed.Plan.String(), Zone: in.Body.Zone,
		Enabled: *in.Body.Enabled, CatchUp: time.Duration(*in.Body.CatchUpHours) * time.Hour,
	})
	if err != nil {
		return nil, fmt.Errorf("schedule %s: %w", fs.Name, err)
	}
	a.Logger.InfoContext(ctx, "schedule set", "filesystem", fs.Name, "filesystem_id", fs.ID,
		"plan", parsed.Plan.String(), "zone", in.Body.Zone, "enabled", *in.Body.Enabled)
	return a.scheduleOf(ctx, &fs)
}
