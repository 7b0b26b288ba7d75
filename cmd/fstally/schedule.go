package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"fstally/internal/schedule"
	"fstally/internal/usage"
)

type scheduleCmd struct {
	List    scheduleListCmd    `cmd:"" help:"List the schedules with their next occurrences."`
	Show    scheduleShowCmd    `cmd:"" help:"Show the schedule of a file system."`
	Set     scheduleSetCmd     `cmd:"" help:"Scan a file system by a schedule, in the place of the one that it has."`
	Enable  scheduleEnableCmd  `cmd:"" help:"Let a schedule run scans again."`
	Disable scheduleDisableCmd `cmd:"" help:"Keep a schedule, but run no scans by it."`
	Remove  scheduleRemoveCmd  `cmd:"" help:"Take the schedule of a file system away."`
}

// occurrencesShown is how many of the next occurrences are told.
const occurrencesShown = 5

// defaultCatchUp is how old a missed occurrence may be, unless told otherwise: that of
// the night is run until noon.
const defaultCatchUp = 12 * time.Hour

type scheduleListCmd struct{}

// Run lists the schedules.
func (scheduleListCmd) Run(ctx context.Context, a *app) error {
	return a.use(ctx, func(d *database) error {
		list, err := d.FileSystems(ctx, usage.Everything())
		if err != nil {
			return err
		}
		schedules, err := d.schedules(ctx)
		if err != nil {
			return err
		}
		if len(schedules) == 0 {
			_, err := fmt.Fprintln(a.stdout, `No schedule yet. Set one with: fstally schedule set FS "nightly 01:30"`)
			return err
		}
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "NAME\tPLAN\tZONE\tSTATE\tCATCH-UP\tNEXT")
		for _, fs := range list {
			if s, ok := schedules[fs.ID]; ok {
				printSchedule(w, fs.Name, s)
			}
		}
		return w.Flush()
	})
}

type scheduleShowCmd struct {
	FS string `arg:"" name:"fs" help:"Name or number of the file system."`
}

// Run shows a schedule.
func (c scheduleShowCmd) Run(ctx context.Context, a *app) error {
	return a.use(ctx, func(d *database) error {
		fs, s, err := d.scheduleOf(ctx, c.FS)
		if err != nil {
			return err
		}
		return a.showSchedule(&fs, s)
	})
}

type scheduleSetCmd struct {
	FS   string   `arg:"" name:"fs" help:"Name or number of the file system."`
	Plan []string `arg:"" help:"\"nightly HH:MM\", \"weekly DAY HH:MM\" with sun to sat, \"every Nh\", or the five fields of cron in quotes."`

	Zone     string         `placeholder:"ZONE" help:"Time zone that the plan is in, such as Europe/Berlin. Default: that of the schedule it has, else the site's."`
	CatchUp  *time.Duration `placeholder:"TIME" help:"How old a missed scan may be to be run late, in whole hours; 0 for none. Default: that of the schedule it has, else 12h."`
	Disabled bool           `help:"Keep it, but run no scans by it."`
}

// Run sets a schedule.
func (c scheduleSetCmd) Run(ctx context.Context, a *app) error {
	plan, err := schedule.Parse(strings.Join(c.Plan, " "))
	if err != nil {
		return usageError{err}
	}
	if c.CatchUp != nil && (*c.CatchUp < 0 || *c.CatchUp > schedule.MaxCatchUp || *c.CatchUp%time.Hour != 0) {
		return usageError{fmt.Errorf("--catch-up %s: give whole hours, such as 12h, at most %dh",
			*c.CatchUp, schedule.MaxCatchUp/time.Hour)}
	}
	if c.Zone != "" {
		if _, err := schedule.Zone(c.Zone); err != nil {
			return usageError{err}
		}
	}
	return a.use(ctx, func(d *database) error {
		fs, s, err := d.scheduleOf(ctx, c.FS)
		if _, none := errors.AsType[*noScheduleError](err); none {
			s.CatchUp = defaultCatchUp
		} else if err != nil {
			return err
		}
		if s.Zone = cmp.Or(c.Zone, s.Zone); s.Zone == "" {
			if s.Zone, err = a.zoneName(); err != nil {
				return err
			}
		}
		if c.CatchUp != nil {
			s.CatchUp = *c.CatchUp
		}
		s.FileSystemID, s.Plan, s.Enabled = fs.ID, plan.String(), !c.Disabled
		return a.setSchedule(ctx, d, &fs, s)
	})
}

type scheduleEnableCmd struct {
	FS string `arg:"" name:"fs" help:"Name or number of the file system."`
}

// Run enables a schedule.
func (c scheduleEnableCmd) Run(ctx context.Context, a *app) error {
	return a.enableSchedule(ctx, c.FS, true)
}

type scheduleDisableCmd struct {
	FS string `arg:"" name:"fs" help:"Name or number of the file system."`
}

// Run disables a schedule.
func (c scheduleDisableCmd) Run(ctx context.Context, a *app) error {
	return a.enableSchedule(ctx, c.FS, false)
}

