package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"fstally/internal/postgres"
	"fstally/internal/usage"
)

type fsCmd struct {
	Add    fsAddCmd    `cmd:"" help:"Register a directory tree under a name."`
	List   fsListCmd   `cmd:"" help:"List the file systems and their latest scans."`
	Show   fsShowCmd   `cmd:"" help:"Show the settings, the schedule and the latest scans of a file system."`
	Set    fsSetCmd    `cmd:"" help:"Change how a file system is scanned and divided."`
	Scan   fsScanCmd   `cmd:"" help:"Queue a scan now, for fstally serve or the worker of the file system to run."`
	Cancel fsCancelCmd `cmd:"" help:"Stop the scan that is queued or runs, wherever that is."`
	Accept fsAcceptCmd `cmd:"" help:"Believe a suspect scan after a look: its numbers then count and are shown."`
	Reject fsRejectCmd `cmd:"" help:"Do not believe a suspect scan, nor one that finds the same."`
	Rename fsRenameCmd `cmd:"" help:"Give a file system another name. Its history stays; addresses with the old name end."`
	Remove fsRemoveCmd `cmd:"" help:"Remove a file system with its whole history. The files themselves are not touched."`
}

type fsAddCmd struct {
	Name string `arg:"" help:"Lower-case letter, then a-z 0-9 . _ -"`
	Path string `arg:"" help:"Directory to watch."`
	settings
}

// Run registers a file system.
func (c fsAddCmd) Run(ctx context.Context, a *app) error {
	if err := usage.ValidateName(c.Name); err != nil {
		return usageError{err}
	}
	root, err := a.inspect(ctx, c.Path)
	if err != nil {
		return err
	}
	fs, err := c.newFileSystem(c.Name, root)
	if err != nil {
		return err
	}
	return a.use(ctx, func(d *database) error {
		if fs, err = d.AddFileSystem(ctx, fs); err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.stdout, "File system %s watches %s. Scan it with: fstally scan %s\n",
			fs.Name, usage.Escape(fs.Root), usage.Escape(fs.Root))
		return err
	})
}

type fsListCmd struct{}

// Run lists the file systems.
func (fsListCmd) Run(ctx context.Context, a *app) error {
	return a.use(ctx, func(d *database) error {
		list, err := d.FileSystems(ctx, usage.Everything())
		if err != nil {
			return err
		}
		if len(list) == 0 {
			_, err := fmt.Fprintln(a.stdout, "No file system yet. Add one with: fstally fs add NAME PATH")
			return err
		}
		schedules, err := d.schedules(ctx)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "ID\tNAME\tROOT\tLATEST SCAN\tFILES\tALLOCATED\tNEWEST SCAN\tNEXT SCAN")
		for _, fs := range list {
			latest, files, allocated := "none yet", "", ""
			if fs.CurrentScanID != 0 {
				scan, err := d.Scan(ctx, usage.Everything(), fs.CurrentScanID)
				if err != nil {
					return err
				}
				latest = scan.Started.In(a.location).Format("2006-01-02 15:04") + " " + string(scan.Verdict)
				files, allocated = usage.Files.Format(scan.Totals), usage.Allocated.Format(scan.Totals)
			}
			newest, err := d.Scans(ctx, usage.Everything(), fs.ID, 1, 0)
			if err != nil {
				return err
			}
			state := ""
			if len(newest) > 0 {
				state = describeState(&newest[0])
			}
			_, _ = fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
				fs.ID, fs.Name, usage.Escape(fs.Root), latest, files, allocated, state, nextScan(schedules[fs.ID], a))
		}
		return w.Flush()
	})
}

