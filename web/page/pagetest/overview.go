package pagetest

import (
	"time"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/page"
)

// overviewPages are the page of the morning, in good times and bad.
func overviewPages(base string) []Page {
	of := func(systems ...page.System) page.Overview {
		f := at(base, bareFrame("Overview"))
		f.By = usage.Allocated
		return page.Overview{Frame: f, Systems: systems}
	}
	return []Page{
		{"overview", page.OverviewPage(of(
			calmSystem(), troubledSystem(), fullSystem(), staleSystem(), waitingSystem(), scanningSystem(), lateSystem(),
			stalledSystem(),
		))},
		{"overview-one", page.OverviewPage(of(youngSystem()))},
		{"overview-hostile", page.OverviewPage(of(hostileSystem()))},
	}
}

// calmSystem is scratch with nothing wrong.
func calmSystem() page.System {
	points := history()
	points = points[len(points)-120:]
	current := points[len(points)-1].Scan
	for i := 60; i < 75; i++ { // nights without a scan
		points = append(points[:60], points[61:]...)
	}
	users := users()
	last := len(points) - 1
	s := page.System{
		FileSystem: *scratch(), Current: &current, Newest: &current, Points: points,
		Earlier: [3]*usage.Point{&points[last-1], &points[last-7], &points[last-30]},
		Grower: &page.Grower{
			Row: usage.Row{ID: users[3].id, Key: users[3].key, Name: users[3].name}, Since: points[last-7].Scan,
			Change: report.Change{
				By: usage.Allocated, From: usage.Measures{Allocated: tib(220)}, To: usage.Measures{Allocated: tib(231)},
			},
			Among: 100,
		},
	}
	s.Schedule = &usage.Schedule{Plan: "nightly 01:30", Zone: "Europe/Berlin", Enabled: true}
	s.Next = time.Date(2026, 12, 1, 1, 30, 0, 0, zone())
	s.Expected = s.Next
	trend := report.NewTrend(report.UsedSamples(points))
	s.Forecast = report.NewForecast(trend, current.Started, current.Capacity.Used(), current.Capacity.Size)
	return s
}

// lateSystem should have been scanned by now, and its last night was skipped.
func lateSystem() page.System {
	s := renamed(calmSystem(), 7, "late", "/late")
	current := *s.Current
	current.Started, current.Finished = current.Started.AddDate(0, 0, -1), current.Finished.AddDate(0, 0, -1)
	s.Current, s.Newest, s.Expected = &current, &current, current.Started.AddDate(0, 0, 1)
	s.Skipped = &usage.Scan{
		ID: 2611, State: usage.NotRun, Occurrence: s.Expected, Reason: "fstally was not running when this scan was due.",
	}
	return s
}

// stalledSystem has a scan that gets no answer.
func stalledSystem() page.System {
	s := renamed(calmSystem(), 8, "mute", "/mute")
	running := stalledScan().Of
	s.Newest = &running
	s.Schedule.Enabled, s.Next = false, time.Time{}
	return s
}

func renamed(s page.System, id int64, name, root string) page.System {
	s.FileSystem.ID, s.FileSystem.Name, s.FileSystem.Root = id, name, root
	return s
}

func troubledSystem() page.System {
	s := renamed(calmSystem(), 2, "home", "/gpfs/home")
	failed := *s.Current
	failed.State, failed.Verdict, failed.Reason = usage.Failed, "", "the root /gpfs/home did not answer within 30 seconds"
	current := *s.Current
	current.Verdict, current.Reason = usage.Partial, "14 entries could not be read"
	s.Newest, s.Current = &failed, &current
	return s
}

func fullSystem() page.System {
	s := renamed(calmSystem(), 3, "proj", "/gpfs/proj")
	current := *s.Current
	current.Capacity.Size = tib(current.Capacity.Used().Float64() / (1 << 40) * 1.04)
	current.Capacity.Free = tib(current.Capacity.Size.Float64() / (1 << 40) * 0.038)
	current.Capacity.InodesFree = current.Capacity.InodesTotal / 20
	s.Current, s.Newest = &current, &current
	s.Forecast.Outlook, s.Forecast.At = report.FullAt, now().AddDate(0, 0, 12)
	return s
}

func staleSystem() page.System {
	s := renamed(calmSystem(), 4, "tape-cache.project-long-term-archive-of-the-institute",
		"/srv/tape/cache/with/a/path/that/is/long/enough/to/be/cut")
	current := *s.Current
	current.Started = current.Started.AddDate(0, 0, -12)
	current.Capacity = usage.Capacity{}
	suspect := current
	suspect.Verdict, suspect.Reason = usage.Suspect, "96.2% of the entries of the scan before are gone"
	s.Current, s.Newest, s.Grower = &current, &suspect, nil
	s.Forecast = report.Forecast{Outlook: report.NoLimit}
	return s
}

func waitingSystem() page.System {
	return page.System{FileSystem: usage.FileSystem{ID: 5, Name: "fresh", Root: "/fresh", Demo: true}}
}

func scanningSystem() page.System {
	running := runningScan(usage.Running).Of
	return page.System{FileSystem: usage.FileSystem{ID: 6, Name: "new", Root: "/new"}, Newest: &running}
}

// youngSystem was scanned once.
func youngSystem() page.System {
	scan := smallScan()
	return page.System{
		FileSystem: usage.FileSystem{ID: 1, Name: "share", Root: "/usr/share"},
		Current:    &scan, Newest: &scan, Points: []usage.Point{{Scan: scan, Total: scan.Totals}},
	}
}

func hostileSystem() page.System {
	s := calmSystem()
	s.FileSystem.Root = usage.Escape("/data/<script>window.hit=1</script>\xff\x1b[31m")
	s.Grower.Row.Name = hostileNames()[1]
	current := *s.Current
	current.Verdict, current.Reason, current.Started = usage.Partial, hostileNames()[0], current.Started.Add(-48*time.Hour)
	s.Current, s.Newest = &current, &current
	return s
}
