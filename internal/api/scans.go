package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"fstally/internal/usage"
)

type counters struct {
	Entries     int64 `json:"entries" doc:"Names read, the root included."`
	Links       int64 `json:"links" doc:"Names of regular files, however many inodes they have."`
	Directories int64 `json:"directories" doc:"Directories, the root included."`
	Symlinks    int64 `json:"symlinks" doc:"Names of symbolic links, which are never followed."`
	Specials    int64 `json:"specials" doc:"Names of FIFOs, sockets and devices."`
	Vanished    int64 `json:"vanished" doc:"Gone between listing and stat."`
	Errors      int64 `json:"errors" doc:"What could not be read."`
	Skipped     int64 `json:"skipped" doc:"What was left out on purpose."`
}

type capacity struct {
	Size        usage.Bytes `json:"size" doc:"Bytes of the whole file system."`
	Used        usage.Bytes `json:"used" doc:"Bytes in use, as df shows them: size less free."`
	Free        usage.Bytes `json:"free" doc:"Free bytes, what is reserved for root included."`
	Available   usage.Bytes `json:"available" doc:"Free bytes that ordinary users can have."`
	InodesTotal int64       `json:"inodes_total" doc:"Inodes that there can be; 0 where they are made as they are needed."`
	InodesFree  int64       `json:"inodes_free" doc:"Those of them that are not in use."`
	Source      string      `json:"source" doc:"What told it, such as statfs."`
}

type progress struct {
	Entries   int64       `json:"entries" doc:"Names read so far."`
	Allocated usage.Bytes `json:"allocated" doc:"Bytes on disk found so far."`
	Errors    int64       `json:"errors" doc:"What could not be read so far."`
	Directory string      `json:"directory" doc:"One that is being read, escaped."`
	Walkers   int         `json:"walkers" doc:"Directories that are read at the same time."`
	OpsLimit  int         `json:"ops_limit" doc:"Ceiling of file-system operations per second; 0 for none."`
	Phase     string      `json:"phase" doc:"walking, naming, writing or importing."`
	Stalled   bool        `json:"stalled" doc:"Whether the file system has not answered for a minute or more."`
	Answered  *time.Time  `json:"last_answer,omitempty" doc:"When it last answered; absent before and after the walk."`
	Blocked   []blocked   `json:"blocked" nullable:"false" doc:"What is waited for since 10 seconds or more, the longest first."`
}

type blocked struct {
	Directory string `json:"directory" doc:"The directory that does not answer, escaped; . for the root."`
	Op        string `json:"op" doc:"What was asked: open, readdir, stat, or read for one of the first two."`
	Seconds   int64  `json:"seconds" doc:"For how long so far."`
}

func newProgress(p *usage.Progress) *progress {
	body := &progress{
		Entries: p.Entries, Allocated: p.Allocated, Errors: p.Errors, Directory: p.Directory,
		Walkers: p.Walkers, OpsLimit: p.OpsLimit, Phase: p.Phase,
		Stalled: p.Stalled, Answered: timeOrNil(p.LastAnswer), Blocked: make([]blocked, len(p.Blocked)),
	}
	for i, b := range p.Blocked {
		body.Blocked[i] = blocked(b)
	}
	return body
}

