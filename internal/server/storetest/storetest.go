// Package storetest is a store in memory for the tests of pages and the API: it
// answers as package postgres does, from cells that a test lists, and can be
// told to fail.
package storetest

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"time"

	"fstally/internal/usage"
)

// Store is a store in memory. Tests set its fields before the first request.
type Store struct {
	Systems  []usage.FileSystem
	AllScans []usage.Scan // by id
	Content  map[int64]*usage.Summary
	Users    map[uint32]string // raw names
	Groups   map[uint32]string
	Named    map[string]string // raw name of a fileset by its raw path
	Plans    []usage.Schedule
	Kept     usage.Retention
	// Err is returned by every method.
	Err error

	// Queued and Cancelled record what was asked for.
	Queued, Cancelled []int64
}

// BusyError is the error of QueueScan while a scan runs.
type BusyError int64

func (b BusyError) Error() string { return fmt.Sprintf("scan %d is running", int64(b)) }

// Conflict reports true.
func (b BusyError) Conflict() bool { return true }

// BusyScan returns the scan in the way.
func (b BusyError) BusyScan() int64 { return int64(b) }

// EndedError is the error of CancelScan for a scan that has ended.
type EndedError struct{}

func (EndedError) Error() string { return "the scan has ended" }

// Conflict reports true.
func (EndedError) Conflict() bool { return true }

// Ready reports the store as usable.
func (s *Store) Ready(context.Context) error { return s.Err }

// FileSystems lists those in the scope, by name.
func (s *Store) FileSystems(_ context.Context, scope usage.Scope) ([]usage.FileSystem, error) {
	var seen []usage.FileSystem
	for _, fs := range s.Systems {
		if scope.Sees(fs.ID) {
			seen = append(seen, fs)
		}
	}
	slices.SortFunc(seen, func(a, b usage.FileSystem) int { return cmp.Compare(a.Name, b.Name) })
	return seen, s.Err
}

// FileSystem finds one by name or id.
func (s *Store) FileSystem(ctx context.Context, scope usage.Scope, nameOrID string) (usage.FileSystem, error) {
	all, err := s.FileSystems(ctx, scope)
	for _, fs := range all {
		if fs.Name == nameOrID || strconv.FormatInt(fs.ID, 10) == nameOrID {
			return fs, err
		}
	}
	return usage.FileSystem{}, cmp.Or(err, usage.ErrNotFound)
}

// Scans lists scans, newest first.
func (s *Store) Scans(_ context.Context, scope usage.Scope, fsID int64, limit int, before int64) ([]usage.Scan, error) {
	var out []usage.Scan
	for _, scan := range slices.Backward(s.AllScans) {
		if scan.FileSystemID == fsID && scope.Sees(fsID) && (before == 0 || scan.ID < before) && len(out) < limit {
			out = append(out, scan)
		}
	}
	return out, s.Err
}

// Scan finds one.
func (s *Store) Scan(_ context.Context, scope usage.Scope, id int64) (usage.Scan, error) {
	for _, scan := range s.AllScans {
		if scan.ID == id && scope.Sees(scan.FileSystemID) {
			return scan, s.Err
		}
	}
	return usage.Scan{}, cmp.Or(s.Err, usage.ErrNotFound)
}

// published lists what is in the history of a file system, oldest first.
func (s *Store) published(scope usage.Scope, fsID int64) []usage.Scan {
	var out []usage.Scan
	for _, scan := range s.AllScans {
		if scan.FileSystemID == fsID && scope.Sees(fsID) &&
			scan.State == usage.Complete && scan.Verdict != usage.Suspect {
			out = append(out, scan)
		}
	}
	return out
}

// Neighbours finds the published scans before and after one.
func (s *Store) Neighbours(_ context.Context, scope usage.Scope, of usage.Scan) (previous, next int64, err error) {
	for _, scan := range s.published(scope, of.FileSystemID) {
		switch {
		case scan.ID < of.ID:
			previous = scan.ID
		case scan.ID > of.ID && next == 0:
			next = scan.ID
		}
	}
	return previous, next, s.Err
}

