package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"fstally/internal/fileset"
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
	for _, n := range []struct{ flag, to *int }{
		{c.Walkers, &fs.Walkers}, {c.OpsLimit, &fs.OpsLimit}, {c.FilesetDepth, &fs.Filesets.Depth},
	} {
		if n.flag != nil {
			*n.to, changed = *n.flag, true
		}
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
	if len(c.SizeClasses) > 0 {
		if len(c.SizeClasses) != len(fs.SizeClasses) {
			return false, usageError{fmt.Errorf("--size-classes %v: give %d bounds", c.SizeClasses, len(fs.SizeClasses))}
		}
		copy(fs.SizeClasses[:], c.SizeClasses)
		changed = true
	}
	return changed, checkFlags(fs)
}

// checkFlags reports the first setting that cannot be. Name and root are no flags: a
// scan without a store has no name.
func checkFlags(fs *usage.FileSystem) error {
	problems := usage.SettingProblems(fs.Validate())
	for _, setting := range slices.Sorted(maps.Keys(problems)) {
		if setting != usage.SettingName && setting != usage.SettingRoot {
			return usageError{errors.New(problems[setting])}
		}
	}
	return nil
}

// newFileSystem returns the settings of a file system that has none yet.
func (c settings) newFileSystem(name, root string) (usage.FileSystem, error) {
	fs := usage.NewFileSystem(name, root)
	_, err := c.apply(&fs)
	return fs, err
}

type fsSetCmd struct {
	FS     string  `arg:"" name:"fs" help:"Name or number of the file system."`
	Worker *string `placeholder:"NAME" help:"The 'fstally worker NAME' that scans it, on a host that mounts it; '' for fstally serve."`
	settings
}

// Run changes settings.
func (c fsSetCmd) Run(ctx context.Context, a *app) error {
	return a.use(ctx, func(d *database) error {
		fs, err := d.FileSystem(ctx, usage.Everything(), c.FS)
		if err != nil {
			return noFileSystem(c.FS, err)
		}
		if c.Worker != nil {
			fs.Worker = *c.Worker
		}
		changed, err := c.apply(&fs)
		if err != nil {
			return err
		}
		if !changed && c.Worker == nil {
			return usageError{fmt.Errorf("nothing to set: see 'fstally fs set --help' for what there is, "+
				"and 'fstally fs show %s' for what is set", fs.Name)}
		}
		if err := d.UpdateFileSystem(ctx, fs); err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.stdout, "The settings of %s are changed. The next scan has them; %s runs it.\n",
			fs.Name, scannedBy(&fs))
		return err
	})
}
