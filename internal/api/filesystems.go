package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"fstally/internal/usage"
)

type fileSystemBody struct {
	ID           int64         `json:"id" doc:"Number of the file system; addresses take it or the name."`
	Name         string        `json:"name" doc:"What addresses and pages call it."`
	Root         string        `json:"root" doc:"Real path of the root, escaped."`
	Type         string        `json:"type" doc:"Such as xfs or nfs4; empty before the first scan."`
	SizeClasses  []int64       `json:"size_classes" nullable:"false" doc:"Inclusive upper bounds in bytes of all size classes but the last."`
	FilesetDepth int           `json:"fileset_depth" doc:"Each directory at this depth is a fileset; 0 for none."`
	Filesets     []filesetBody `json:"filesets" nullable:"false" doc:"Directories that are filesets of their own, at any depth."`
	Walkers      int           `json:"walkers" doc:"Directories that a scan reads at a time; 0 chooses by the type of file system."`
	OpsLimit     int           `json:"ops_limit" doc:"Most operations of a scan per second; 0 chooses by the type of file system, -1 is no limit."`
	StallMinutes int           `json:"stall_minutes" doc:"A scan that has read nothing for so long is given up; 0 for never."`
	Nice         int           `json:"nice" doc:"Niceness of the scanner, 0 to 19; see nice(2)."`
	IdleIO       bool          `json:"idle_io" doc:"Whether the scanner's disk access waits for everybody else's."`
	MemoryLimit  int64         `json:"memory_limit" doc:"Bytes of memory that the scanner may use; 0 for no limit."`
	Worker       string        `json:"worker" doc:"The fstally worker that scans it; empty for fstally serve itself."`
	CurrentScan  *scanRef      `json:"current_scan,omitempty" doc:"The latest published scan; absent before the first."`
	Demo         bool          `json:"demo" doc:"Whether its data is invented."`
	Created      time.Time     `json:"created" doc:"When it was registered."`
}

// filesetBody is a directory that is a fileset of its own.
type filesetBody struct {
	Path string `json:"path" doc:"Below the root, without a leading slash, escaped." example:"projects/p1"`
	Name string `json:"name,omitempty" doc:"What it is called, escaped; absent to be called by its path."`
}

type fileSystemsBody struct {
	Items []fileSystemBody `json:"items" nullable:"false" doc:"By name."`
}

func (b fileSystemsBody) columns() []string {
	return []string{"id", "name", "root", "type", "size_classes_bytes", "fileset_depth", "scan", "scan_started"}
}

func (b fileSystemsBody) rows() [][]cell {
	rows := make([][]cell, len(b.Items))
	for i, fs := range b.Items {
		var bounds []string
		for _, bound := range fs.SizeClasses {
			bounds = append(bounds, strconv.FormatInt(bound, 10))
		}
		var scan, started cell
		if fs.CurrentScan != nil {
			scan, started = number(fs.CurrentScan.ID), cell(fs.CurrentScan.Started.Format(timeFormat))
		}
		rows[i] = []cell{
			number(fs.ID), text(fs.Name), text(fs.Root), text(fs.Type),
			cell(strings.Join(bounds, " ")), number(fs.FilesetDepth), scan, started,
		}
	}
	return rows
}

type fileSystemsOutput struct{ Body fileSystemsBody }

func (a *api) registerFileSystems() {
	register(a, operation{
		id: "list-filesystems", method: http.MethodGet, path: "/filesystems", list: true,
		group: groupFileSystems, summary: "The file systems that are watched, by name",
		description: "Each with its settings and with the scan that its pages show now.",
		answer:      "All file systems that the caller may see.",
	}, func(ctx context.Context, _ *FormatParam) (*fileSystemsOutput, error) {
		all, err := a.Reader.FileSystems(ctx, a.Scope(ctx))
		if err != nil {
			return nil, fmt.Errorf("list file systems: %w", err)
		}
		out := &fileSystemsOutput{Body: fileSystemsBody{Items: make([]fileSystemBody, 0, len(all))}}
		for _, fs := range all {
			scan, err := a.scan(ctx, fs, "latest")
			if err != nil {
				return nil, fmt.Errorf("current scan of %s: %w", fs.Name, err)
			}
			out.Body.Items = append(out.Body.Items, a.newFileSystemBody(&fs, scan))
		}
		return out, nil
	})
}

func (a *api) newFileSystemBody(fs *usage.FileSystem, scan *usage.Scan) fileSystemBody {
	body := fileSystemBody{
		ID: fs.ID, Name: fs.Name, Root: usage.Escape(fs.Root), Type: usage.Escape(fs.Type),
		SizeClasses: fs.SizeClasses[:], FilesetDepth: fs.Filesets.Depth, Filesets: []filesetBody{},
		Walkers: fs.Walkers, OpsLimit: fs.OpsLimit, StallMinutes: int(fs.StallAfter / time.Minute),
		Nice: fs.Nice, IdleIO: fs.IdleIO, MemoryLimit: fs.MemoryLimit, Worker: fs.Worker,
		CurrentScan: a.newScanRef(scan), Demo: fs.Demo, Created: fs.Created.UTC(),
	}
	for _, f := range fs.Filesets.Named {
		body.Filesets = append(body.Filesets, filesetBody{Path: usage.Escape(f.Path), Name: usage.Escape(f.Name)})
	}
	return body
}