type scheduleRemoveCmd struct {
	FS string `arg:"" name:"fs" help:"Name or number of the file system."`
}

// Run removes a schedule.
func (c scheduleRemoveCmd) Run(ctx context.Context, a *app) error {
	return a.use(ctx, func(d *database) error {
		fs, _, err := d.scheduleOf(ctx, c.FS)
		if err != nil {
			return err
		}
		if err := d.RemoveSchedule(ctx, fs.ID); err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.stdout, "%s is no longer scanned by a schedule.\n", fs.Name)
		return err
	})
}

func (a *app) enableSchedule(ctx context.Context, name string, enabled bool) error {
	return a.use(ctx, func(d *database) error {
		fs, s, err := d.scheduleOf(ctx, name)
		if err != nil {
			return err
		}
		s.Enabled = enabled
		return a.setSchedule(ctx, d, &fs, s)
	})
}

// setSchedule stores a schedule and shows what comes of it.
func (a *app) setSchedule(ctx context.Context, d *database, fs *usage.FileSystem, s usage.Schedule) error {
	if err := d.SetSchedule(ctx, s); err != nil {
		return err
	}
	return a.showSchedule(fs, s)
}

func (a *app) showSchedule(fs *usage.FileSystem, s usage.Schedule) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "NAME\tPLAN\tZONE\tSTATE\tCATCH-UP\tNEXT")
	printSchedule(w, fs.Name, s)
	return w.Flush()
}

// printSchedule prints a row of a table, and one more for each occurrence but the first.
func printSchedule(w io.Writer, name string, s usage.Schedule) {
	state, catchUp := "enabled", "none"
	if !s.Enabled {
		state = "disabled"
	}
	if s.CatchUp > 0 {
		catchUp = fmt.Sprintf("%d h", s.CatchUp/time.Hour)
	}
	next := upcoming(s)
	_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n",
		name, usage.Escape(s.Plan), usage.Escape(s.Zone), state, catchUp, next[0])
	for _, line := range next[1:] {
		_, _ = fmt.Fprintf(w, "\t\t\t\t\t%s\n", line)
	}
}

// upcoming shows the next occurrences in the zone of the schedule, or why there are
// none: at least one line.
func upcoming(s usage.Schedule) []string {
	if !s.Enabled {
		return []string{"none"}
	}
	parsed, err := schedule.New(s)
	if err != nil {
		return []string{err.Error()}
	}
	var lines []string
	for _, t := range parsed.Upcoming(time.Now(), occurrencesShown) {
		lines = append(lines, t.Format("Mon 2006-01-02 15:04 MST"))
	}
	return lines
}

// describeSchedule is a schedule in a few words; the zero one is none.
func describeSchedule(s usage.Schedule) string {
	switch {
	case s.Plan == "":
		return "none"
	case !s.Enabled:
		return fmt.Sprintf("%s in %s, disabled", usage.Escape(s.Plan), usage.Escape(s.Zone))
	default:
		return fmt.Sprintf("%s in %s", usage.Escape(s.Plan), usage.Escape(s.Zone))
	}
}

// nextScan shows the next occurrence in the site's zone, "" for none.
func nextScan(s usage.Schedule, a *app) string {
	if !s.Enabled {
		return ""
	}
	parsed, err := schedule.New(s)
	if err != nil {
		return err.Error()
	}
	for _, t := range parsed.Upcoming(time.Now(), 1) {
		return a.clock(t)
	}
	return ""
}

// schedules returns the schedules by file system.
func (d *database) schedules(ctx context.Context) (map[int64]usage.Schedule, error) {
	list, err := d.Schedules(ctx, usage.Everything())
	if err != nil {
		return nil, err
	}
	of := make(map[int64]usage.Schedule, len(list))
	for _, s := range list {
		of[s.FileSystemID] = s
	}
	return of, nil
}

// noScheduleError is a usage.ErrNotFound that says what to do.
type noScheduleError struct{ fs string }

func (e *noScheduleError) Error() string {
	return fmt.Sprintf(`%s has no schedule: set one with 'fstally schedule set %s "nightly 01:30"'`, e.fs, e.fs)
}

// Unwrap returns usage.ErrNotFound.
func (e *noScheduleError) Unwrap() error { return usage.ErrNotFound }

// scheduleOf returns a file system and its schedule; a noScheduleError, beside the
// file system, where it has none.
func (d *database) scheduleOf(ctx context.Context, name string) (usage.FileSystem, usage.Schedule, error) {
	fs, err := d.FileSystem(ctx, usage.Everything(), name)
	if err != nil {
		return fs, usage.Schedule{}, noFileSystem(name, err)
	}
	found, err := d.Schedules(ctx, usage.OnlyFileSystems(fs.ID))
	if err != nil {
		return fs, usage.Schedule{}, err
	}
	if len(found) == 0 {
		return fs, usage.Schedule{}, &noScheduleError{fs.Name}
	}
	return fs, found[0], nil
}