// describeState is the state of a scan with its verdict and what was said about it.
func describeState(s *usage.Scan) string {
	words := []string{string(s.State), string(s.Verdict)}
	if s.Rejected {
		words = append(words, "(rejected)")
	}
	if s.State == usage.Running && s.Progress.Stalled {
		words = append(words, "(stalled)")
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

type fsShowCmd struct {
	FS string `arg:"" name:"fs" help:"Name or number of the file system."`
}

// scansShown is how many scans 'fs show' lists.
const scansShown = 10

// Run shows a file system.
func (c fsShowCmd) Run(ctx context.Context, a *app) error {
	return a.use(ctx, func(d *database) error {
		fs, err := d.FileSystem(ctx, usage.Everything(), c.FS)
		if err != nil {
			return noFileSystem(c.FS, err)
		}
		scans, err := d.Scans(ctx, usage.Everything(), fs.ID, scansShown, 0)
		if err != nil {
			return err
		}
		schedules, err := d.schedules(ctx)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		for _, row := range [][2]string{
			{"id", strconv.FormatInt(fs.ID, 10)},
			{"name", fs.Name},
			{"root", usage.Escape(fs.Root)},
			{"type", orUnknown(fs.Type)},
			{"identity", orUnknown(usage.Escape(fs.Identity))},
			{"size classes", fmt.Sprint(fs.SizeClasses)},
			{"filesets", describeFilesets(fs.Filesets)},
			{"walkers", orByType(fs.Walkers)},
			{"operations per second", orByType(fs.OpsLimit)},
			{"given up after", describeStall(fs.StallAfter)},
			{"nice", strconv.Itoa(fs.Nice)},
			{"idle I/O", yesOrNo(fs.IdleIO)},
			{"memory limit", describeMemory(fs.MemoryLimit)},
			{"scanned by", scannedBy(&fs)},
			{"schedule", describeSchedule(schedules[fs.ID])},
			{"next scan", nextScan(schedules[fs.ID], a)},
		} {
			_, _ = fmt.Fprintf(w, "%s\t%s\n", row[0], row[1])
		}
		_, _ = fmt.Fprintln(w, "\nSCAN\tDUE\tSTARTED\tATTEMPT\tSTATE\tDURATION\tENTRIES\tERRORS\tREASON")
		for i := range scans {
			s := &scans[i]
			took := ""
			if !s.Started.IsZero() && !s.Finished.IsZero() {
				took = usage.FormatDuration(s.Duration(s.Finished))
			}
			_, _ = fmt.Fprintf(w, "%d\t%s\t%s\t%d\t%s\t%s\t%d\t%d\t%s\n",
				s.ID, a.clock(s.Occurrence), a.clock(s.Started), s.Attempt, describeState(s), took,
				s.Counters.Entries, s.Counters.Errors, usage.Escape(s.Reason))
		}
		return w.Flush()
	})
}

// clock shows a time in the site's zone, nothing for one that is not known.
func (a *app) clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(a.location).Format("2006-01-02 15:04 MST")
}

func describeStall(after time.Duration) string {
	if after == 0 {
		return "never"
	}
	return fmt.Sprintf("%d minutes without an answer", after/time.Minute)
}

func describeMemory(limit int64) string {
	if limit == 0 {
		return "none"
	}
	return usage.FormatBytes(usage.ByteCount(limit))
}

// scannedBy names what runs the scans of a file system.
func scannedBy(fs *usage.FileSystem) string {
	if fs.Worker == "" {
		return "fstally serve"
	}
	return "fstally worker " + fs.Worker
}

func yesOrNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// orByType shows a setting of walkers or of the ceiling.
func orByType(n int) string {
	switch {
	case n == 0:
		return "by file-system type"
	case n < 0:
		return "no limit"
	default:
		return strconv.Itoa(n)
	}
}

func describeFilesets(r usage.FilesetRules) string {
	var parts []string
	if r.Depth > 0 {
		parts = append(parts, fmt.Sprintf("each directory %d below the root", r.Depth))
	}
	for _, f := range r.Named {
		parts = append(parts, usage.Escape(f.Name)+"="+usage.Escape(f.Path))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

type fsRenameCmd struct {
	FS   string `arg:"" name:"fs" help:"Name or number of the file system."`
	Name string `arg:"" help:"New name."`
}

// Run renames a file system.
func (c fsRenameCmd) Run(ctx context.Context, a *app) error {
	if err := usage.ValidateName(c.Name); err != nil {
		return usageError{err}
	}
	return a.use(ctx, func(d *database) error {
		fs, err := d.FileSystem(ctx, usage.Everything(), c.FS)
		if err != nil {
			return noFileSystem(c.FS, err)
		}
		fs.Name = c.Name
		return d.UpdateFileSystem(ctx, fs)
	})
}

type fsRemoveCmd struct {
	FS  string `arg:"" name:"fs" help:"Name or number of the file system."`
	Yes bool   `help:"Remove its history, which cannot be brought back."`
}

// Run removes a file system.
func (c fsRemoveCmd) Run(ctx context.Context, a *app) error {
	return a.use(ctx, func(d *database) error {
		fs, err := d.FileSystem(ctx, usage.Everything(), c.FS)
		if err != nil {
			return noFileSystem(c.FS, err)
		}
		if !c.Yes {
			return usageError{fmt.Errorf("this removes the whole history of %s (%s): add --yes if you mean it",
				fs.Name, usage.Escape(fs.Root))}
		}
		return d.RemoveFileSystem(ctx, fs.ID)
	})
}

// noFileSystem adds which was looked for, and where to look.
func noFileSystem(name string, err error) error {
	if errors.Is(err, usage.ErrNotFound) {
		return fmt.Errorf("there is no file system %q: see 'fstally fs list' (%w)", name, usage.ErrNotFound)
	}
	return err
}

// register returns the file system that watches root. Where there is none it is
// made, under name or under one made from the path; where there is one, its
// settings are changed by the flags that are given.
func (a *app) register(ctx context.Context, d *database, root, name string, c settings) (usage.FileSystem, error) {
	list, err := d.FileSystems(ctx, usage.Everything())
	if err != nil {
		return usage.FileSystem{}, err
	}
	taken := make([]string, 0, len(list))
	for _, fs := range list {
		if fs.Root != root {
			taken = append(taken, fs.Name)
			continue
		}
		if name != "" && name != fs.Name {
			return fs, usageError{fmt.Errorf("%s is file system %s already: rename it with 'fstally fs rename %s %s'",
				usage.Escape(root), fs.Name, fs.Name, name)}
		}
		changed, err := c.apply(&fs)
		if changed && err == nil {
			err = d.UpdateFileSystem(ctx, fs)
		}
		return fs, err
	}
	if name == "" {
		name = inventName(root, taken)
	}
	if err := usage.ValidateName(name); err != nil {
		return usage.FileSystem{}, usageError{err}
	}
	fs, err := c.newFileSystem(name, root)
	if err != nil {
		return fs, err
	}
	return d.AddFileSystem(ctx, fs)
}

// inventName makes a name from the last components of a path, as many as it
// takes to differ from those taken.
func inventName(root string, taken []string) string {
	name := ""
	for dir := root; dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		name = strings.Trim(plainName(filepath.Base(dir))+"-"+name, "-.")
		if usage.ValidateName(name) == nil && !slices.Contains(taken, name) {
			return name
		}
	}
	if usage.ValidateName(name) != nil {
		name = "root"
	}
	for n := 1; ; n++ {
		numbered := name
		if n > 1 {
			numbered = fmt.Sprintf("%.58s-%d", name, n)
		}
		if !slices.Contains(taken, numbered) {
			return numbered
		}
	}
}

// plainName keeps of a path component what a name may hold.
func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789._-", r) {
			return r
		}
		return '-'
	}, s)
}

// isBusy returns the scan that is in the way, if that is what err says.
func isBusy(err error) (scanID int64, ok bool) {
	busy, ok := errors.AsType[*postgres.BusyError](err)
	if !ok {
		return 0, false
	}
	return busy.ScanID, true
}
