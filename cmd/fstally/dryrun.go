package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"fstally/internal/report"
	"fstally/internal/result"
	"fstally/internal/usage"
)

// dryRun is what `fstally scan --dry-run --format json` prints; its shape is a
// stable interface (docs/api.md).
type dryRun struct {
	Root           string      `json:"root"`
	Started        time.Time   `json:"started"`
	ElapsedSeconds float64     `json:"elapsed_seconds"`
	Entries        int64       `json:"entries"`
	Files          int64       `json:"files"`
	Inodes         int64       `json:"inodes"`
	Directories    int64       `json:"directories"`
	Symlinks       int64       `json:"symlinks"`
	Specials       int64       `json:"specials"`
	Size           usage.Bytes `json:"size"`
	Allocated      usage.Bytes `json:"allocated"`
	Slack          usage.Bytes `json:"slack"`
	Vanished       int64       `json:"vanished"`
	Errors         int64       `json:"errors"`
	Links          int64       `json:"links"`
	Users          []dryRunRow `json:"users"`
	Groups         []dryRunRow `json:"groups"`
	Types          []dryRunRow `json:"types"`
	Filesets       []dryRunRow `json:"filesets"`
	SizeClasses    []dryRunRow `json:"size_classes"`
	AgeClasses     []dryRunRow `json:"age_classes"`
}

type dryRunRow struct {
	Key       string      `json:"key"`
	Name      string      `json:"name"`
	Files     int64       `json:"files"`
	Inodes    int64       `json:"inodes"`
	Size      usage.Bytes `json:"size"`
	Allocated usage.Bytes `json:"allocated"`
	Slack     usage.Bytes `json:"slack"`
}

func printJSON(w io.Writer, r *result.Result) error {
	s := r.Summary()
	rows := func(d usage.Dimension) []dryRunRow {
		out := []dryRunRow{}
		for _, row := range report.Rows(&r.Meta, s, d, usage.Allocated) {
			out = append(out, dryRunRow{row.Key, row.Name, row.Files, row.Inodes, row.Size, row.Allocated, row.Slack})
		}
		return out
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out.Encode(dryRun{
		Root:           usage.Escape(r.Meta.Root),
		Started:        r.Meta.Started.UTC(),
		ElapsedSeconds: r.Meta.Finished.Sub(r.Meta.Started).Seconds(),
		Entries:        s.Counters.Entries,
		Files:          s.Totals.Files,
		Inodes:         s.Totals.Inodes,
		Directories:    s.Counters.Directories,
		Symlinks:       s.Counters.Symlinks,
		Specials:       s.Counters.Specials,
		Size:           s.Totals.Size,
		Allocated:      s.Totals.Allocated,
		Slack:          s.Totals.Slack,
		Vanished:       s.Counters.Vanished,
		Errors:         s.Counters.Errors,
		Links:          s.Counters.Links,
		Users:          rows(usage.User),
		Groups:         rows(usage.Group),
		Types:          rows(usage.Type),
		Filesets:       rows(usage.Fileset),
		SizeClasses:    rows(usage.SizeClassDim),
		AgeClasses:     rows(usage.AgeClassDim),
	})
}

// topShown is how many rows of a dimension the text shows.
const topShown = 10

// printText prints the totals and the largest users, types and filesets.
func printText(w io.Writer, r *result.Result) error {
	s := r.Summary()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	elapsed := r.Meta.Finished.Sub(r.Meta.Started)
	printf := func(format string, args ...any) { _, _ = fmt.Fprintf(t, format, args...) } // Flush tells
	printf("%s: %s allocated (size %s) in %s files, %s inodes; %s\n", usage.Escape(r.Meta.Root),
		usage.FormatBytes(s.Totals.Allocated), usage.FormatBytes(s.Totals.Size),
		usage.GroupDigits(fmt.Sprint(s.Totals.Files)), usage.GroupDigits(fmt.Sprint(s.Totals.Inodes)),
		usage.FormatDuration(elapsed))
	for _, d := range []usage.Dimension{usage.User, usage.Type, usage.Fileset} {
		rows := report.Rows(&r.Meta, s, d, usage.Allocated)
		printf("\nallocated\tshare\tfiles\t  %s\n", d)
		var rest usage.Measures
		for i, row := range rows {
			if i >= topShown {
				rest.Add(row.Measures)
				continue
			}
			printf("%s\t%s\t%d\t  %s\n", usage.FormatBytes(row.Allocated),
				usage.FormatShare(usage.Allocated.Share(row.Measures, s.Totals)), row.Files, row.Name)
		}
		if len(rows) > topShown {
			printf("%s\t%s\t%d\t  %d others\n", usage.FormatBytes(rest.Allocated),
				usage.FormatShare(usage.Allocated.Share(rest, s.Totals)), rest.Files, len(rows)-topShown)
		}
	}
	printProblems(t, s)
	return t.Flush()
}

func printProblems(w io.Writer, s *usage.Summary) {
	for _, e := range s.Errors {
		_, _ = fmt.Fprintf(w, "\n%d times %s failed with %s, first at %q", e.Count, e.Op, e.Errno, usage.Escape(e.Paths[0]))
	}
	for _, k := range s.Skipped {
		_, _ = fmt.Fprintf(w, "\n%d left out (%s), first %q", k.Count, k.Reason, usage.Escape(k.Paths[0]))
	}
	if len(s.Errors)+len(s.Skipped) > 0 {
		_, _ = fmt.Fprintln(w)
	}
}

// printScan says what a stored scan found.
func printScan(w io.Writer, fs usage.FileSystem, s usage.Scan) error {
	_, err := fmt.Fprintf(w, "Scan %d of %s is stored, %s: %s allocated in %s files, %d errors, %s.\n",
		s.ID, fs.Name, s.Verdict, usage.FormatBytes(s.Totals.Allocated), usage.GroupDigits(fmt.Sprint(s.Totals.Files)),
		s.Counters.Errors, usage.FormatDuration(s.Duration(s.Finished)))
	if err == nil && s.Reason != "" {
		_, err = fmt.Fprintln(w, s.Reason)
	}
	return err
}
