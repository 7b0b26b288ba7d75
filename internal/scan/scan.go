package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"fstally/internal/aggregate"
	"fstally/internal/classify"
	"fstally/internal/fileset"
	"fstally/internal/identity"
	"fstally/internal/result"
	"fstally/internal/usage"
	"fstally/internal/walk"
)

// Options say what is scanned and how.
type Options struct {
	Path        string   // of the root; a symbolic link is resolved once
	Parts       []string // raw paths of directories below the root to scan instead of all
	Walkers     int      // directories read at a time; 0 chooses by file-system type
	OpsLimit    int      // operations per second; 0 chooses by file-system type, negative for none
	SizeClasses usage.SizeClasses
	Filesets    usage.FilesetRules
	Categories  classify.Categories
	Engine      walk.Engine
	FS          walk.FS   // nil for the operating system
	Started     time.Time // what ages count from; zero for now
	// StallAfter is for how long nothing may be read before the scan ends with a
	// *StallError; 0 for ever. The time is told to a second or two.
	StallAfter time.Duration
	Version    string // of the program, for the record
	// Progress is called about once a second, from one goroutine, until Run
	// returns; nil for none.
	Progress func(usage.Progress)
}

// Freshness says how the attributes were read: from the file system, and as new
// as it gives them to stat(2).
const Freshness = "exact"

// Run does the scan. It fails when the root cannot be scanned (a
// *walk.RootError), stalls (a *StallError), or ctx ends; what goes wrong further
// down is in the result.
//
// It returns within a second or two of the end of ctx. Where the file system does
// not answer, goroutines stay behind until it does: then the process should end.
func Run(ctx context.Context, o Options) (*result.Result, error) {
	if err := o.SizeClasses.Validate(); err != nil {
		return nil, err
	}
	filesets, err := fileset.New(o.Filesets)
	if err != nil {
		return nil, err
	}
	mount, err := walk.Inspect(ctx, o.Path)
	if err != nil {
		return nil, err
	}
	if err := checkParts(o.Parts); err != nil {
		return nil, err
	}
	s := &scan{Options: o, mount: mount, filesets: filesets}
	return s.run(ctx)
}

// scan is one scan under way.
type scan struct {
	Options
	mount    walk.Mount
	filesets *fileset.Rules
}

func (s *scan) run(ctx context.Context) (*result.Result, error) {
	begun := time.Now() // with the monotonic clock, whatever Started is
	if s.Started.IsZero() {
		s.Started = begun
	}
	if s.Walkers <= 0 {
		s.Walkers = walk.DefaultWalkers(s.mount)
	}
	if s.OpsLimit == 0 {
		s.OpsLimit = walk.DefaultOpsLimit(s.mount)
	}
	s.OpsLimit = max(0, s.OpsLimit)

	meter := newMeter(usage.Progress{Walkers: s.Walkers, OpsLimit: s.OpsLimit, FSType: s.mount.FSType, Phase: walking})
	stop := meter.report(s.Progress)
	defer stop()

	partial, err := s.watched(ctx, meter)
	if err != nil {
		return nil, err
	}
	// Somebody may have set the clock back meanwhile.
	finished := s.Started.Add(time.Since(begun))
	meter.phase(naming)
	r := &result.Result{Meta: s.meta(finished), Partial: partial}
	r.Meta.Identities = s.identities(ctx, partial)
	r.Meta.Filesets = s.filesetNames(partial)
	if err := ctx.Err(); err != nil { // after the names: those cut short by ctx are not "unknown"
		return nil, fmt.Errorf("scan %s: %w", usage.Escape(s.mount.Root), context.Cause(ctx))
	}
	return r, nil
}

// watched is walk with somebody who ends it when it stalls.
func (s *scan) watched(ctx context.Context, meter *meter) (*aggregate.Partial, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer s.watchdog(meter.watch, end)()
	partial, err := Bounded(ctx, func(ctx context.Context) (*aggregate.Partial, error) { return s.walk(ctx, meter) })
	switch stall, stalled := errors.AsType[*StallError](context.Cause(ctx)); {
	case err != nil && stalled:
		return nil, stall
	case err != nil:
		return nil, fmt.Errorf("scan: %w", err)
	}
	return partial, nil
}

