package usage

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
)

// The settings of a file system, as the API and forms call them.
const (
	SettingName         = "name"
	SettingRoot         = "root"
	SettingWalkers      = "walkers"
	SettingOpsLimit     = "ops_limit"
	SettingStall        = "stall_minutes"
	SettingNice         = "nice"
	SettingIdleIO       = "idle_io"
	SettingMemory       = "memory_limit"
	SettingWorker       = "worker"
	SettingSizeClasses  = "size_classes"
	SettingFilesetDepth = "fileset_depth"
	SettingFilesets     = "filesets"
)

// Bounds of settings. They keep out slips of the pen, not what is unwise.
const (
	maxWalkers      = 1024
	maxOpsLimit     = 10_000_000 // operations per second
	maxNice         = 19
	maxStall        = 31 * 24 * time.Hour // a scan that reads nothing for a month will not read more
	minMemory       = 64 << 20            // bytes that the smallest scanner needs
	maxMemory       = 1 << 50
	maxFilesetDepth = 64   // nobody accounts deeper
	maxRoot         = 4095 // bytes of a path that Linux opens
)

// SettingError says which setting of a file system cannot be, and what can.
type SettingError struct {
	Setting string // one of the constants above
	Err     error
}

func (e *SettingError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *SettingError) Unwrap() error { return e.Err }

// Validate reports every setting that cannot be so: errors.Join of a *SettingError
// for each, in the order of the settings; see SettingProblems.
func (f *FileSystem) Validate() error {
	var problems []error
	check := func(setting string, err error) {
		if err != nil {
			problems = append(problems, &SettingError{setting, err})
		}
	}
	check(SettingName, ValidateName(f.Name))
	check(SettingRoot, ValidateRoot(f.Root))
	check(SettingWalkers, between("walkers", f.Walkers, 0, maxWalkers, "0 chooses by the type of the file system"))
	check(SettingOpsLimit, between("operations per second", f.OpsLimit, -1, maxOpsLimit,
		"0 chooses by the type of the file system, -1 is no limit"))
	check(SettingStall, validateStall(f.StallAfter))
	check(SettingNice, between("nice", f.Nice, 0, maxNice, "19 is the most modest"))
	check(SettingMemory, validateMemory(f.MemoryLimit))
	if f.Worker != "" {
		check(SettingWorker, ValidateWorker(f.Worker))
	}
	check(SettingSizeClasses, f.SizeClasses.Validate())
	check(SettingFilesetDepth, f.Filesets.validateDepth())
	check(SettingFilesets, f.Filesets.validateNamed())
	return errors.Join(problems...)
}

// SettingProblems returns the settings that an error of Validate complains about, and
// why; none for other errors.
func SettingProblems(err error) map[string]string {
	problems := make(map[string]string)
	var add func(error)
	add = func(err error) {
		if e, ok := err.(*SettingError); ok { //nolint:errorlint // the tree is walked here
			problems[e.Setting] = e.Error()
			return
		}
		switch e := err.(type) { //nolint:errorlint // the same
		case interface{ Unwrap() []error }:
			for _, part := range e.Unwrap() {
				add(part)
			}
		case interface{ Unwrap() error }:
			add(e.Unwrap())
		}
	}
	add(err)
	return problems
}

func between(name string, n, least, most int, words string) error {
	if n < least || n > most {
		return fmt.Errorf("%s: %d is out of range: use %d to %d (%s)", name, n, least, most, words)
	}
	return nil
}

func validateStall(d time.Duration) error {
	if d < 0 || d > maxStall || d%time.Minute != 0 {
		return fmt.Errorf("a scan that gets no answer can be given up after whole minutes, at most %d, "+
			"or never (0): not after %s", maxStall/time.Minute, d)
	}
	return nil
}

func validateMemory(limit int64) error {
	if limit != 0 && (limit < minMemory || limit > maxMemory) {
		return fmt.Errorf("a scanner can be held to %s of memory or more, or 0 for no limit: not to %d bytes",
			FormatBytes(ByteCount(minMemory)), limit)
	}
	return nil
}

// ValidateRoot reports what cannot be the root of a file system. Whether it is there is
// for those to see who scan it.
func ValidateRoot(root string) error {
	switch {
	case !path.IsAbs(root):
		return fmt.Errorf("%q is not a path from the root of the host: write one such as /gpfs/scratch", Escape(root))
	case path.Clean(root) != root:
		return fmt.Errorf("%s has parts that say nothing: write %s", Escape(root), Escape(path.Clean(root)))
	case strings.ContainsRune(root, 0):
		return fmt.Errorf("%s: no path contains a NUL", Escape(root))
	case len(root) > maxRoot:
		return fmt.Errorf("the path has %d bytes: the most is %d", len(root), maxRoot)
	}
	return nil
}

// Validate reports a depth out of range, paths that are not below the root, and paths
// and names that are given twice.
func (r FilesetRules) Validate() error {
	return cmp.Or(r.validateDepth(), r.validateNamed())
}

func (r FilesetRules) validateDepth() error {
	if r.Depth < 0 || r.Depth > maxFilesetDepth {
		return fmt.Errorf("fileset depth %d: use 1 to %d, or 0 for no filesets by depth", r.Depth, maxFilesetDepth)
	}
	return nil
}

func (r FilesetRules) validateNamed() error {
	paths, names := make(map[string]bool, len(r.Named)), make(map[string]string, len(r.Named))
	for _, f := range r.Named {
		if err := ValidateFilesetPath(f.Path); err != nil {
			return err
		}
		if paths[f.Path] {
			return fmt.Errorf("fileset path %s is given twice", Escape(f.Path))
		}
		name := cmp.Or(f.Name, f.Path)
		if other, found := names[name]; found {
			return fmt.Errorf("filesets %s and %s have the same name, %s", Escape(other), Escape(f.Path), Escape(name))
		}
		paths[f.Path], names[name] = true, f.Path
	}
	return nil
}

// ValidateFilesetPath reports what is no path below the root of a file system.
func ValidateFilesetPath(p string) error {
	switch {
	case p == "":
		return errors.New("a fileset needs a path below the root")
	case strings.ContainsRune(p, 0):
		return fmt.Errorf("fileset path %s: no file name contains a NUL", Escape(p))
	case p != path.Clean(p) || path.IsAbs(p) || p == "." || p == ".." || strings.HasPrefix(p, "../"):
		return fmt.Errorf("fileset path %s: write it relative to the root, such as projects/p1", Escape(p))
	}
	return nil
}
