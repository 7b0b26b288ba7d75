package oracle

import (
	"context"
	"math/big"
	"time"

	"fstally/internal/usage"
)

// Options say what is counted; they have the meaning of a scan's options.
type Options struct {
	Root        string    // real path
	Start       time.Time // of the scan, what ages are measured from
	SizeClasses usage.SizeClasses
	Depth       int      // each directory at this depth is a fileset; 0 for none
	Named       []string // paths of filesets below the root, which override Depth
	Snapshots   []string // names of snapshot directories
}

// Result is what `fstally scan --dry-run --format json` prints, as far as a
// tree determines it.
type Result struct {
	Started     time.Time `json:"started"` // what ages count from; not compared
	Entries     int64     `json:"entries"`
	Files       int64     `json:"files"`
	Inodes      int64     `json:"inodes"`
	Directories int64     `json:"directories"`
	Symlinks    int64     `json:"symlinks"`
	Specials    int64     `json:"specials"`
	Links       int64     `json:"links"` // names of files
	Errors      int64     `json:"errors"`
	Size        *big.Int  `json:"size"`
	Allocated   *big.Int  `json:"allocated"`
	Slack       *big.Int  `json:"slack"`

	Users       []Row `json:"users"`
	Groups      []Row `json:"groups"`
	Types       []Row `json:"types"`
	Filesets    []Row `json:"filesets"`
	SizeClasses []Row `json:"size_classes"`
	AgeClasses  []Row `json:"age_classes"` // of mtime
}

// Row is the usage of one value of one dimension.
type Row struct {
	Key       string   `json:"key"`
	Files     int64    `json:"files"`
	Inodes    int64    `json:"inodes"`
	Size      *big.Int `json:"size"`
	Allocated *big.Int `json:"allocated"`
	Slack     *big.Int `json:"slack"`
}

// Skipped are the paths below the root that do not belong to the scan, sorted.
type Skipped struct {
	Mounts    []string
	Snapshots []string
}

// Run counts the tree.
func Run(ctx context.Context, o Options) (Result, Skipped, error) {
	mounts, err := mountsBelow(o.Root)
	if err != nil {
		return Result{}, Skipped{}, err
	}
	entries, complaints, err := find(ctx, o.Root, mounts)
	if err != nil {
		return Result{}, Skipped{}, err
	}
	entries, snapshots, err := o.prune(ctx, entries)
	if err != nil {
		return Result{}, Skipped{}, err
	}
	result := o.fold(entries)
	result.Errors = complaints
	return result, Skipped{Mounts: mounts, Snapshots: snapshots}, nil
}