// Attempts finds those at the occurrence of a scan.
func (s *Store) Attempts(_ context.Context, scope usage.Scope, of usage.Scan) ([]usage.Scan, error) {
	var out []usage.Scan
	for _, scan := range s.AllScans {
		if scan.FileSystemID == of.FileSystemID && scope.Sees(scan.FileSystemID) &&
			!of.Occurrence.IsZero() && scan.Occurrence.Equal(of.Occurrence) {
			out = append(out, scan)
		}
	}
	return out, s.Err
}

// ScanBefore finds the latest published scan that started at or before t.
func (s *Store) ScanBefore(_ context.Context, scope usage.Scope, fsID int64, t time.Time) (usage.Scan, error) {
	for _, scan := range slices.Backward(s.published(scope, fsID)) {
		if !scan.Started.After(t) {
			return scan, s.Err
		}
	}
	return usage.Scan{}, cmp.Or(s.Err, usage.ErrNotFound)
}

// ScanProblems returns those of the scan's summary.
func (s *Store) ScanProblems(
	_ context.Context, _ usage.Scope, id int64,
) ([]usage.ScanError, []usage.Skipped, error) {
	if sum := s.Content[id]; sum != nil {
		return sum.Errors, sum.Skipped, s.Err
	}
	return nil, nil, s.Err
}

// Usage sums the cells that pass the filter.
func (s *Store) Usage(ctx context.Context, scope usage.Scope, q usage.Query) (usage.Table, error) {
	if scan, err := s.Scan(ctx, scope, q.ScanID); err == nil && scan.Thinned && !q.Filter.IsZero() {
		return usage.Table{}, usage.ErrThinned
	}
	rows := s.rows(q.ScanID, q.GroupBy, q.Filter)
	slices.SortFunc(rows, q.By.Compare)
	if q.GrownSince != 0 {
		was := map[string]usage.Measures{}
		for _, row := range s.rows(q.GrownSince, q.GroupBy, usage.Filter{}) {
			was[row.Key] = row.Measures
		}
		grown := func(r usage.Row) *big.Int {
			return new(big.Int).Sub(q.By.Of(r.Measures).Big(), q.By.Of(was[r.Key]).Big())
		}
		slices.SortStableFunc(rows, func(a, b usage.Row) int { return grown(b).Cmp(grown(a)) })
	}
	table := usage.Table{Count: int64(len(rows))}
	for _, row := range rows {
		table.Total.Add(row.Measures)
	}
	from := min(q.Offset, len(rows))
	table.Rows = rows[from:min(from+q.Limit, len(rows))]
	return table, s.Err
}

func (s *Store) rows(scanID int64, d usage.Dimension, filter usage.Filter) []usage.Row {
	sum := s.Content[scanID]
	if sum == nil {
		return nil
	}
	kept := *sum
	kept.Cells = slices.DeleteFunc(slices.Clone(sum.Cells), func(c usage.Cell) bool {
		return !s.passes(sum, &c, filter)
	})
	var rows []usage.Row
	for value, m := range kept.Marginal(d) {
		rows = append(rows, s.row(scanID, d, value, m))
	}
	return rows
}

func (s *Store) passes(sum *usage.Summary, c *usage.Cell, f usage.Filter) bool {
	text := func(want *string, d usage.Dimension) bool {
		return want == nil || *want == s.row(0, d, sum.Value(c, d), usage.Measures{}).Key
	}
	return (f.User == nil || *f.User == c.UID) && (f.Group == nil || *f.Group == c.GID) &&
		(f.Pool == nil || *f.Pool == c.Pool) && (f.SizeClass == nil || *f.SizeClass == c.SizeClass) &&
		(f.AgeClass == nil || *f.AgeClass == c.AgeClass) &&
		text(f.Type, usage.Type) && text(f.Category, usage.Category) && text(f.Fileset, usage.Fileset)
}

