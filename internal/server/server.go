package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"fstally/internal/usage"
)

// Reader is what the pages read. Every method that takes a scope answers
// usage.ErrNotFound for what does not exist or lies outside of it.
type Reader interface {
	// Ready reports whether the store answers, usage.ErrUnavailable if not, and whether
	// this program can use it.
	Ready(ctx context.Context) error
	FileSystems(ctx context.Context, scope usage.Scope) ([]usage.FileSystem, error)
	FileSystem(ctx context.Context, scope usage.Scope, nameOrID string) (usage.FileSystem, error)
	Scans(ctx context.Context, scope usage.Scope, fileSystemID int64, limit int, beforeID int64) ([]usage.Scan, error)
	Scan(ctx context.Context, scope usage.Scope, id int64) (usage.Scan, error)
	Neighbours(ctx context.Context, scope usage.Scope, scan usage.Scan) (previous, next int64, err error)
	Attempts(ctx context.Context, scope usage.Scope, scan usage.Scan) ([]usage.Scan, error)
	ScanBefore(ctx context.Context, scope usage.Scope, fileSystemID int64, t time.Time) (usage.Scan, error)
	Schedules(ctx context.Context, scope usage.Scope) ([]usage.Schedule, error)
	Retention(ctx context.Context) (usage.Retention, error)
	QueueDepth(ctx context.Context) (queued, running int64, err error)
	ScanProblems(ctx context.Context, scope usage.Scope, scanID int64) ([]usage.ScanError, []usage.Skipped, error)
	Usage(ctx context.Context, scope usage.Scope, q usage.Query) (usage.Table, error)
	UsageOf(
		ctx context.Context, scope usage.Scope, scanID int64, d usage.Dimension, keys []string,
	) (map[string]usage.Measures, error)
	History(ctx context.Context, scope usage.Scope, q usage.HistoryQuery) (usage.History, error)
	HistoryDays(ctx context.Context, scope usage.Scope, q usage.HistoryQuery) ([]usage.HistoryDay, error)
	EverHad(ctx context.Context, scope usage.Scope, fileSystemID int64, d usage.Dimension, key string) (bool, error)
	SizeHistogram(
		ctx context.Context, scope usage.Scope, scanID int64, by usage.Measure, typ *string,
	) ([]usage.BucketRow, error)
}

// Scans starts and stops scans, and sets what is scanned, when and how. An error that
// has a method Conflict() bool says that this does not fit the state of things; one that
// has BusyScan() int64, that a scan of the file system is queued or running already.
type Scans interface {
	QueueScan(ctx context.Context, fileSystemID int64) (usage.Scan, error)
	CancelScan(ctx context.Context, scope usage.Scope, scanID int64) (usage.Scan, error)
	AcceptScan(ctx context.Context, scope usage.Scope, scanID int64) (usage.Scan, error)
	RejectScan(ctx context.Context, scope usage.Scope, scanID int64) (usage.Scan, error)

	AddFileSystem(ctx context.Context, fs usage.FileSystem) (usage.FileSystem, error)
	UpdateFileSystem(ctx context.Context, fs usage.FileSystem) error
	RemoveFileSystem(ctx context.Context, id int64) error
	SetSchedule(ctx context.Context, schedule usage.Schedule) error
	RemoveSchedule(ctx context.Context, fileSystemID int64) error
	SetRetention(ctx context.Context, r usage.Retention) error
}

// Config is what the site is made of.
type Config struct {
	Reader Reader
	Scans  Scans
	// API is package api's, with Scope as its own.
	API API
	// Token opens the site. One of less than 16 characters is warned of.
	Token string
	// AllowAnonymous opens it without one, which every page then says.
	AllowAnonymous bool
	// Hosts are the names that a browser may know the site by, beside localhost
	// and IP addresses: without port, such as "fstally.example.org".
	Hosts []string
	// BasePath is where a reverse proxy has put the site, such as "/storage"; ""
	// for the root. The proxy may strip it from requests or leave it.
	BasePath string
	// Location is the site's zone.
	Location *time.Location
	Clock    func() time.Time
	Logger   *slog.Logger
	Version  string // of the program
	// SpoolSize tells how many results wait to be imported, and their size; nil where
	// that is not known.
	SpoolSize func() (files int, bytes int64, err error)
	// Ready reports, beside the store, what the program needs to run scans; nil for
	// nothing.
	Ready  func(ctx context.Context) error
	Schema int64 // version of the store's tables; 0 where it is not known
	// Stopping ends streams of events, which would keep a server from stopping; nil
	// for never.
	Stopping <-chan struct{}
}

// minToken is the length from which a token is not guessed.
const minToken = 16

var basePattern = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

func (c *Config) validate() error {
	if c.Reader == nil || c.Scans == nil || c.API == nil || c.Clock == nil || c.Logger == nil || c.Location == nil {
		return errors.New("server: Reader, Scans, API, Location, Clock and Logger must be set")
	}
	if c.Token == "" && !c.AllowAnonymous {
		return errors.New("there is no access token: set FSTALLY_TOKEN, or use --allow-anonymous")
	}
	if c.BasePath == "" {
		return nil
	}
	if !basePattern.MatchString(c.BasePath) {
		return fmt.Errorf("base path %q: use a path such as /storage, without a slash at the end", c.BasePath)
	}
	first, _, _ := strings.Cut(c.BasePath[1:], "/")
	if own := firstSegments(); slices.Contains(own, first) {
		return fmt.Errorf("base path %q: pages of the site begin with %q themselves: use another", c.BasePath, own)
	}
	return nil
}

// site holds what the handlers need.
type site struct {
	Config
	metrics *metrics
	watches watches
}

// New returns the handler of the whole site.
func New(config Config) (http.Handler, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	if len(config.Token) < minToken && !config.AllowAnonymous {
		config.Logger.Warn("the access token can be guessed: use a longer one", "characters", len(config.Token))
	}
	s := &site{Config: config}
	s.metrics = newMetrics(s)
	return s.routes()
}
