package page

import (
	"strconv"

	"fstally/internal/usage"
	"fstally/web/component"
)

// Settings is the view model of /settings: what is watched, how long details are kept,
// who is let in, and what runs here.
type Settings struct {
	component.Frame

	Add         AddForm
	AddProblems map[string]string // by the names of usage.Setting...

	Retention *RetentionForm // nil where it is not known
	Saved     string         // what was just done, in a sentence; "" for nothing
	Schema    int64          // version of the store's tables; 0 where it is not known
}

// AddForm is what a new file system needs, as it was typed.
type AddForm struct{ Name, Root string }

// RetentionForm is how long details are kept, as it was typed, in days.
type RetentionForm struct {
	Nightly, Weekly, Monthly string
	Problems                 map[string]string // by the names of usage.Setting...
}

// NewRetentionForm fills the form with what holds.
func NewRetentionForm(r usage.Retention) *RetentionForm {
	return &RetentionForm{
		Nightly: strconv.Itoa(r.NightlyDays), Weekly: strconv.Itoa(r.WeeklyDays), Monthly: strconv.Itoa(r.MonthlyDays),
	}
}

func (r *RetentionForm) fields() []component.Field {
	field := func(id, label, note string) component.Field {
		return component.Field{ID: id, Label: label, Note: note, Problem: r.Problems[id]}
	}
	return []component.Field{
		field(usage.SettingNightlyDays, "Every scan", "Days after the scan."),
		field(usage.SettingWeeklyDays, "One a week", "Of the first scan of each week, at least as long."),
		field(usage.SettingMonthlyDays, "One a month", "Of the first scan of each month, at least as long. 0 for ever."),
	}
}

func (r *RetentionForm) value(id string) string {
	switch id {
	case usage.SettingNightlyDays:
		return r.Nightly
	case usage.SettingWeeklyDays:
		return r.Weekly
	default:
		return r.Monthly
	}
}

func (p Settings) nameField() component.Field {
	return component.Field{
		ID: usage.SettingName, Label: "Name", Problem: p.AddProblems[usage.SettingName],
		Note: "How addresses and pages call it, such as scratch: a lower-case letter, then a-z 0-9 . _ -",
	}
}

func (p Settings) rootField() component.Field {
	return component.Field{
		ID: usage.SettingRoot, Label: "Directory", Problem: p.AddProblems[usage.SettingRoot],
		Note: "Its path on the host that scans it, such as /gpfs/scratch. It is looked at when it is scanned.",
	}
}

// of returns the address of the settings of a file system.
func (p Settings) of(fs usage.FileSystem) string { return p.URL(component.SettingsPath(fs.Name), nil) }

// scannedBy says who scans a file system.
func scannedBy(fs usage.FileSystem) string {
	if fs.Worker == "" {
		return "this server"
	}
	return "worker " + usage.Escape(fs.Worker)
}

// scanPace says how hard a scan may work on a file system.
func scanPace(fs usage.FileSystem) string {
	walkers := "walkers by its type"
	if fs.Walkers > 0 {
		walkers = component.Plural(int64(fs.Walkers), "walker", "walkers")
	}
	switch {
	case fs.OpsLimit > 0:
		return walkers + ", " + component.Count(int64(fs.OpsLimit)) + " operations per second"
	case fs.OpsLimit < 0:
		return walkers + ", no ceiling"
	default:
		return walkers + ", ceiling by its type"
	}
}

func (p Settings) about() []pair {
	rows := []pair{{Name: "Version", Value: p.Version}}
	if p.Version == "" {
		rows[0].Value = "not known"
	}
	if p.Schema > 0 {
		rows = append(rows, pair{Name: "Schema of the store", Value: strconv.FormatInt(p.Schema, 10)})
	}
	return append(rows, pair{Name: "Zone of the site", Value: p.Now.Format("MST, -07:00")})
}
