package push

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"fstally/internal/usage"
)

// fileSystem is one as the API writes it: names are escaped.
type fileSystem struct {
	ID           int64          `json:"id"`
	Name         string         `json:"name"`
	Root         string         `json:"root"`
	SizeClasses  []int64        `json:"size_classes"`
	FilesetDepth int            `json:"fileset_depth"`
	Filesets     []namedFileset `json:"filesets"`
	Walkers      int            `json:"walkers"`
	OpsLimit     int            `json:"ops_limit"`
	StallMinutes int            `json:"stall_minutes"`
	Nice         int            `json:"nice"`
	IdleIO       bool           `json:"idle_io"`
	MemoryLimit  int64          `json:"memory_limit"`
}

type namedFileset struct {
	Path string `json:"path"`
	Name string `json:"name"`
}

func newFileSystem(fs *usage.FileSystem) fileSystem {
	f := fileSystem{
		ID: fs.ID, Name: fs.Name, Root: usage.Escape(fs.Root), SizeClasses: fs.SizeClasses[:],
		FilesetDepth: fs.Filesets.Depth, Walkers: fs.Walkers, OpsLimit: fs.OpsLimit,
		StallMinutes: int(fs.StallAfter / time.Minute), Nice: fs.Nice, IdleIO: fs.IdleIO, MemoryLimit: fs.MemoryLimit,
	}
	for _, named := range fs.Filesets.Named {
		f.Filesets = append(f.Filesets, namedFileset{Path: usage.Escape(named.Path), Name: usage.Escape(named.Name)})
	}
	return f
}

// FileSystem asks for a file system and how it is scanned: only a result with the
// classes and filesets that it has fits its history.
func (c *Client) FileSystem(ctx context.Context, name string) (usage.FileSystem, error) {
	var f fileSystem
	err := c.do(ctx, request{
		what: "ask for the settings of " + name, method: http.MethodGet, path: "/filesystems/" + url.PathEscape(name),
	}, &f)
	if err != nil {
		return usage.FileSystem{}, err
	}
	fs, err := f.translate()
	if err != nil {
		return usage.FileSystem{}, fmt.Errorf("settings of %s that this fstally does not understand: %w "+
			"(is the server's version newer?)", name, err)
	}
	return fs, nil
}

func (f *fileSystem) translate() (usage.FileSystem, error) {
	root, err := usage.Unescape(f.Root)
	if err != nil {
		return usage.FileSystem{}, err
	}
	fs := usage.NewFileSystem(f.Name, root)
	fs.ID, fs.Filesets.Depth, fs.Walkers, fs.OpsLimit = f.ID, f.FilesetDepth, f.Walkers, f.OpsLimit
	fs.StallAfter = time.Duration(f.StallMinutes) * time.Minute
	fs.Nice, fs.IdleIO, fs.MemoryLimit = f.Nice, f.IdleIO, f.MemoryLimit
	if len(f.SizeClasses) != len(fs.SizeClasses) {
		return usage.FileSystem{}, fmt.Errorf("%d bounds of size classes", len(f.SizeClasses))
	}
	copy(fs.SizeClasses[:], f.SizeClasses)
	for _, named := range f.Filesets {
		path, err := usage.Unescape(named.Path)
		if err != nil {
			return usage.FileSystem{}, err
		}
		name, err := usage.Unescape(named.Name)
		if err != nil {
			return usage.FileSystem{}, err
		}
		fs.Filesets.Named = append(fs.Filesets.Named, usage.NamedFileset{Path: path, Name: name})
	}
	if err := fs.Validate(); err != nil {
		return usage.FileSystem{}, err
	}
	return fs, nil
}
