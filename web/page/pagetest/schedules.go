package pagetest

import (
	"time"

	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// schedulePages are the schedules of the site and of one file system, in all states.
func schedulePages(base string) []Page {
	of := func(p page.Schedules) page.Schedules {
		p.Frame = at(base, p.Frame)
		return p
	}
	one := func(p page.Schedule) page.Schedule {
		p.Frame = at(base, p.Frame)
		return p
	}
	empty := schedules()
	empty.Rows, empty.FileSystems, empty.Saved = nil, nil, ""
	return []Page{
		{"schedules", page.SchedulesPage(of(schedules()))},
		{"schedules-none", page.SchedulesPage(of(empty))},
		{"schedule", page.SchedulePage(one(schedule("weekly sun 22:00")))},
		{"schedule-new", page.SchedulePage(one(newSchedule()))},
		{"schedule-cron", page.SchedulePage(one(schedule("*/20 1-5 * * mon-fri")))},
		{"schedule-every", page.SchedulePage(one(schedule("every 6h")))},
		{"schedule-wrong", page.SchedulePage(one(wrongSchedule()))},
	}
}

// nights are due at 01:30 from tomorrow on.
func nights(n int) []time.Time {
	var all []time.Time
	for i := range n {
		all = append(all, time.Date(2026, 12, 1+i, 1, 30, 0, 0, zone()))
	}
	return all
}

func schedules() page.Schedules {
	f := bareFrame("Schedules")
	f.Section = component.Schedules
	p := page.Schedules{Frame: f, Saved: "scratch"}
	last := history()[len(history())-1].Scan
	skipped := usage.Scan{
		ID: 2610, State: usage.NotRun, Occurrence: time.Date(2026, 11, 30, 1, 30, 0, 0, zone()),
		Reason: "Scan 2609 was not over yet.",
	}
	running := runningScan(usage.Running).Of
	add := func(name, root string, s *usage.Schedule, row page.Scheduled) {
		row.FileSystem = usage.FileSystem{ID: int64(len(p.Rows) + 1), Name: name, Root: root}
		row.Schedule = s
		p.FileSystems = append(p.FileSystems, row.FileSystem)
		p.Rows = append(p.Rows, row)
	}
	add("fresh", "/fresh", nil, page.Scheduled{})
	add("home", "/gpfs/home", &usage.Schedule{Plan: "weekly sun 22:00", Zone: "Europe/Berlin", CatchUp: 48 * time.Hour},
		page.Scheduled{Newest: &last})
	add("hostile", usage.Escape("/data/<script>window.hit=1</script>\x1b[31m"),
		&usage.Schedule{Plan: hostileNames()[0], Zone: hostileNames()[1], Enabled: true},
		page.Scheduled{Problem: "plan \"" + hostileNames()[0] + "\": write \"nightly 01:30\"", Newest: &last})
	add("scratch", "/gpfs/scratch",
		&usage.Schedule{Plan: "nightly 01:30", Zone: "Europe/Berlin", Enabled: true, CatchUp: 12 * time.Hour},
		page.Scheduled{Upcoming: nights(5), Newest: &last})
	add("tape-cache.project-long-term-archive-of-the-institute", "/srv/tape/with/a/path/that/is/long",
		&usage.Schedule{Plan: "30 1,13 * * mon-fri", Zone: "America/Argentina/ComodRivadavia", Enabled: true},
		page.Scheduled{Upcoming: nights(5), Newest: &running, Skipped: &skipped})
	return p
}

func schedule(plan string) page.Schedule {
	f := bareFrame("Schedule")
	f.FileSystem, f.FileSystems = scratch(), []usage.FileSystem{*scratch()}
	f.Section, f.Path = component.Schedules, component.SchedulePath("scratch")
	p := page.Schedule{Frame: f, Exists: true, Upcoming: nights(5)}
	p.Form = page.ScheduleForm{
		At: "01:30", Day: "sun", Hours: "6", Cron: "30 1 * * *", Zone: "Europe/Berlin", CatchUp: "12", Enabled: true,
	}
	p.Form.SetPlan(plan)
	summer := time.FixedZone("CEST", 7200)
	p.Upcoming[3], p.Upcoming[4] = p.Upcoming[3].In(summer), p.Upcoming[4].In(summer)
	return p
}

func newSchedule() page.Schedule {
	p := schedule("nightly 01:30")
	p.Exists, p.Form.Enabled = false, false
	return p
}

func wrongSchedule() page.Schedule {
	p := schedule(hostileNames()[0])
	p.Form.Zone, p.Form.CatchUp = hostileNames()[1], "-1"
	p.Upcoming, p.Changed = nil, true
	p.Problems = page.ScheduleProblems{
		Plan: `plan "` + hostileNames()[0] +
			`": write "nightly 01:30", "weekly sun 01:30", "every 6h" or the five fields of cron`,
		Zone:    `time zone "` + hostileNames()[1] + `" is not known: use a name such as Europe/Berlin or UTC`,
		CatchUp: "Write a number of hours from 0 to 8760.",
	}
	return p
}