// walk walks the root, or each part, and adds up.
func (s *scan) walk(ctx context.Context, meter *meter) (*aggregate.Partial, error) {
	o := walk.Options{
		Root:      s.mount.Root,
		Walkers:   s.Walkers,
		Fileset:   s.filesets.Fileset,
		Snapshots: walk.DefaultSnapshots(),
		FS:        s.FS,
		Watch:     meter.watch,
	}
	if s.OpsLimit > 0 {
		o.Limiter = rate.NewLimiter(rate.Limit(s.OpsLimit), s.Walkers)
	}
	var sum *aggregate.Partial
	for _, o.Part = range s.parts() {
		part, err := s.walkPart(ctx, o, meter)
		switch {
		case err != nil:
			return nil, err
		case sum == nil:
			sum = part
		default:
			sum = sum.Merge(part)
		}
	}
	return sum, nil
}

func (s *scan) walkPart(ctx context.Context, o walk.Options, meter *meter) (*aggregate.Partial, error) {
	tally := aggregate.New(aggregate.Options{
		Started:     s.Started.Unix(),
		SizeClasses: s.SizeClasses,
		Types:       classify.NewTypes(classify.MaxTypes),
	})
	report, err := s.Engine.Walk(ctx, o, func() walk.Sink { return meter.sink(tally.NewShard()) })
	if err != nil {
		return nil, err
	}
	return tally.Finish(report.Vanished, report.Errors, report.Skipped, s.Categories.Of), nil
}

// parts returns the paths below the root where walks begin.
func (s *scan) parts() []string {
	if len(s.Parts) == 0 {
		return []string{""}
	}
	return slices.Sorted(slices.Values(s.Parts))
}

func (s *scan) meta(finished time.Time) usage.Meta {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return usage.Meta{
		ResultID:    uuid.NewString(),
		Version:     s.Version,
		Root:        s.mount.Root,
		Parts:       s.parts(),
		Identity:    s.mount.Identity,
		FSType:      s.mount.FSType,
		Host:        host,
		Engine:      s.Engine.Name(),
		Walkers:     s.Walkers,
		OpsLimit:    s.OpsLimit,
		Freshness:   Freshness,
		Started:     s.Started,
		Finished:    finished,
		SizeClasses: s.SizeClasses,
		Capacity:    s.mount.Capacity,
	}
}

// identities asks for the names of all ids that were found.
func (s *scan) identities(ctx context.Context, p *aggregate.Partial) []usage.Identity {
	var users, groups []uint32
	for _, c := range p.Cells {
		users, groups = append(users, c.UID), append(groups, c.GID)
	}
	// Resolve ends by itself, unless getent cannot be ended.
	ctx, cancel := context.WithTimeout(ctx, identity.Budget+10*time.Second)
	defer cancel()
	// A name that could not be asked for in time is left out, and is shown as
	// its number: no reason to lose a scan.
	names, _ := Bounded(ctx, func(ctx context.Context) ([]usage.Identity, error) {
		return identity.ThisHost().Resolve(ctx, distinct(users), distinct(groups))
	})
	return names
}

func distinct(ids []uint32) []uint32 {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// filesetNames lists the filesets that were found.
func (s *scan) filesetNames(p *aggregate.Partial) []usage.NamedFileset {
	var keys []string
	for _, c := range p.Cells {
		if c.Fileset != "" {
			keys = append(keys, c.Fileset)
		}
	}
	slices.Sort(keys)
	names := make(map[string]string)
	for _, f := range s.filesets.Named() {
		names[f.Path] = f.Name
	}
	var out []usage.NamedFileset
	for _, key := range slices.Compact(keys) {
		out = append(out, usage.NamedFileset{Path: key, Name: cmp.Or(names[key], key)})
	}
	return out
}

// checkParts reports parts that are no plain paths or that overlap.
func checkParts(parts []string) error {
	for i, p := range parts {
		if p == "" || p == "." || path.Clean("/"+p) != "/"+p {
			return fmt.Errorf("%q is not a directory below the root: give it as a/b", usage.Escape(p))
		}
		for j, other := range parts {
			if i != j && (p == other || strings.HasPrefix(p, other+"/")) {
				return errors.New("parts overlap: " + usage.Escape(p) + " is within " + usage.Escape(other))
			}
		}
	}
	return nil
}