func (s *Store) row(scanID int64, d usage.Dimension, v usage.Value, m usage.Measures) usage.Row {
	number := strconv.FormatUint(uint64(v.ID), 10)
	row := usage.Row{ID: int64(v.ID), Key: number, Name: number, Measures: m}
	switch d {
	case usage.User:
		row.Name = cmp.Or(usage.Escape(s.Users[v.ID]), number)
	case usage.Group:
		row.Name = cmp.Or(usage.Escape(s.Groups[v.ID]), number)
	case usage.Type, usage.Category:
		row.Key, row.Name = v.Text, v.Text
	case usage.Fileset:
		row.Key = usage.EscapeKey(v.Text)
		row.Name = row.Key
		if name := s.Named[v.Text]; name != "" {
			row.Name = usage.Escape(name)
		}
	case usage.SizeClassDim:
		classes := usage.DefaultSizeClasses()
		if i := slices.IndexFunc(s.AllScans, func(x usage.Scan) bool { return x.ID == scanID }); i >= 0 {
			classes = s.AllScans[i].SizeClasses
		}
		row.Key, row.Name = classes.Key(usage.SizeClass(v.ID)), classes.Label(usage.SizeClass(v.ID))
	case usage.AgeClassDim:
		row.Key, row.Name = usage.AgeClass(v.ID).Key(), usage.AgeClass(v.ID).Label()
	case usage.Pool:
	}
	return row
}

// UsageOf returns the values of some keys; those of absent keys are 0.
func (s *Store) UsageOf(
	_ context.Context, _ usage.Scope, scanID int64, d usage.Dimension, keys []string,
) (map[string]usage.Measures, error) {
	out := make(map[string]usage.Measures, len(keys))
	for _, key := range keys {
		out[key] = usage.Measures{}
	}
	for _, row := range s.rows(scanID, d, usage.Filter{}) {
		if slices.Contains(keys, row.Key) {
			out[row.Key] = row.Measures
		}
	}
	return out, s.Err
}

// HistoryDays lists the points of History.
func (s *Store) HistoryDays(
	_ context.Context, scope usage.Scope, q usage.HistoryQuery,
) ([]usage.HistoryDay, error) {
	var days []usage.HistoryDay
	for _, scan := range s.days(scope, q) {
		days = append(days, usage.HistoryDay{ScanID: scan.ID, Day: scan.Day, Started: scan.Started})
	}
	return days, s.Err
}

// days lists the latest published scan of each day.
func (s *Store) days(scope usage.Scope, q usage.HistoryQuery) []usage.Scan {
	var days []usage.Scan
	for _, scan := range s.published(scope, q.FileSystemID) {
		if scan.Day < q.From || q.To != "" && scan.Day >= q.To {
			continue
		}
		if n := len(days); n > 0 && days[n-1].Day == scan.Day {
			days = days[:n-1]
		}
		days = append(days, scan)
	}
	return days
}

// EverHad looks through all published scans.
func (s *Store) EverHad(
	_ context.Context, scope usage.Scope, fileSystemID int64, d usage.Dimension, key string,
) (bool, error) {
	for _, scan := range s.published(scope, fileSystemID) {
		for _, row := range s.rows(scan.ID, d, usage.Filter{}) {
			if row.Key == key && !row.IsZero() {
				return true, s.Err
			}
		}
	}
	return false, s.Err
}

// History returns a point for each day with a published scan.
func (s *Store) History(_ context.Context, scope usage.Scope, q usage.HistoryQuery) (usage.History, error) {
	var h usage.History
	for _, scan := range s.days(scope, q) {
		if q.Scans == nil || slices.Contains(q.Scans, scan.ID) {
			h.Points = append(h.Points, usage.Point{Scan: scan, Total: scan.Totals})
		}
	}
	if q.GroupBy == "" || len(h.Points) == 0 {
		return h, s.Err
	}
	h.Series = s.series(h.Points, q)
	for i := range h.Points {
		p := &h.Points[i]
		for _, series := range h.Series {
			var m usage.Measures
			for _, row := range s.rows(p.Scan.ID, q.GroupBy, usage.Filter{}) {
				if row.Key == series.Key {
					m = row.Measures
				}
			}
			p.Rows = append(p.Rows, &m)
		}
	}
	return h, s.Err
}

