package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"fstally/internal/schedule"
	"fstally/internal/usage"
)

// collectTimeout bounds a scrape; Prometheus waits for 10 seconds by default.
const collectTimeout = 8 * time.Second

// collector tells of scans, schedules, the queue and the spool. Values are read when
// Prometheus asks, so that what was removed is gone. Labels are names of file systems
// and words of fixed sets. What cannot be read is not there, and counted in errors.
type collector struct {
	site  *site
	descs []*prometheus.Desc

	// Of the site.
	databaseUp, errors, queue, retention, spoolFiles, spoolBytes *prometheus.Desc
	// Of the scan that pages show.
	started, duration, entries, rate, files, allocated, failures, used, size *prometheus.Desc
	// Of the newest scan, whatever became of it.
	running, state, verdict, attempt, newestStarted *prometheus.Desc
	// Of a scan that runs.
	soFar, rateSoFar, stalled, lastAnswer *prometheus.Desc
	// Of schedules.
	enabled, next, skipped *prometheus.Desc
}

func newCollector(s *site) *collector {
	c := &collector{site: s}
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		d := prometheus.NewDesc("fstally_"+name, help, labels, nil)
		c.descs = append(c.descs, d)
		return d
	}
	of := func(name, help string, labels ...string) *prometheus.Desc {
		return desc(name, help, append([]string{"filesystem"}, labels...)...)
	}
	c.databaseUp = desc("database_up", "1 if the database has answered this scrape.")
	c.errors = desc("collect_errors", "Parts of this answer that could not be read, and so are not there.")
	c.queue = desc("queue_scans", "Scans that wait and that run.", "state")
	c.retention = desc("retention_seconds", "How long details of scans are kept; 0 for ever.", "tier")
	c.spoolFiles = desc("spool_files", "Results that wait to be imported.")
	c.spoolBytes = desc("spool_bytes", "Their size.")

	c.started = of("scan_start_timestamp_seconds", "When the current scan, which pages show, started.")
	c.duration = of("scan_duration_seconds", "How long the walk of the current scan took.")
	c.entries = of("scan_entries", "Names that the current scan read.")
	c.rate = of("scan_entries_per_second", "Names that the current scan read per second.")
	c.files = of("scan_files", "Regular files in the current scan.")
	c.allocated = of("scan_allocated_bytes", "Bytes on disk found by the current scan.")
	c.failures = of("scan_errors", "What the current scan could not read.")
	c.used = of("filesystem_used_bytes", "Bytes in use by statfs when the current scan started.")
	c.size = of("filesystem_size_bytes", "Size of the file system when the current scan started.")

	c.running = of("scan_running", "1 while a scan is queued or running.")
	c.state = of("newest_scan_state", "1 for the state of the newest scan.", "state")
	c.verdict = of("newest_scan_verdict", "1 for the verdict of the newest scan, if it is complete.", "verdict")
	c.attempt = of("newest_scan_attempt", "Which attempt at its occurrence the newest scan is.")
	c.newestStarted = of("newest_scan_start_timestamp_seconds", "When the newest scan started, good or not.")

	c.soFar = of("running_scan_entries", "Names that the running scan has read so far.")
	c.rateSoFar = of("running_scan_entries_per_second", "Names that it has read per second so far.")
	c.stalled = of("running_scan_stalled", "1 if the file system has not answered it for a minute.")
	c.lastAnswer = of("running_scan_last_answer_timestamp_seconds", "When the file system last answered it.")

	c.enabled = of("schedule_enabled", "1 if the file system is scanned by its schedule.")
	c.next = of("schedule_next_timestamp_seconds", "The next occurrence; in the past if nothing runs it.")
	c.skipped = of("skipped_occurrences", "Occurrences of the last 7 days that became no scan.")
	return c
}

// Describe lists what Collect sends.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		ch <- d
	}
}

// scrape is one answer.
type scrape struct {
	*collector
	ch     chan<- prometheus.Metric
	now    time.Time
	errors int
}