// ScanBody is one scan, in any state.
type ScanBody struct {
	ID              int64      `json:"id" doc:"Number of the scan, growing with time."`
	FileSystemID    int64      `json:"filesystem_id" doc:"Number of the file system."`
	Origin          string     `json:"origin,omitempty" doc:"What asked for it: schedule, manual, command, import or push; absent where it was not recorded."`
	Occurrence      *time.Time `json:"occurrence,omitempty" doc:"When it was due; absent for results that were made elsewhere."`
	Attempt         int        `json:"attempt" doc:"Which attempt at the occurrence it is, 1 for the first."`
	NotBefore       *time.Time `json:"not_before,omitempty" doc:"When a queued one may begin; absent for at once."`
	State           string     `json:"state" doc:"queued, running, complete, failed, cancelled, interrupted, or skipped: an occurrence without a scan."`
	Verdict         string     `json:"verdict,omitempty" doc:"clean, partial, unverified or suspect; of complete scans."`
	Rejected        bool       `json:"rejected" doc:"Whether somebody looked at a suspect one and does not believe it."`
	Reason          string     `json:"reason,omitempty" doc:"Why it failed or was skipped, or why the verdict is not clean."`
	Day             string     `json:"day,omitempty" format:"date" doc:"Date of the start in the site's zone; absent before."`
	Queued          *time.Time `json:"queued,omitempty" doc:"When it was asked for."`
	Started         *time.Time `json:"started,omitempty" doc:"When the walk began; absent before."`
	Finished        *time.Time `json:"finished,omitempty" doc:"When the walk ended, well or not; absent before."`
	Published       *time.Time `json:"published,omitempty" doc:"When its numbers came to be shown; absent where they are not."`
	DurationSeconds int64      `json:"duration_seconds" doc:"Seconds of the walk, so far where it runs."`
	Root            string     `json:"root" doc:"Real path of the directory that was scanned, escaped."`
	Engine          string     `json:"engine" doc:"What read the directories, such as linux; empty before the start."`
	Host            string     `json:"host" doc:"Name of the host that scanned; empty before the start."`
	Progress        *progress  `json:"progress,omitempty" doc:"While it runs."`
	Totals          *Measures  `json:"totals,omitempty" doc:"Of complete scans."`
	Counters        *counters  `json:"counters,omitempty" doc:"Of complete scans."`
	Capacity        *capacity  `json:"capacity,omitempty" doc:"Of the file system when the scan started, where it is known."`
}

func (a *api) newScanBody(s *usage.Scan) ScanBody {
	b := ScanBody{
		ID: s.ID, FileSystemID: s.FileSystemID, Origin: string(s.Origin), Occurrence: timeOrNil(s.Occurrence),
		Attempt: s.Attempt, NotBefore: timeOrNil(s.NotBefore), State: string(s.State),
		Verdict: string(s.Verdict), Rejected: s.Rejected, Reason: s.Reason, Day: s.Day,
		Queued: timeOrNil(s.Queued), Started: timeOrNil(s.Started),
		Finished: timeOrNil(s.Finished), Published: timeOrNil(s.Published),
		DurationSeconds: int64(s.Duration(a.Clock()) / time.Second),
		Root:            usage.Escape(s.Root), Engine: usage.Escape(s.Engine), Host: usage.Escape(s.Host),
	}
	if s.State == usage.Running {
		b.Progress = newProgress(&s.Progress)
	}
	if s.State == usage.Complete {
		totals, c := newMeasures(s.Totals, s), counters(s.Counters)
		b.Totals, b.Counters = &totals, &c
	}
	if c := s.Capacity; !c.Size.IsZero() {
		b.Capacity = &capacity{
			Size: c.Size, Used: c.Used(), Free: c.Free, Available: c.Available,
			InodesTotal: c.InodesTotal, InodesFree: c.InodesFree, Source: c.Source,
		}
	}
	return b
}

type scansBody struct {
	FileSystem string     `json:"filesystem" doc:"Name of the file system."`
	Items      []ScanBody `json:"items" nullable:"false" doc:"Newest first."`
	Next       int64      `json:"next,omitempty" doc:"The before of the next page; absent on the last."`
}

func (b scansBody) columns() []string {
	columns := []string{"id", "day", "state", "verdict", "reason", "started", "duration_seconds", "entries", "errors"}
	return append(columns, measureColumns()...)
}

func (b scansBody) rows() [][]cell {
	rows := make([][]cell, len(b.Items))
	for i := range b.Items {
		s := &b.Items[i]
		var started, entries, failures cell
		sums := make([]cell, len(measureColumns()))
		if s.Started != nil {
			started = cell(s.Started.Format(timeFormat))
		}
		if s.Counters != nil {
			entries, failures, sums = number(s.Counters.Entries), number(s.Counters.Errors), s.Totals.cells()
		}
		rows[i] = append([]cell{
			number(s.ID), cell(s.Day), cell(s.State), cell(s.Verdict), text(s.Reason), started,
			number(s.DurationSeconds), entries, failures,
		}, sums...)
	}
	return rows
}

type scansOutput struct{ Body scansBody }

type scansInput struct {
	FSParam
	Limit  int   `query:"limit" default:"100" minimum:"1" maximum:"1000" doc:"Scans wanted."`
	Before int64 `query:"before" default:"0" minimum:"0" doc:"Only scans with a smaller id; 0 for the newest."`
	FormatParam
}

