package server

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"fstally/internal/usage"
)

// metrics is what Prometheus scrapes: requests, the process, and the current
// scan of every file system, read from the store at each scrape, so that one
// that was removed is gone.
type metrics struct {
	http.Handler
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(s *site) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fstally_http_requests_total", Help: "Requests by route and status.",
		}, []string{"method", "route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "fstally_http_request_duration_seconds", Help: "Time to answer by route.",
			Buckets: []float64{.005, .01, .025, .05, .1, .2, .5, 1, 2.5, 10},
		}, []string{"route"}),
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.seconds, newScanCollector(s),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.Handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
	return m
}

// count records a request. Labels come from us: a route pattern, and one of the
// methods that there are.
func (m *metrics) count(method, route string, status int, took time.Duration) {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
	default:
		method = "other"
	}
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

// scanCollector tells of the current scans. Values are those of the scan, read
// when Prometheus asks.
type scanCollector struct {
	site *site

	started, duration, entries, files, allocated, failures, used, size, running *prometheus.Desc
}

func newScanCollector(s *site) *scanCollector {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("fstally_"+name, help, []string{"filesystem"}, nil)
	}
	return &scanCollector{
		site:      s,
		started:   desc("scan_start_timestamp_seconds", "When the current scan started."),
		duration:  desc("scan_duration_seconds", "How long the walk of the current scan took."),
		entries:   desc("scan_entries", "Names that the current scan read."),
		files:     desc("scan_files", "Regular files in the current scan."),
		allocated: desc("scan_allocated_bytes", "Bytes on disk found by the current scan."),
		failures:  desc("scan_errors", "What the current scan could not read."),
		used:      desc("filesystem_used_bytes", "Bytes in use by statfs when the current scan started."),
		size:      desc("filesystem_size_bytes", "Size of the file system when the current scan started."),
		running:   desc("scan_running", "1 while a scan is queued or running."),
	}
}

// Describe lists what Collect sends.
func (c *scanCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		c.started, c.duration, c.entries, c.files, c.allocated, c.failures, c.used, c.size, c.running,
	} {
		ch <- d
	}
}

// Collect reads the store. Where that fails there are no values: an alert on
// their absence fires.
func (c *scanCollector) Collect(ch chan<- prometheus.Metric) {
	// The interface has no context of the request.
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	all, err := c.site.Reader.FileSystems(ctx, usage.Everything())
	if err != nil {
		c.site.Logger.WarnContext(ctx, "metrics of file systems failed", "error", err)
		return
	}
	for _, fs := range all {
		if err := c.collect(ctx, ch, &fs); err != nil {
			c.site.Logger.WarnContext(ctx, "metrics of a file system failed", "filesystem", fs.Name, "error", err)
		}
	}
}

func (c *scanCollector) collect(ctx context.Context, ch chan<- prometheus.Metric, fs *usage.FileSystem) error {
	send := func(d *prometheus.Desc, v float64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, fs.Name)
	}
	newest, err := c.site.Reader.Scans(ctx, usage.Everything(), fs.ID, 1, 0)
	if err != nil {
		return err
	}
	running := 0.0
	if len(newest) > 0 && !newest[0].State.Ended() {
		running = 1
	}
	send(c.running, running)
	if fs.CurrentScanID == 0 {
		return nil
	}
	scan, err := c.site.Reader.Scan(ctx, usage.Everything(), fs.CurrentScanID)
	if err != nil {
		return err
	}
	send(c.started, float64(scan.Started.Unix()))
	send(c.duration, scan.Finished.Sub(scan.Started).Seconds())
	send(c.entries, float64(scan.Counters.Entries))
	send(c.files, float64(scan.Totals.Files))
	send(c.allocated, scan.Totals.Allocated.Float64())
	send(c.failures, float64(scan.Counters.Errors))
	if !scan.Capacity.Size.IsZero() {
		send(c.used, scan.Capacity.Used().Float64())
		send(c.size, scan.Capacity.Size.Float64())
	}
	return nil
}