func (s *scrape) send(d *prometheus.Desc, v float64, labels ...string) {
	s.ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

// sendOneOf sends 1 for the word that holds, and 0 for the others of its set.
func sendOneOf[T ~string](s *scrape, d *prometheus.Desc, name string, is T, set ...T) {
	for _, word := range set {
		s.send(d, oneIf(word == is), name, string(word))
	}
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// failed notes what is missing in the answer.
func (s *scrape) failed(ctx context.Context, err error, attrs ...slog.Attr) {
	s.errors++
	s.site.Logger.LogAttrs(ctx, slog.LevelWarn, "metrics are incomplete", append(attrs, slog.Any("error", err))...)
}

// Collect reads the store.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	// The interface has no context of the request.
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	s := &scrape{collector: c, ch: ch, now: c.site.Clock()}
	systems, err := c.site.Reader.FileSystems(ctx, usage.Everything())
	s.send(c.databaseUp, oneIf(err == nil))
	if err != nil {
		s.failed(ctx, err)
	} else {
		s.ofSite(ctx)
		of, err := c.site.schedulesOf(ctx, usage.Everything())
		if err != nil {
			s.failed(ctx, err)
		}
		for _, fs := range systems {
			if plan, ok := of[fs.ID]; ok {
				s.ofSchedule(&fs, plan)
			}
			if err := s.ofFileSystem(ctx, &fs); err != nil {
				s.failed(ctx, err, slog.String("filesystem", fs.Name), slog.Int64("filesystem_id", fs.ID))
			}
		}
	}
	if c.site.SpoolSize != nil {
		files, bytes, err := c.site.SpoolSize()
		if err != nil {
			s.failed(ctx, err)
		} else {
			s.send(c.spoolFiles, float64(files))
			s.send(c.spoolBytes, float64(bytes))
		}
	}
	s.send(c.errors, float64(s.errors))
}

// ofSite tells what is there once.
func (s *scrape) ofSite(ctx context.Context) {
	queued, running, err := s.site.Reader.QueueDepth(ctx)
	if err != nil {
		s.failed(ctx, err)
	} else {
		s.send(s.queue, float64(queued), string(usage.Queued))
		s.send(s.queue, float64(running), string(usage.Running))
	}
	kept, err := s.site.Reader.Retention(ctx)
	if err != nil {
		s.failed(ctx, err)
		return
	}
	const day = 24 * 60 * 60
	s.send(s.retention, float64(kept.NightlyDays*day), "nightly")
	s.send(s.retention, float64(kept.WeeklyDays*day), "weekly")
	s.send(s.retention, float64(kept.MonthlyDays*day), "monthly")
}

func (s *scrape) ofSchedule(fs *usage.FileSystem, plan usage.Schedule) {
	s.send(s.enabled, oneIf(plan.Enabled), fs.Name)
	if !plan.Enabled {
		return
	}
	next := plan.NextRun // as the dispatcher knows it, also where it is overdue
	if parsed, err := schedule.New(plan); next.IsZero() && err == nil {
		for _, t := range parsed.Upcoming(s.now, 1) {
			next = t
		}
	}
	if !next.IsZero() {
		s.send(s.next, float64(next.Unix()), fs.Name)
	}
}

func (s *scrape) ofFileSystem(ctx context.Context, fs *usage.FileSystem) error {
	recent, err := s.recentScans(ctx, fs.ID)
	if err != nil {
		return err
	}
	s.send(s.skipped, float64(recent.skipped), fs.Name)
	s.send(s.running, oneIf(recent.newest != nil && !recent.newest.State.Ended()), fs.Name)
	if recent.newest != nil {
		s.ofNewest(fs, recent.newest)
	}
	if fs.CurrentScanID == 0 {
		return nil
	}
	scan, ok := recent.byID[fs.CurrentScanID]
	if !ok {
		if scan, err = s.site.Reader.Scan(ctx, usage.Everything(), fs.CurrentScanID); err != nil {
			return err
		}
	}
	took := scan.Finished.Sub(scan.Started).Seconds()
	s.send(s.started, float64(scan.Started.Unix()), fs.Name)
	s.send(s.duration, took, fs.Name)
	s.send(s.entries, float64(scan.Counters.Entries), fs.Name)
	if took > 0 {
		s.send(s.rate, float64(scan.Counters.Entries)/took, fs.Name)
	}
	s.send(s.files, float64(scan.Totals.Files), fs.Name)
	s.send(s.allocated, scan.Totals.Allocated.Float64(), fs.Name)
	s.send(s.failures, float64(scan.Counters.Errors), fs.Name)
	if !scan.Capacity.Size.IsZero() {
		s.send(s.used, scan.Capacity.Used().Float64(), fs.Name)
		s.send(s.size, scan.Capacity.Size.Float64(), fs.Name)
	}
	return nil
}

func (s *scrape) ofNewest(fs *usage.FileSystem, scan *usage.Scan) {
	sendOneOf(s, s.state, fs.Name, scan.State,
		usage.Queued, usage.Running, usage.Complete, usage.Failed, usage.Cancelled, usage.Interrupted)
	sendOneOf(s, s.verdict, fs.Name, scan.Verdict, usage.Clean, usage.Partial, usage.Unverified, usage.Suspect)
	s.send(s.attempt, float64(scan.Attempt), fs.Name)
	if !scan.Started.IsZero() {
		s.send(s.newestStarted, float64(scan.Started.Unix()), fs.Name)
	}
	if scan.State != usage.Running {
		return
	}
	s.send(s.soFar, float64(scan.Progress.Entries), fs.Name)
	if took := scan.Duration(s.now).Seconds(); took > 0 {
		s.send(s.rateSoFar, float64(scan.Progress.Entries)/took, fs.Name)
	}
	s.send(s.stalled, oneIf(scan.Progress.Stalled), fs.Name)
	if !scan.Progress.LastAnswer.IsZero() {
		s.send(s.lastAnswer, float64(scan.Progress.LastAnswer.Unix()), fs.Name)
	}
}

// recent is what is known of the scans of a file system in the last days.
type recent struct {
	newest  *usage.Scan // the one under way, else the newest that was one; nil for none
	skipped int         // occurrences without a scan
	byID    map[int64]usage.Scan
}

const (
	recentDays = 7
	// recentPage is a week of nights with some attempts: most often one page is read.
	recentPage = 16
	// recentPages bounds what is read of a file system that is scanned every hour, or
	// where nothing but skipped occurrences is found.
	recentPages = 32
)

// recentScans reads the scans of the last days, and older ones until it has found one.
func (s *scrape) recentScans(ctx context.Context, fileSystemID int64) (r recent, err error) {
	since := s.now.AddDate(0, 0, -recentDays)
	r.byID = make(map[int64]usage.Scan)
	before := int64(0)
	for range recentPages {
		page, err := s.site.Reader.Scans(ctx, usage.Everything(), fileSystemID, recentPage, before)
		if err != nil {
			return r, err
		}
		old := false
		for _, scan := range page {
			before, old = scan.ID, scan.Queued.Before(since)
			switch {
			case scan.State == usage.NotRun && !old:
				r.skipped++
			case scan.State == usage.NotRun:
			case r.newest == nil, !scan.State.Ended() && r.newest.State.Ended():
				r.newest = &scan
				r.byID[scan.ID] = scan
			default:
				r.byID[scan.ID] = scan
			}
		}
		if len(page) < recentPage || old && r.newest != nil {
			break
		}
	}
	return r, nil
}