type scanError struct {
	Op      string   `json:"op" doc:"open, readdir or stat."`
	Errno   string   `json:"errno" doc:"Name of the error, such as EACCES."`
	Message string   `json:"message" doc:"The error in words."`
	Count   int64    `json:"count" doc:"How many times it was met."`
	Paths   []string `json:"paths" nullable:"false" doc:"Up to 100 of them, below the root, escaped."`
}

type skipped struct {
	Reason string   `json:"reason" doc:"Why, such as another mount or a snapshot directory."`
	Count  int64    `json:"count" doc:"How many entries were left out for it."`
	Paths  []string `json:"paths" nullable:"false" doc:"Up to 100 of them, below the root, escaped."`
}

type scanDetailBody struct {
	ScanBody
	Errors  []scanError `json:"errors" nullable:"false" doc:"What could not be read, by operation and error; vanished entries are no errors."`
	Skipped []skipped   `json:"skipped" nullable:"false" doc:"What was left out on purpose; what it holds is unknown."`
}

type scanDetailOutput struct{ Body scanDetailBody }

type scanIDInput struct {
	ID int64 `path:"id" minimum:"1" doc:"Id of a scan."`
}

type scanOutput struct{ Body ScanBody }

type acceptedOutput struct {
	Location string `header:"Location" doc:"Where the scan can be watched."`
	Body     ScanBody
}

func (a *api) registerScans() {
	register(a, operation{
		id: "list-scans", method: http.MethodGet, path: "/filesystems/{fs}/scans", list: true,
		errors: []int{http.StatusNotFound}, group: groupScans, summary: "The scans of a file system",
		description: "In any state, newest first. The next page is that with before set to next.",
		answer:      "One page of scans.",
	}, a.listScans)
	register(a, operation{
		id: "start-scan", method: http.MethodPost, path: "/filesystems/{fs}/scans", status: http.StatusAccepted,
		errors: []int{http.StatusNotFound, http.StatusConflict}, group: groupScans, summary: "Queue a scan",
		description: "It begins as soon as a worker is free. There is at most one queued or running scan of a file system.",
		answer:      "The queued scan; the header Location says where it can be watched.",
	}, a.startScan)
	register(a, operation{
		id: "scan", method: http.MethodGet, path: "/scans/{id}",
		errors: []int{http.StatusNotFound},
		group:  groupScans, summary: "One scan, and what it could not read or left out",
		description: "Of a running scan with its progress: ask again every few seconds to watch it.",
		answer:      "The scan in its present state.",
	}, a.scanDetail)
	register(a, operation{
		id: "cancel-scan", method: http.MethodPost, path: "/scans/{id}/cancel", status: http.StatusAccepted,
		errors: []int{http.StatusNotFound, http.StatusConflict}, group: groupScans, summary: "Stop a scan",
		description: "Of a queued or running scan. What it has read so far is not kept.",
		answer:      "The scan, which is cancelled or about to be.",
	}, a.cancelScan)
	register(a, operation{
		id: "accept-scan", method: http.MethodPost, path: "/scans/{id}/accept",
		errors: []int{http.StatusNotFound, http.StatusConflict}, group: groupScans, summary: "Believe a suspect scan",
		description: "After a look that what it found is right. It is published then: it counts in the history, and is " +
			"the latest scan if no newer one is published. A scan of a part is not accepted.",
		answer: "The scan, which is clean or partial now.",
	}, a.acceptScan)
	register(a, operation{
		id: "reject-scan", method: http.MethodPost, path: "/scans/{id}/reject",
		errors: []int{http.StatusNotFound, http.StatusConflict}, group: groupScans, summary: "Do not believe a suspect scan",
		description: "After a look that what it found is wrong. It stays a gap in the history, and no later scan is " +
			"believed because it found the same. It can still be accepted.",
		answer: "The scan, which is suspect and rejected.",
	}, a.rejectScan)
}

