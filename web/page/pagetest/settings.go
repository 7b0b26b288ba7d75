package pagetest

import (
	"time"

	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// settingsPages are the settings of the site and of one file system, in all states.
func settingsPages(base string) []Page {
	of := func(p page.Settings) page.Settings {
		p.Frame = at(base, p.Frame)
		return p
	}
	one := func(p page.FSSettings) page.FSSettings {
		p.Frame = at(base, p.Frame)
		return p
	}
	return []Page{
		{"settings", page.SettingsPage(of(settings()))},
		{"settings-none", page.SettingsPage(of(noSettings()))},
		{"settings-wrong", page.SettingsPage(of(wrongSettings()))},
		{"fs-settings", page.FSSettingsPage(one(fsSettings()))},
		{"fs-settings-added", page.FSSettingsPage(one(addedSettings()))},
		{"fs-settings-wrong", page.FSSettingsPage(one(wrongFSSettings()))},
	}
}

func settings() page.Settings {
	f := bareFrame("Settings")
	f.Section = component.Settings
	f.FileSystems = []usage.FileSystem{
		{ID: 2, Name: "home", Root: "/gpfs/home", Walkers: 8, OpsLimit: 2000}, *scratch(),
		{
			ID: 3, Name: "tape-cache.project-long-term-archive-of-the-institute", Root: "/srv/tape/with/a/path/that/is/long",
			Worker: "node7", OpsLimit: -1,
		},
	}
	return page.Settings{
		Frame: f, Schema: 3, Saved: "How long details are kept is saved.",
		Retention: page.NewRetentionForm(usage.Retention{NightlyDays: 60, WeeklyDays: 400}),
	}
}

func noSettings() page.Settings {
	p := settings()
	p.FileSystems, p.Saved, p.Retention, p.Schema, p.Anonymous = nil, "", nil, 0, true
	return p
}

func wrongSettings() page.Settings {
	p := settings()
	p.Saved = ""
	p.Add = page.AddForm{Name: hostileNames()[0], Root: hostileNames()[1]}
	p.AddProblems = map[string]string{
		usage.SettingName: `"` + hostileNames()[0] +
			`" is not a name for a file system: use a lower-case letter, then up to 62 of a-z 0-9 . _ -`,
		usage.SettingRoot: "The file system home watches it already.",
	}
	p.Retention.Weekly = "30"
	p.Retention.Problems = map[string]string{
		usage.SettingWeeklyDays: "details of nightly scans cannot be kept longer " +
			"than those of weekly ones (60 days and 30 days)",
	}
	return p
}

func fsSettings() page.FSSettings {
	fs := usage.NewFileSystem("scratch", "/gpfs/scratch")
	fs.ID, fs.Type, fs.Identity, fs.Created = 1, "gpfs", "gpfs:scratch", time.Date(2019, 10, 1, 9, 0, 0, 0, zone())
	fs.Worker, fs.Walkers, fs.OpsLimit, fs.MemoryLimit = "node7", 8, 20000, 2<<30
	fs.Filesets.Named = []usage.NamedFileset{
		{Path: "proj/nwp", Name: "weather"}, {Path: "teach/2026"}, {Path: "odd=dir", Name: "a=b/c"},
		{Path: `<img src=x onerror="window.hit=1">`},
	}
	f := bareFrame("Settings")
	f.FileSystem, f.FileSystems = &fs, []usage.FileSystem{fs}
	f.Section, f.Path = component.Settings, component.SettingsPath("scratch")
	return page.FSSettings{Frame: f, Form: page.NewFSForm(fs), Saved: true}
}

func addedSettings() page.FSSettings {
	p := fsSettings()
	fs := usage.NewFileSystem("scratch", "/gpfs/scratch")
	p.FileSystem, p.Form, p.Saved, p.Added = &fs, page.NewFSForm(fs), false, true
	return p
}

func wrongFSSettings() page.FSSettings {
	p := fsSettings()
	p.Saved = false
	p.Form.Worker, p.Form.Walkers, p.Form.SizeClasses = hostileNames()[0], "many", "1, 2"
	p.Problems = map[string]string{
		usage.SettingWorker: `"` + hostileNames()[0] +
			`" is not a name for a worker: use up to 40 of a-z 0-9, with single _ and - between them`,
		usage.SettingWalkers:     "Write a number, without a unit.",
		usage.SettingSizeClasses: "give 4 bounds, with commas between them",
	}
	p.RemoveProblem = "This is not its name, so nothing was removed."
	return p
}
