package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"

	"fstally/internal/usage"
)

//go:generate go test -run ^TestOpenAPIIsCommitted$ . -update

// Prefix is where the API stands below the site's base path.
const Prefix = "/api/v1"

// Reader is what the API reads. Every method answers usage.ErrNotFound for what
// does not exist or lies outside the scope.
type Reader interface {
	FileSystems(ctx context.Context, scope usage.Scope) ([]usage.FileSystem, error)
	FileSystem(ctx context.Context, scope usage.Scope, nameOrID string) (usage.FileSystem, error)
	Scans(ctx context.Context, scope usage.Scope, fileSystemID int64, limit int, beforeID int64) ([]usage.Scan, error)
	Scan(ctx context.Context, scope usage.Scope, id int64) (usage.Scan, error)
	Schedules(ctx context.Context, scope usage.Scope) ([]usage.Schedule, error)
	Retention(ctx context.Context) (usage.Retention, error)
	ScanProblems(ctx context.Context, scope usage.Scope, scanID int64) ([]usage.ScanError, []usage.Skipped, error)
	Usage(ctx context.Context, scope usage.Scope, q usage.Query) (usage.Table, error)
	UsageOf(
		ctx context.Context, scope usage.Scope, scanID int64, d usage.Dimension, keys []string,
	) (map[string]usage.Measures, error)
	History(ctx context.Context, scope usage.Scope, q usage.HistoryQuery) (usage.History, error)
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

// Config is what the API is made of.
type Config struct {
	Reader Reader
	Scans  Scans
	// Uploads takes results of other hosts; nil where none are taken.
	Uploads Uploads
	// Scope returns what the caller of a request may see.
	Scope func(context.Context) usage.Scope
	// Base is the site's base path, such as "/fstally"; "" for the root.
	Base    string
	Clock   func() time.Time
	Logger  *slog.Logger
	Version string // of the program
}

// api holds what the handlers need.
type api struct {
	Config
	huma huma.API
}

// Handler answers everything below Prefix, which the caller has to strip by
// mounting it on a chi router.
type Handler struct {
	http.Handler
	document *huma.OpenAPI
}

// Document returns the description of the API that /openapi.json serves, for
// reading only.
func (h *Handler) Document() *huma.OpenAPI { return h.document }

// New returns the handler of the API.
func New(config Config) (*Handler, error) {
	router := chi.NewRouter()
	a := &api{Config: config, huma: humachi.New(router, humaConfig(config))}
	a.huma.UseMiddleware(negotiate(a.huma))

	a.registerFileSystems()
	a.registerSettings()
	a.registerUsage()
	a.registerHistory()
	a.registerHistogram()
	a.registerScans()
	a.registerUploads()
	a.registerSchedules()
	a.registerRetention()
	a.registerUsers()

	document, err := json.Marshal(a.huma.OpenAPI())
	if err != nil {
		return nil, fmt.Errorf("write the OpenAPI document: %w", err)
	}
	var text bytes.Buffer
	if err := json.Indent(&text, document, "", "  "); err != nil {
		return nil, fmt.Errorf("indent the OpenAPI document: %w", err)
	}
	text.WriteByte('\n')
	router.Get("/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/openapi+json")
		_, _ = w.Write(text.Bytes())
	})
	router.NotFound(func(w http.ResponseWriter, _ *http.Request) {
		writeProblem(w, http.StatusNotFound, "There is nothing at this address: see openapi.json for what there is.")
	})
	router.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, http.StatusMethodNotAllowed, fmt.Sprintf("This address does not take %s.", r.Method))
	})
	return &Handler{Handler: router, document: a.huma.OpenAPI()}, nil
}

