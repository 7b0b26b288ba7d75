package api

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"fstally/internal/usage"
)

// Settings are those of a file system that a request gives: what is absent stays as it
// is. Its bounds are those of usage.FileSystem.Validate, which has the last word.
type Settings struct {
	SizeClasses  *[]int64          `json:"size_classes,omitempty" nullable:"false" minItems:"4" maxItems:"4" doc:"Inclusive upper bounds in bytes of all size classes but the last, ascending, each 2^n or 3*2^n."`
	FilesetDepth *int              `json:"fileset_depth,omitempty" minimum:"0" maximum:"64" doc:"Each directory at this depth is a fileset; 0 for none."`
	Filesets     *[]filesetSetting `json:"filesets,omitempty" nullable:"false" doc:"Directories that are filesets of their own, in the place of those that there are."`
	Walkers      *int              `json:"walkers,omitempty" minimum:"0" maximum:"1024" doc:"Directories that a scan reads at a time; 0 chooses by the type of file system."`
	OpsLimit     *int              `json:"ops_limit,omitempty" minimum:"-1" maximum:"10000000" doc:"Most operations of a scan per second; 0 chooses by the type of file system, -1 is no limit."`
	StallMinutes *int              `json:"stall_minutes,omitempty" minimum:"0" maximum:"44640" doc:"A scan that has read nothing for so long is given up; 0 for never."`
	Nice         *int              `json:"nice,omitempty" minimum:"0" maximum:"19" doc:"Niceness of the scanner; see nice(2)."`
	IdleIO       *bool             `json:"idle_io,omitempty" doc:"Whether the scanner's disk access waits for everybody else's."`
	MemoryLimit  *int64            `json:"memory_limit,omitempty" minimum:"0" doc:"Bytes of memory that the scanner may use, at least 67108864; 0 for no limit."`
	Worker       *string           `json:"worker,omitempty" maxLength:"40" doc:"The fstally worker that scans it; empty for fstally serve itself."`
}

type filesetSetting struct {
	_    struct{} `json:"-" additionalProperties:"false"`
	Path string   `json:"path" doc:"Below the root, without a leading slash, escaped." example:"projects/p1"`
	Name string   `json:"name,omitempty" doc:"What it is called, escaped; absent to be called by its path."`
}

// apply writes the settings into fs and checks the whole.
func (s *Settings) apply(fs *usage.FileSystem) error {
	set(&fs.Filesets.Depth, s.FilesetDepth)
	set(&fs.Walkers, s.Walkers)
	set(&fs.OpsLimit, s.OpsLimit)
	set(&fs.Nice, s.Nice)
	set(&fs.IdleIO, s.IdleIO)
	set(&fs.MemoryLimit, s.MemoryLimit)
	set(&fs.Worker, s.Worker)
	if s.StallMinutes != nil {
		fs.StallAfter = time.Duration(*s.StallMinutes) * time.Minute
	}
	if s.SizeClasses != nil {
		copy(fs.SizeClasses[:], *s.SizeClasses)
	}
	if s.Filesets != nil {
		fs.Filesets.Named = nil
		for _, f := range *s.Filesets {
			named, err := f.named()
			if err != nil {
				return invalid("body.filesets", f.Path, err)
			}
			fs.Filesets.Named = append(fs.Filesets.Named, named)
		}
	}
	return invalidSettings(fs.Validate())
}

// invalidSettings tells all that usage.FileSystem.Validate complains about.
func invalidSettings(err error) error {
	if err == nil {
		return nil
	}
	problems := usage.SettingProblems(err)
	var details []error
	for _, setting := range slices.Sorted(maps.Keys(problems)) {
		details = append(details, &huma.ErrorDetail{Location: "body." + setting, Message: problems[setting]})
	}
	return huma.Error422UnprocessableEntity("validation failed", details...)
}

// set writes what is given.
func set[T any](to, given *T) {
	if given != nil {
		*to = *given
	}
}

func (f *filesetSetting) named() (usage.NamedFileset, error) {
	raw, err := usage.Unescape(f.Path)
	if err != nil {
		return usage.NamedFileset{}, err
	}
	name, err := usage.Unescape(f.Name)
	return usage.NamedFileset{Path: raw, Name: name}, err
}

type addInput struct {
	Body struct {
		_    struct{} `json:"-" additionalProperties:"false"`
		Name string   `json:"name" doc:"What addresses and pages call it: a lower-case letter, then up to 62 of a-z 0-9 . _ -" example:"scratch"`
		Root string   `json:"root" doc:"Absolute path of the directory to watch, on the host that scans it, escaped." example:"/gpfs/scratch"`
		Settings
	}
}

type changeInput struct {
	FSParam
	Body struct {
		_    struct{} `json:"-" additionalProperties:"false"`
		Name *string  `json:"name,omitempty" doc:"A new name: addresses with the old one end."`
		Settings
	}
}

