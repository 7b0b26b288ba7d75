package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"fstally/internal/report"
	"fstally/internal/usage"
)

type bar struct {
	Key       string      `json:"key" doc:"Of a class that of the filter size_class, of a bucket its upper bound."`
	Name      string      `json:"name" doc:"What a person reads."`
	Over      int64       `json:"over" doc:"Exclusive lower bound in bytes; -1 where empty files are in it."`
	UpTo      int64       `json:"up_to" doc:"Inclusive upper bound in bytes."`
	Files     int64       `json:"files" doc:"Regular files of this size, each inode once."`
	Size      usage.Bytes `json:"size" doc:"Their apparent bytes."`
	Allocated usage.Bytes `json:"allocated" doc:"Their bytes on disk."`
	Share     float64     `json:"share" minimum:"0" maximum:"1" doc:"Part of all bars in the measure by."`
}

type histogramBody struct {
	FileSystem string   `json:"filesystem" doc:"Name of the file system."`
	Scan       *scanRef `json:"scan" doc:"Null where no scan is published yet."`
	By         string   `json:"by" doc:"The measure of the shares."`
	Type       string   `json:"type,omitempty" doc:"The file type that is counted; absent for all."`
	Fine       bool     `json:"fine" doc:"Whether the items are half-octave buckets instead of size classes."`
	Items      []bar    `json:"items" nullable:"false" doc:"Regular files by their size, smallest first."`
}

// TransformSchema says what can be null.
func (histogramBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "scan")
}

func (b histogramBody) columns() []string {
	return []string{"key", "name", "over_bytes", "up_to_bytes", "files", "size_bytes", "allocated_bytes", "share"}
}

func (b histogramBody) rows() [][]cell {
	rows := make([][]cell, len(b.Items))
	for i, it := range b.Items {
		rows[i] = []cell{
			text(it.Key), text(it.Name), number(it.Over), number(it.UpTo),
			number(it.Files), number(it.Size), number(it.Allocated), share(it.Share),
		}
	}
	return rows
}

type histogramOutput struct{ Body histogramBody }

type histogramInput struct {
	FSParam
	ScanParam
	By   string `query:"by" default:"files" enum:"files,size,allocated" doc:"The measure of the shares."`
	Type string `query:"type" doc:"Only this file type, by key."`
	Fine bool   `query:"fine" doc:"The half-octave buckets instead of the five size classes."`
	FormatParam
}

func (a *api) registerHistogram() {
	register(a, operation{
		id: "histogram", method: http.MethodGet, path: "/filesystems/{fs}/histogram", list: true,
		errors: []int{http.StatusNotFound, http.StatusGone},
		group:  groupUsage, summary: "Regular files by their size",
		description: "In the five size classes of the file system, or in half-octave buckets. " +
			"Only regular files are counted: directories and symlinks are not.",
		answer: "The bars from the smallest size to the largest, empty classes included.",
	}, a.histogram)
}

func (a *api) histogram(ctx context.Context, in *histogramInput) (*histogramOutput, error) {
	fs, err := a.fileSystem(ctx, in.FS)
	if err != nil {
		return nil, err
	}
	scan, err := a.scan(ctx, fs, in.Scan)
	if err != nil {
		return nil, err
	}
	var typ *string
	if in.Type != "" {
		if err := checkKey(in.Type); err != nil {
			return nil, invalid("query.type", in.Type, err)
		}
		typ = &in.Type
	}
	body := histogramBody{
		FileSystem: fs.Name, Scan: a.newScanRef(scan), By: in.By, Type: in.Type, Fine: in.Fine, Items: []bar{},
	}
	if scan == nil {
		return &histogramOutput{Body: body}, nil
	}
	rows, err := a.Reader.SizeHistogram(ctx, a.Scope(ctx), scan.ID, usage.Size, typ)
	if err != nil {
		return nil, fmt.Errorf("size histogram of scan %d: %w", scan.ID, err)
	}
	bars := report.ClassBars(scan.SizeClasses, rows)
	if in.Fine {
		bars = report.Bars(rows)
	}
	var total usage.Measures
	for _, b := range bars {
		total.Add(b.Measures())
	}
	by := usage.Measure(in.By)
	for i, b := range bars {
		out := bar{
			Key: strconv.FormatInt(b.UpTo, 10), Name: "up to " + usage.FormatBytes(usage.ByteCount(b.UpTo)),
			Over: b.Over, UpTo: b.UpTo, Files: b.Files, Size: b.Size, Allocated: b.Allocated,
			Share: by.Share(b.Measures(), total),
		}
		if !in.Fine {
			class := usage.SizeClass(i)
			out.Key, out.Name = scan.SizeClasses.Key(class), scan.SizeClasses.Label(class)
		}
		body.Items = append(body.Items, out)
	}
	return &histogramOutput{Body: body}, nil
}
