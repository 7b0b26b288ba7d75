package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"fstally/internal/fileset"
	"fstally/internal/postgres"
	"fstally/internal/usage"
)

// settings are the flags that say how a file system is scanned and divided.
// Those that are given change the settings of a file system that has some.
type settings struct {
	Walkers      *int     `placeholder:"N" help:"Directories read at a time; 0 chooses: 4 on network file systems, to spare the server; twice the cores on local ones."`
	OpsLimit     *int     `placeholder:"N" help:"At most so many file-system operations per second; -1 for no limit, 0 chooses: 2000 on network file systems, none on local ones."`
	FilesetDepth *int     `placeholder:"N" help:"Each directory N levels below the root is a fileset; 0 for none. Default: 1."`
	Fileset      []string `placeholder:"NAME=DIR" sep:"none" help:"A directory below the root that is a fileset of its own; repeat for more."`
	SizeClasses  []int64  `placeholder:"A,B,C,D" help:"Upper bounds of the size classes in bytes, each 2^n or 3*2^n. Default: 3072,32768,8388608,1073741824."`
	limits
}

// apply writes the flags that are given into fs, whose root is known, and
// reports whether there were any.
func (c settings) apply(fs *usage.FileSystem) (changed bool, err error) {
	if changed, err = c.limits.apply(fs); err != nil {
		return false, err
	}
	for _, n := range []struct {
		flag  *int
		to    *int
		least int
	}{{c.Walkers, &fs.Walkers, 0}, {c.OpsLimit, &fs.OpsLimit, -1}, {c.FilesetDepth, &fs.Filesets.Depth, 0}} {
		if n.flag == nil {
			continue
		}
		if *n.flag < n.least || *n.flag > math.MaxInt32 {
			return false, usageError{fmt.Errorf("%d is out of range for this flag: use %d or more", *n.flag, n.least)}
		}
		*n.to, changed = *n.flag, true
	}
	if len(c.Fileset) > 0 {
		fs.Filesets.Named, changed = nil, true
	}
	for _, text := range c.Fileset {
		named, err := fileset.Parse(fs.Root, text)
		if err != nil {
			return false, usageError{fmt.Errorf("--fileset %s: %w", text, err)}
		}
		fs.Filesets.Named = append(fs.Filesets.Named, named)
	}
	if _, err := fileset.New(fs.Filesets); err != nil {
		return false, usageError{err}
	}
	if len(c.SizeClasses) > 0 {
		if len(c.SizeClasses) != len(fs.SizeClasses) {
			return false, usageError{fmt.Errorf("--size-classes %v: give %d bounds", c.SizeClasses, len(fs.SizeClasses))}
		}
		copy(fs.SizeClasses[:], c.SizeClasses)
		changed = true
	}
	if err := fs.SizeClasses.Validate(); err != nil {
		return false, usageError{err}
	}
	return changed, nil
}

// newFileSystem returns the settings of a file system that has none yet.
func (c settings) newFileSystem(name, root string) (usage.FileSystem, error) {
	fs := usage.NewFileSystem(name, root)
	_, err := c.apply(&fs)
	return fs, err
}

type fsCmd struct {
	Add    fsAddCmd    `cmd:"" help:"Register a directory tree under a name."`
	List   fsListCmd   `cmd:"" help:"List the file systems and their latest scans."`
	Show   fsShowCmd   `cmd:"" help:"Show the settings and the latest scans of a file system."`
	Accept fsAcceptCmd `cmd:"" help:"Believe a suspect scan after a look: its numbers then count and are shown."`
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
		w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(w, "ID\tNAME\tROOT\tLATEST SCAN\tFILES\tALLOCATED")
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
			_, _ = fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n",
				fs.ID, fs.Name, usage.Escape(fs.Root), latest, files, allocated)
		}
		return w.Flush()
	})
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
		} {
			_, _ = fmt.Fprintf(w, "%s\t%s\n", row[0], row[1])
		}
		_, _ = fmt.Fprintln(w, "\nSCAN\tSTARTED\tSTATE\tDURATION\tENTRIES\tERRORS")
		for _, s := range scans {
			started, took := "", ""
			if !s.Started.IsZero() {
				started = s.Started.In(a.location).Format("2006-01-02 15:04 MST")
			}
			if !s.Finished.IsZero() {
				took = usage.FormatDuration(s.Duration(s.Finished))
			}
			state := strings.TrimSpace(string(s.State) + " " + string(s.Verdict))
			_, _ = fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d\t%d\n",
				s.ID, started, state, took, s.Counters.Entries, s.Counters.Errors)
		}
		return w.Flush()
	})
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

type fsAcceptCmd struct {
	FS   string `arg:"" name:"fs" help:"Name or number of the file system."`
	Scan int64  `arg:"" optional:"" help:"Number of the scan. Default: the newest, if it is suspect."`
}

// Run accepts a suspect scan.
func (c fsAcceptCmd) Run(ctx context.Context, a *app) error {
	return a.use(ctx, func(d *database) error {
		fs, err := d.FileSystem(ctx, usage.Everything(), c.FS)
		if err != nil {
			return noFileSystem(c.FS, err)
		}
		id := c.Scan
		if id == 0 {
			newest, err := d.Scans(ctx, usage.Everything(), fs.ID, 1, 0)
			if err != nil {
				return err
			}
			if len(newest) == 0 || newest[0].Verdict != usage.Suspect {
				return fmt.Errorf("the newest scan of %s: %w", fs.Name, postgres.ErrNotSuspect)
			}
			id = newest[0].ID
		}
		scan, err := d.AcceptScan(ctx, usage.OnlyFileSystems(fs.ID), id)
		if errors.Is(err, usage.ErrNotFound) {
			return fmt.Errorf("%s has no scan %d: see 'fstally fs show %s' (%w)", fs.Name, id, fs.Name, usage.ErrNotFound)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.stdout, "Scan %d of %s is accepted, and %s.\n", scan.ID, fs.Name, scan.Verdict)
		return err
	})
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
