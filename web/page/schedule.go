package page

import (
	_ "embed"
	"slices"
	"strings"
	"time"

	"fstally/web/component"
)

// Schedule is the view model of /fs/{fs}/schedule: a form for the schedule of a file
// system, with what it would mean.
type Schedule struct {
	component.Frame // FileSystem is set

	Form     ScheduleForm
	Exists   bool // the file system has a schedule, which can be removed
	Problems ScheduleProblems
	// Upcoming are the next occurrences of what the form says, in its zone; none where
	// it cannot be.
	Upcoming []time.Time
	Changed  bool // the form is not what is stored: it is a preview, or was refused
}

// ScheduleForm holds the fields of the form as they were typed. Their names are those
// of Values.
type ScheduleForm struct {
	Kind    string // nightly, weekly, every or cron
	At      string // 01:30; of nightly and weekly
	Day     string // mon to sun; of weekly
	Hours   string // of every
	Cron    string // of cron
	Zone    string
	CatchUp string // hours
	Enabled bool
}

// The kinds of a ScheduleForm.
const (
	KindNightly = "nightly"
	KindWeekly  = "weekly"
	KindEvery   = "every"
	KindCron    = "cron"
)

// ScheduleProblems say what is wrong with fields; "" where nothing is.
type ScheduleProblems struct{ Plan, Zone, CatchUp string }

// Any reports that something is wrong.
func (p ScheduleProblems) Any() bool { return p != ScheduleProblems{} }

// kind is a way to say when.
type kind struct{ value, words string }

func kinds() []kind {
	return []kind{
		{KindNightly, "every night"}, {KindWeekly, "every week"}, {KindEvery, "every few hours"}, {KindCron, "by cron"},
	}
}

// PlanOf returns the plan that the form says, as package schedule reads it.
func (f ScheduleForm) PlanOf() string {
	switch f.Kind {
	case KindWeekly:
		return "weekly " + f.Day + " " + f.At
	case KindEvery:
		return "every " + f.Hours + "h"
	case KindCron:
		return f.Cron
	default:
		return "nightly " + f.At
	}
}

// SetPlan fills the fields with what a plan says.
func (f *ScheduleForm) SetPlan(plan string) {
	fields := strings.Fields(plan)
	switch {
	case len(fields) == 2 && fields[0] == KindNightly:
		f.Kind, f.At = KindNightly, clock(fields[1])
	case len(fields) == 3 && fields[0] == KindWeekly:
		f.Kind, f.Day, f.At = KindWeekly, fields[1], clock(fields[2])
	case len(fields) == 2 && fields[0] == KindEvery:
		f.Kind, f.Hours = KindEvery, strings.TrimSuffix(fields[1], "h")
	default:
		f.Kind, f.Cron = KindCron, plan
	}
}

// clock writes a time as a field for times takes it: with two digits for the hour.
func clock(at string) string {
	if len(at) == len("1:30") {
		return "0" + at
	}
	return at
}

// url is where the form is sent to.
func (p Schedule) url() string { return p.URL(component.SchedulePath(p.FileSystem.Name), nil) }

func (p Schedule) removeURL() string {
	return p.URL(component.SchedulePath(p.FileSystem.Name)+"/remove", nil)
}

//go:embed zones.txt
var zoneNames string

// zones are names of time zones to choose from; every other one of the IANA database
// can be typed.
func zones() []string { return strings.Fields(zoneNames) }

// words say what the form means.
func (p Schedule) words() string { return PlanWords(p.Form.PlanOf()) }

func (p Schedule) previewSub() string {
	if p.Changed {
		return "of what the form says, which is not saved yet"
	}
	if !p.Exists {
		return "of what the form says; there is no schedule yet"
	}
	return "of the schedule as it is"
}

// previewProblem says why no times are shown.
func (p Schedule) previewProblem() string {
	switch {
	case p.Problems.Plan != "":
		return p.Problems.Plan
	case p.Problems.Zone != "":
		return p.Problems.Zone
	default:
		return "This plan is never due."
	}
}

// planProblem is what is wrong with the plan, if it is a plan of that kind.
func (p Schedule) planProblem(kinds ...string) string {
	if slices.Contains(kinds, p.Form.Kind) {
		return p.Problems.Plan
	}
	return ""
}

func (p Schedule) dayField() component.Field { return component.Field{ID: "day", Label: "On"} }

func (p Schedule) atField() component.Field {
	return component.Field{
		ID: "at", Label: "At", Problem: p.planProblem(KindNightly, KindWeekly),
		Note: "If the clocks skip this time, it is due when they do; if they show it twice, the first time counts.",
	}
}

func (p Schedule) hoursField() component.Field {
	return component.Field{
		ID: "hours", Label: "Every", Problem: p.planProblem(KindEvery),
		Note: "Hours, counted without a break: clocks do not matter.",
	}
}

func (p Schedule) cronField() component.Field {
	return component.Field{
		ID: "cron", Label: "Cron", Problem: p.planProblem(KindCron),
		Note: "Minute, hour, date, month and day of the week, as in crontab(5): 30 1 * * 1-5",
	}
}

func (p Schedule) zoneField() component.Field {
	return component.Field{
		ID: "zone", Label: "Time zone", Problem: p.Problems.Zone, Note: "A name such as Europe/Berlin, or UTC.",
	}
}

func (p Schedule) catchUpField() component.Field {
	return component.Field{
		ID: "catch_up", Label: "Catch up", Problem: p.Problems.CatchUp,
		Note: "A scan that was missed, because fstally was not running, is run late if it is not older. 0 for never.",
	}
}