// series returns the rows of the newest point that are asked for: by key, those
// that some point has, or else the largest.
func (s *Store) series(points []usage.Point, q usage.HistoryQuery) []usage.Row {
	newest := s.rows(points[len(points)-1].Scan.ID, q.GroupBy, usage.Filter{})
	if len(q.Keys) == 0 {
		slices.SortFunc(newest, q.By.Compare)
		return newest[:min(q.Top, len(newest))]
	}
	var series []usage.Row
	for _, key := range q.Keys {
		is := func(row usage.Row) bool { return row.Key == key }
		if i := slices.IndexFunc(newest, is); i >= 0 {
			series = append(series, newest[i])
			continue
		}
		for _, p := range slices.Backward(points) {
			rows := s.rows(p.Scan.ID, q.GroupBy, usage.Filter{})
			if i := slices.IndexFunc(rows, is); i >= 0 {
				rows[i].Measures = usage.Measures{}
				series = append(series, rows[i])
				break
			}
		}
	}
	return series
}

// SizeHistogram folds the size cells of the users or of one type.
func (s *Store) SizeHistogram(
	_ context.Context, _ usage.Scope, scanID int64, by usage.Measure, typ *string,
) ([]usage.BucketRow, error) {
	sums := map[usage.SizeBucket]usage.BucketRow{}
	if sum := s.Content[scanID]; sum != nil {
		for _, c := range sum.Sizes {
			if c.By != by || typ == nil && c.Dimension != usage.User ||
				typ != nil && (c.Dimension != usage.Type || c.Value.Text != *typ) {
				continue
			}
			row := sums[c.Bucket]
			row.Bucket = c.Bucket
			row.Files += c.Files
			row.Size = row.Size.Add(c.Size)
			row.Allocated = row.Allocated.Add(c.Allocated)
			sums[c.Bucket] = row
		}
	}
	var rows []usage.BucketRow
	for _, row := range sums {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b usage.BucketRow) int { return cmp.Compare(a.Bucket, b.Bucket) })
	return rows, s.Err
}

// QueueScan adds a queued scan, unless one is under way.
func (s *Store) QueueScan(_ context.Context, fsID int64) (usage.Scan, error) {
	id := int64(1)
	for _, scan := range s.AllScans {
		if scan.FileSystemID == fsID && !scan.State.Ended() {
			return scan, BusyError(scan.ID)
		}
		id = max(id, scan.ID+1)
	}
	scan := usage.Scan{ID: id, FileSystemID: fsID, Attempt: 1, State: usage.Queued}
	s.AllScans = append(s.AllScans, scan)
	s.Queued = append(s.Queued, fsID)
	return scan, s.Err
}

// CancelScan ends a scan.
func (s *Store) CancelScan(ctx context.Context, scope usage.Scope, id int64) (usage.Scan, error) {
	scan, err := s.Scan(ctx, scope, id)
	if err != nil {
		return scan, err
	}
	if scan.State.Ended() {
		return scan, EndedError{}
	}
	s.Cancelled = append(s.Cancelled, id)
	for i := range s.AllScans {
		if s.AllScans[i].ID == id {
			s.AllScans[i].State = usage.Cancelled
			scan = s.AllScans[i]
		}
	}
	return scan, nil
}

// AcceptScan publishes a suspect scan.
func (s *Store) AcceptScan(ctx context.Context, scope usage.Scope, id int64) (usage.Scan, error) {
	scan, err := s.Scan(ctx, scope, id)
	if err != nil {
		return scan, err
	}
	if scan.Verdict != usage.Suspect {
		return scan, EndedError{}
	}
	for i := range s.AllScans {
		if s.AllScans[i].ID == id {
			s.AllScans[i].Verdict, s.AllScans[i].Published = usage.Clean, s.AllScans[i].Finished
			scan = s.AllScans[i]
		}
	}
	return scan, nil
}