type fileSystemOutput struct{ Body fileSystemBody }

type addedOutput struct {
	Location string `header:"Location" doc:"Where the file system can be read."`
	Body     fileSystemBody
}

func (a *api) registerSettings() {
	register(a, operation{
		id: "filesystem", method: http.MethodGet, path: "/filesystems/{fs}", errors: []int{http.StatusNotFound},
		group: groupFileSystems, summary: "One file system with its settings",
		description: "What the list of file systems says of it.",
		answer:      "The file system.",
	}, func(ctx context.Context, in *FSParam) (*fileSystemOutput, error) {
		fs, err := a.fileSystem(ctx, in.FS)
		if err != nil {
			return nil, err
		}
		return a.fileSystemAnswer(ctx, &fs)
	})
	register(a, operation{
		id: "add-filesystem", method: http.MethodPost, path: "/filesystems", status: http.StatusCreated, body: true,
		errors: []int{http.StatusConflict}, group: groupFileSystems, summary: "Watch a directory tree",
		description: "It is registered only: start a scan, or give it a schedule. The root is looked at when it is " +
			"scanned, by whoever scans it; until then nobody knows whether it exists.",
		answer: "The new file system; the header Location says where it can be read.",
	}, a.addFileSystem)
	register(a, operation{
		id: "change-filesystem", method: http.MethodPatch, path: "/filesystems/{fs}", body: true,
		errors: []int{http.StatusNotFound, http.StatusConflict}, group: groupFileSystems,
		summary:     "Change settings of a file system",
		description: "What is absent stays as it is. Scans that run already go on with the settings that they began with.",
		answer:      "The file system as it is now.",
	}, a.changeFileSystem)
	register(a, operation{
		id: "remove-filesystem", method: http.MethodDelete, path: "/filesystems/{fs}", status: http.StatusNoContent,
		errors: []int{http.StatusNotFound, http.StatusConflict}, group: groupFileSystems,
		summary:     "Remove a file system with its whole history",
		description: "This cannot be undone. The files themselves are not touched. Cancel a queued or running scan before.",
		answer:      "It is removed.",
	}, func(ctx context.Context, in *FSParam) (*struct{}, error) {
		fs, err := a.fileSystem(ctx, in.FS)
		if err != nil {
			return nil, err
		}
		if err := a.Scans.RemoveFileSystem(ctx, fs.ID); err != nil {
			return nil, fmt.Errorf("remove %s: %w", fs.Name, err)
		}
		a.Logger.InfoContext(ctx, "file system removed", "filesystem", fs.Name, "filesystem_id", fs.ID)
		return nil, nil //nolint:nilnil // an answer without a body
	})
}

// fileSystemAnswer is a file system with its current scan.
func (a *api) fileSystemAnswer(ctx context.Context, fs *usage.FileSystem) (*fileSystemOutput, error) {
	scan, err := a.scan(ctx, *fs, "latest")
	if err != nil {
		return nil, fmt.Errorf("current scan of %s: %w", fs.Name, err)
	}
	return &fileSystemOutput{Body: a.newFileSystemBody(fs, scan)}, nil
}

func (a *api) addFileSystem(ctx context.Context, in *addInput) (*addedOutput, error) {
	root, err := usage.Unescape(in.Body.Root)
	if err != nil {
		return nil, invalid("body.root", in.Body.Root, err)
	}
	if path.IsAbs(root) {
		root = path.Clean(root)
	}
	fs := usage.NewFileSystem(in.Body.Name, root)
	if err := in.Body.apply(&fs); err != nil {
		return nil, err
	}
	if fs, err = a.Scans.AddFileSystem(ctx, fs); err != nil {
		return nil, fmt.Errorf("register %s: %w", in.Body.Name, err)
	}
	a.Logger.InfoContext(ctx, "file system added", "filesystem", fs.Name, "filesystem_id", fs.ID)
	return &addedOutput{
		Location: fmt.Sprintf("%s%s/filesystems/%s", a.Base, Prefix, fs.Name),
		Body:     a.newFileSystemBody(&fs, nil),
	}, nil
}

func (a *api) changeFileSystem(ctx context.Context, in *changeInput) (*fileSystemOutput, error) {
	fs, err := a.fileSystem(ctx, in.FS)
	if err != nil {
		return nil, err
	}
	set(&fs.Name, in.Body.Name)
	if err := in.Body.apply(&fs); err != nil {
		return nil, err
	}
	if err := a.Scans.UpdateFileSystem(ctx, fs); err != nil {
		return nil, fmt.Errorf("change %s: %w", in.FS, err)
	}
	a.Logger.InfoContext(ctx, "settings changed", "filesystem", fs.Name, "filesystem_id", fs.ID)
	return a.fileSystemAnswer(ctx, &fs)
}