// humaConfig leaves huma's own extras out: its pages load scripts from a CDN,
// and its default hook puts "$schema" links into answers.
func humaConfig(config Config) huma.Config {
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	registry.RegisterTypeAlias(reflect.TypeFor[usage.Bytes](), reflect.TypeFor[bytesSchema]())
	c := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title:   "fstally",
				Version: "1",
				Description: "Who uses the space and the files of a file system. Counts and bytes are integers with " +
					"exact digits, which may exceed 2^53: read them with a parser that keeps them. Shares are 0 to 1, " +
					"times RFC 3339 in UTC, a day is the date of a scan in the site's zone. " +
					"In names, bytes that are not safe to show are written as \\xHH, and a backslash as \\\\; " +
					"filters take the same form. What is unknown is null or absent, never 0. " +
					"Addresses, parameters and fields of this version stay; answers may get more fields. " +
					"Errors are problem documents (RFC 9457) that name the parameter.",
			},
			Tags:     groups(),
			Servers:  []*huma.Server{{URL: config.Base + Prefix}},
			Security: []map[string][]string{{"token": {}}},
			Components: &huma.Components{
				Schemas: registry,
				SecuritySchemes: map[string]*huma.SecurityScheme{"token": {
					Type: "http", Scheme: "bearer", Description: "The access token that fstally serve prints.",
				}},
			},
		},
		Formats: map[string]huma.Format{
			"application/json": huma.DefaultJSONFormat,
			"json":             huma.DefaultJSONFormat, // the suffix of application/problem+json
			csvType:            {Marshal: writeCSV, Unmarshal: refuseCSV},
		},
		DefaultFormat:                "application/json",
		RejectUnknownQueryParameters: true, // a mistyped filter must not answer for everything
	}
	c.AllowAdditionalPropertiesByDefault = true // answers may grow within the version
	return c
}

// The groups that the document sorts the endpoints into.
const (
	groupFileSystems = "File systems"
	groupUsage       = "Usage"
	groupHistory     = "History"
	groupScans       = "Scans"
	groupUploads     = "Uploads"
	groupSchedules   = "Schedules"
)

func groups() []*huma.Tag {
	return []*huma.Tag{
		{Name: groupFileSystems, Description: "What is watched, and how it is scanned. " +
			"The other addresses take the name or the id of one."},
		{Name: groupUsage, Description: "Who and what uses the space and the files, as of one scan."},
		{Name: groupHistory, Description: "How it came to be so."},
		{Name: groupScans, Description: "What was scanned and how far it can be believed; starting and stopping scans."},
		{Name: groupUploads, Description: "How results that were scanned elsewhere get here, over links that break."},
		{Name: groupSchedules, Description: "When file systems are scanned by themselves."},
	}
}

// operation is the part of an endpoint that differs from the others.
type operation struct {
	id, method, path, group, summary string
	description                      string // what the summary has no room for
	answer                           string // what a success holds or means
	status                           int    // of success; 0 for 200
	list                             bool   // comes as CSV too
	body                             bool   // takes one
	errors                           []int  // beside those of every endpoint
}

// allErrors are the statuses of problem documents that the endpoint can answer:
// its own, and those of the gate in front of it. 422 and 500 huma adds.
func (op *operation) allErrors() []int {
	errors := []int{http.StatusUnauthorized, http.StatusMisdirectedRequest, http.StatusServiceUnavailable}
	if op.method != http.MethodGet {
		errors = append(errors, http.StatusForbidden)
	}
	if op.body {
		errors = append(errors, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	return append(errors, op.errors...)
}

// register adds an endpoint whose errors become problem documents in one place.
func register[I, O any](a *api, op operation, handler func(context.Context, *I) (*O, error)) {
	o := huma.Operation{
		OperationID: op.id, Method: op.method, Path: op.path, Summary: op.summary, Description: op.description,
		Tags: []string{op.group}, DefaultStatus: op.status, Errors: op.allErrors(),
		Metadata: map[string]any{csvType: op.list},
	}
	huma.Register(a.huma, o, func(ctx context.Context, in *I) (*O, error) {
		out, err := handler(ctx, in)
		if err != nil {
			return nil, a.problem(ctx, err)
		}
		return out, nil
	})
	responses := a.documented(op).Responses
	for code, response := range responses {
		if status, err := strconv.Atoi(code); err == nil && status >= http.StatusBadRequest {
			response.Description = problemMeaning(status)
		} else {
			response.Description = op.answer
		}
		for _, header := range response.Headers { // huma leaves it to the schema
			header.Description = header.Schema.Description
		}
	}
	if op.list {
		responses["200"].Content[csvType] = &huma.MediaType{
			Schema: &huma.Schema{Type: huma.TypeString, Description: "One head line whose names tell the unit."},
		}
	}
}

// documented returns what the document says about an endpoint.
func (a *api) documented(op operation) *huma.Operation {
	path := a.huma.OpenAPI().Paths[op.path]
	switch op.method {
	case http.MethodPost:
		return path.Post
	case http.MethodPut:
		return path.Put
	case http.MethodPatch:
		return path.Patch
	case http.MethodDelete:
		return path.Delete
	default:
		return path.Get
	}
}