func (a *api) rejectScan(ctx context.Context, in *scanIDInput) (*scanOutput, error) {
	scan, err := a.Scans.RejectScan(ctx, a.Scope(ctx), in.ID)
	if errors.Is(err, usage.ErrNotFound) {
		return nil, noScan(in.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("reject scan %d: %w", in.ID, err)
	}
	a.Logger.LogAttrs(ctx, slog.LevelInfo, "scan rejected", ids(&scan)...)
	return &scanOutput{Body: a.newScanBody(&scan)}, nil
}

func (a *api) acceptScan(ctx context.Context, in *scanIDInput) (*scanOutput, error) {
	scan, err := a.Scans.AcceptScan(ctx, a.Scope(ctx), in.ID)
	if errors.Is(err, usage.ErrNotFound) {
		return nil, noScan(in.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("accept scan %d: %w", in.ID, err)
	}
	a.Logger.LogAttrs(ctx, slog.LevelInfo, "scan accepted", ids(&scan)...)
	return &scanOutput{Body: a.newScanBody(&scan)}, nil
}

func (a *api) listScans(ctx context.Context, in *scansInput) (*scansOutput, error) {
	fs, err := a.fileSystem(ctx, in.FS)
	if err != nil {
		return nil, err
	}
	scans, err := a.Reader.Scans(ctx, a.Scope(ctx), fs.ID, in.Limit, in.Before)
	if err != nil {
		return nil, fmt.Errorf("list scans of %s: %w", fs.Name, err)
	}
	body := scansBody{FileSystem: fs.Name, Items: make([]ScanBody, 0, len(scans))}
	for i := range scans {
		body.Items = append(body.Items, a.newScanBody(&scans[i]))
	}
	if len(scans) == in.Limit {
		body.Next = scans[len(scans)-1].ID
	}
	return &scansOutput{Body: body}, nil
}

func (a *api) startScan(ctx context.Context, in *FSParam) (*acceptedOutput, error) {
	fs, err := a.fileSystem(ctx, in.FS)
	if err != nil {
		return nil, err
	}
	scan, err := a.Scans.QueueScan(ctx, fs.ID)
	if err != nil {
		return nil, fmt.Errorf("queue a scan of %s: %w", fs.Name, err)
	}
	a.Logger.LogAttrs(ctx, slog.LevelInfo, "scan queued", ids(&scan)...)
	return a.accepted(&scan), nil
}

func (a *api) cancelScan(ctx context.Context, in *scanIDInput) (*acceptedOutput, error) {
	scan, err := a.Scans.CancelScan(ctx, a.Scope(ctx), in.ID)
	if errors.Is(err, usage.ErrNotFound) {
		return nil, noScan(in.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("cancel scan %d: %w", in.ID, err)
	}
	a.Logger.LogAttrs(ctx, slog.LevelInfo, "scan cancelled", ids(&scan)...)
	return a.accepted(&scan), nil
}

// ids are what the log tells of a scan.
func ids(scan *usage.Scan) []slog.Attr {
	return []slog.Attr{slog.Int64("scan", scan.ID), slog.Int64("filesystem_id", scan.FileSystemID)}
}

func (a *api) accepted(scan *usage.Scan) *acceptedOutput {
	return &acceptedOutput{
		Location: fmt.Sprintf("%s%s/scans/%d", a.Base, Prefix, scan.ID),
		Body:     a.newScanBody(scan),
	}
}

func (a *api) scanDetail(ctx context.Context, in *scanIDInput) (*scanDetailOutput, error) {
	scan, err := a.Reader.Scan(ctx, a.Scope(ctx), in.ID)
	if errors.Is(err, usage.ErrNotFound) {
		return nil, noScan(in.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("find scan %d: %w", in.ID, err)
	}
	failures, left, err := a.Reader.ScanProblems(ctx, a.Scope(ctx), in.ID)
	if err != nil {
		return nil, fmt.Errorf("problems of scan %d: %w", in.ID, err)
	}
	body := scanDetailBody{ScanBody: a.newScanBody(&scan), Errors: []scanError{}, Skipped: []skipped{}}
	for _, e := range failures {
		body.Errors = append(body.Errors, scanError{
			Op: usage.Escape(e.Op), Errno: usage.Escape(e.Errno), Message: usage.Escape(e.Message),
			Count: e.Count, Paths: escapeAll(e.Paths),
		})
	}
	for _, s := range left {
		body.Skipped = append(body.Skipped, skipped{
			Reason: usage.Escape(string(s.Reason)), Count: s.Count, Paths: escapeAll(s.Paths),
		})
	}
	return &scanDetailOutput{Body: body}, nil
}

func noScan(id int64) error {
	return notFound("path.id", strconv.FormatInt(id, 10), fmt.Sprintf("There is no scan %d.", id))
}

func escapeAll(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = usage.Escape(p)
	}
	return out
}
