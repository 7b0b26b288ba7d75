package server

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"fstally/internal/schedule"
	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// maxCatchUp is the longest time, in hours, for which a missed scan is made up for.
const maxCatchUp = int(schedule.MaxCatchUp / time.Hour)

// schedule is the page of the schedule of a file system: as it is stored or, with
// parameters, as it would be.
func (s *site) schedule(r *http.Request) (answer, error) {
	model, stored, err := s.scheduleModel(r)
	if err != nil {
		return answer{}, err
	}
	if query := r.URL.Query(); query.Has("kind") {
		model.Form = scheduleForm(query)
		model.Changed = stored == nil || model.Form != s.formOf(stored)
	} else {
		model.Form = s.formOf(stored)
	}
	_, model.Problems, model.Upcoming = s.readSchedule(model.Form)
	return answer{content: page.SchedulePage(model)}, nil
}

// setSchedule stores a schedule and leads to the list of them. What is wrong with it is
// told in the form, which keeps what was typed.
func (s *site) setSchedule(r *http.Request) (answer, error) {
	model, _, err := s.scheduleModel(r)
	if err != nil {
		return answer{}, err
	}
	if err := r.ParseForm(); err != nil {
		return answer{}, badForm(err)
	}
	model.Form, model.Changed = scheduleForm(r.PostForm), true
	var set usage.Schedule
	set, model.Problems, model.Upcoming = s.readSchedule(model.Form)
	if model.Problems.Any() {
		return answer{content: page.SchedulePage(model), status: http.StatusUnprocessableEntity}, nil
	}
	fs := model.FileSystem
	set.FileSystemID = fs.ID
	if err := s.Scans.SetSchedule(r.Context(), set); err != nil {
		return answer{}, fmt.Errorf("set the schedule of %s: %w", fs.Name, err)
	}
	s.Logger.InfoContext(r.Context(), "schedule set", "filesystem", fs.Name, "filesystem_id", fs.ID,
		"plan", set.Plan, "zone", set.Zone, "enabled", set.Enabled)
	return answer{redirect: "/schedules?" + url.Values{"saved": {fs.Name}}.Encode()}, nil
}

// removeSchedule takes the schedule of a file system away and leads to the list of them.
func (s *site) removeSchedule(r *http.Request) (answer, error) {
	ctx := r.Context()
	f := s.frame(r, "")
	if err := s.fileSystem(ctx, &f, fsParam(r)); err != nil {
		return answer{}, err
	}
	err := s.Scans.RemoveSchedule(ctx, f.FileSystem.ID)
	if err != nil && !errors.Is(err, usage.ErrNotFound) { // it is not there any more
		return answer{}, fmt.Errorf("remove the schedule of %s: %w", f.FileSystem.Name, err)
	}
	s.Logger.InfoContext(ctx, "schedule removed", "filesystem", f.FileSystem.Name, "filesystem_id", f.FileSystem.ID)
	return answer{redirect: "/schedules"}, nil
}

// scheduleModel returns the page of the file system of an address, and its schedule, nil
// for none.
func (s *site) scheduleModel(r *http.Request) (model page.Schedule, stored *usage.Schedule, err error) {
	ctx := r.Context()
	model.Frame = s.frame(r, "Schedule")
	if err := s.fileSystem(ctx, &model.Frame, fsParam(r)); err != nil {
		return model, nil, err
	}
	model.Section, model.Path = component.Schedules, component.SchedulePath(model.FileSystem.Name)
	of, err := s.schedulesOf(ctx, Scope(ctx))
	if err != nil {
		return model, nil, err
	}
	if found, ok := of[model.FileSystem.ID]; ok {
		stored, model.Exists = &found, true
	}
	return model, stored, nil
}

// formOf fills the form with a stored schedule or, for nil, with a plan that suits most.
func (s *site) formOf(stored *usage.Schedule) page.ScheduleForm {
	form := page.ScheduleForm{
		Kind: page.KindNightly, At: "01:30", Day: "sun", Hours: "6", Cron: "30 1 * * *",
		Zone: s.zoneName(), CatchUp: "12", Enabled: true,
	}
	if stored != nil {
		form.SetPlan(escapeTyped(stored.Plan)) // another program may have set it
		form.Zone, form.Enabled = escapeTyped(stored.Zone), stored.Enabled
		form.CatchUp = strconv.FormatInt(int64(stored.CatchUp/time.Hour), 10)
	}
	return form
}

// zoneName is the site's zone, if it has a name that is the same on every host.
func (s *site) zoneName() string {
	if name := s.Location.String(); name != "" {
		if _, err := schedule.Zone(name); err == nil {
			return name
		}
	}
	return "UTC"
}

// scheduleForm reads the fields of the form, as they were typed.
func scheduleForm(values url.Values) page.ScheduleForm {
	get := func(name string) string { return typed(values, name) }
	return page.ScheduleForm{
		Kind: get("kind"), At: get("at"), Day: get("day"), Hours: get("hours"),
		Cron: get("cron"), Zone: get("zone"), CatchUp: get("catch_up"), Enabled: values.Has("enabled"),
	}
}

// readSchedule returns the schedule that a form says with its next occurrences, or what
// is wrong with it.
func (s *site) readSchedule(form page.ScheduleForm) (
	set usage.Schedule, problems page.ScheduleProblems, upcoming []time.Time,
) {
	plan, err := schedule.Parse(form.PlanOf())
	if err != nil {
		problems.Plan = escapeTyped(err.Error()) // some are of cron's parser, which quotes nothing
	}
	zone, err := schedule.Zone(form.Zone)
	if err != nil {
		problems.Zone = err.Error()
	}
	hours, err := strconv.Atoi(form.CatchUp)
	if err != nil || hours < 0 || hours > maxCatchUp {
		problems.CatchUp = fmt.Sprintf("Write a number of hours from 0 to %d.", maxCatchUp)
	}
	if problems.Plan == "" && problems.Zone == "" {
		upcoming = schedule.Schedule{Plan: plan, Zone: zone}.Upcoming(s.Clock(), occurrencesShown)
	}
	return usage.Schedule{
		Plan: plan.String(), Zone: form.Zone, Enabled: form.Enabled, CatchUp: time.Duration(hours) * time.Hour,
	}, problems, upcoming
}
