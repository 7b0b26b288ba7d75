package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"fstally/internal/classify"
	"fstally/internal/jobs"
	"fstally/internal/result"
	"fstally/internal/scan"
	"fstally/internal/usage"
	"fstally/internal/walk"
)

type scanCmd struct {
	Path string `arg:"" help:"Directory to scan. Other file systems mounted below it are left out."`

	DryRun bool   `xor:"to" help:"Only print what is there; needs no database."`
	Out    string `xor:"to" type:"path" placeholder:"FILE" help:"Write the result into a file, for 'fstally import'; needs no database."`
	Push   string `xor:"to" placeholder:"URL" help:"Send the result to the 'fstally serve' at this address, such as https://storage.example.org; needs no database, but --fs."`
	Format string `enum:"text,json" default:"text" help:"What --dry-run prints: ${enum}."`

	Name       string   `placeholder:"NAME" help:"Name of the file system, when the scan is stored and it has none yet. Default: made from PATH."`
	Part       []string `placeholder:"DIR" sep:"none" help:"With --out: scan only this directory below PATH; repeat for more. Results of different parts merge on import."`
	Engine     string   `enum:"auto,linux,fastwalk" default:"auto" help:"How the tree is walked: ${enum}. All give the same result."`
	Categories string   `type:"existingfile" placeholder:"FILE" help:"Categories of file types that override the built-in ones."`
	settings

	FS    string `name:"fs" placeholder:"NAME" help:"With --push: name of the file system on the server, which says how it is scanned."`
	Spool string `type:"path" placeholder:"DIR" help:"With --push: where results wait until the server has them. Default: push in the data directory."`
	pushFlags
	of *usage.FileSystem // whose settings are those to begin with; nil for those of a new one

	Child bool `hidden:"" help:"Tell progress as JSON and stop when standard input ends."`
}

// Run scans.
func (c scanCmd) Run(ctx context.Context, a *app) error {
	switch {
	case len(c.Part) > 0 && c.Out == "":
		return usageError{errors.New("--part needs --out: a part alone is not stored")}
	case c.DryRun:
		return c.dryRun(ctx, a)
	case c.Out != "":
		return c.toFile(ctx, a)
	case c.Push != "":
		return c.pushScan(ctx, a)
	default:
		return c.store(ctx, a)
	}
}

// options translates the flags.
func (c scanCmd) options(fs usage.FileSystem, progress func(usage.Progress)) (o scan.Options, err error) {
	categories := classify.BuiltInCategories()
	if c.Categories != "" {
		if categories, err = classify.LoadCategories(c.Categories); err != nil {
			return scan.Options{}, err
		}
	}
	engine, err := c.engine()
	if err != nil {
		return scan.Options{}, err
	}
	return scan.Options{
		Path: c.Path, Parts: c.Part, Walkers: fs.Walkers, OpsLimit: fs.OpsLimit,
		SizeClasses: fs.SizeClasses, Filesets: fs.Filesets, StallAfter: fs.StallAfter,
		Categories: categories, Engine: engine, Version: version, Progress: progress,
	}, nil
}

// engine returns the one that is asked for.
func (c scanCmd) engine() (walk.Engine, error) {
	for _, engine := range walk.Engines() {
		if c.Engine == "auto" || c.Engine == engine.Name() {
			return engine, nil
		}
	}
	return nil, fmt.Errorf("engine %q is not for this operating system: leave --engine out", c.Engine)
}

// scan runs the scan in this process, and then use with the result, within the limits.
// It returns soon after the end of ctx, and may leave goroutines that hang in system
// calls: then the process should end.
func (c scanCmd) scan(
	ctx context.Context, a *app, progress func(usage.Progress), use func(context.Context, *result.Result) error,
) error {
	if !c.Child { // the supervisor of a child can leave it behind
		if _, err := a.inspect(ctx, c.Path); err != nil {
			return err
		}
	}
	fs := usage.NewFileSystem("", c.Path)
	fs.Nice, fs.IdleIO = 0, false // somebody waits
	if c.of != nil {
		fs = *c.of
	}
	if _, err := c.apply(&fs); err != nil {
		return err
	}
	limits := jobs.LimitsOf(fs)
	if err := limits.Apply(); err != nil {
		a.log.DebugContext(ctx, "scan with less modesty than wanted", "err", err)
	}
	ctx, release := limits.HoldMemory(ctx)
	defer release()
	o, err := c.options(fs, progress)
	if err != nil {
		return err
	}
	if a.getenv("GOMAXPROCS") == "" {
		// The runtime takes the processor from a goroutine whose system call
		// lasts: with twice as many there is always one left.
		runtime.GOMAXPROCS(2 * runtime.NumCPU())
	}
	r, err := scan.Run(ctx, o)
	if err != nil {
		return err
	}
	return use(ctx, r)
}

func (c scanCmd) dryRun(ctx context.Context, a *app) error {
	line := newProgressLine(a.stderr, 0)
	return c.scan(ctx, a, line.show, func(_ context.Context, r *result.Result) error {
		line.end()
		if c.Format == "json" {
			return printJSON(a.stdout, r)
		}
		return printText(a.stdout, r)
	})
}

func (c scanCmd) toFile(ctx context.Context, a *app) error {
	if info, err := os.Stat(filepath.Dir(c.Out)); err != nil || !info.IsDir() {
		return usageError{fmt.Errorf("--out %s: there is no such folder", c.Out)} // before hours of scanning
	}
	line := newProgressLine(a.stderr, 0)
	show := line.show
	if c.Child {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go func() { // ends with the process
			_, _ = io.Copy(io.Discard, a.stdin)
			cancel()
		}()
		out := json.NewEncoder(a.stdout)
		show = func(p usage.Progress) { _ = out.Encode(p) } // whoever no longer listens has closed our input too
	}
	var last usage.Progress
	seen := func(p usage.Progress) {
		last = p
		show(p)
	}
	defer line.end()
	return c.scan(ctx, a, seen, func(ctx context.Context, r *result.Result) error {
		last.Phase = "writing"
		show(last)
		return c.write(ctx, r)
	})
}

// writeTimeout is how long the folder of the result may take: a result of 10^10
// entries has some GB.
const writeTimeout = time.Hour

// write writes the result. It does not wait for a folder that does not answer.
func (c scanCmd) write(ctx context.Context, r *result.Result) error {
	ctx, cancel := context.WithTimeoutCause(ctx, writeTimeout,
		fmt.Errorf("%s was not written within %s: check the file system that it is on", c.Out, writeTimeout))
	defer cancel()
	_, err := scan.Bounded(ctx, func(ctx context.Context) (struct{}, error) {
		if err := ctx.Err(); err != nil {
			return struct{}{}, context.Cause(ctx)
		}
		return struct{}{}, result.WriteFile(c.Out, r)
	})
	return err
}

// store scans in a child process and imports its result.
func (c scanCmd) store(ctx context.Context, a *app) error {
	root, err := a.inspect(ctx, c.Path)
	if err != nil {
		return err
	}
	if err := a.makeDataDir(); err != nil {
		return err
	}
	return a.use(ctx, func(d *database) error {
		fs, err := a.register(ctx, d, root, c.Name, c.settings)
		if err != nil {
			return err
		}
		line := newProgressLine(a.stderr, a.entriesBefore(ctx, d, fs))
		supervisor, err := a.supervisor(d)
		if err != nil {
			return err
		}
		supervisor.GiveUp = giveUpAfter
		supervisor.Progress = func(_ usage.Scan, p usage.Progress) { line.show(p) }
		if err := supervisor.Recover(ctx); err != nil {
			return err
		}
		started, err := d.StartScan(ctx, fs.ID, supervisor.Owner)
		if err != nil {
			return err
		}
		err = supervisor.RunScan(ctx, started)
		line.end()
		if err != nil {
			return fmt.Errorf("scan %d of %s: %w", started.ID, fs.Name, err)
		}
		done, err := d.Scan(ctx, usage.Everything(), started.ID)
		if err != nil {
			return err
		}
		return printScan(a.stdout, fs, done)
	})
}

// giveUpAfter is how long a command tries to store its result while the database is
// away. The file is kept, and fstally serve imports it.
const giveUpAfter = 15 * time.Minute

// entriesBefore returns what the latest scan counted, for a percentage.
func (a *app) entriesBefore(ctx context.Context, d *database, fs usage.FileSystem) int64 {
	if fs.CurrentScanID == 0 {
		return 0
	}
	latest, err := d.Scan(ctx, usage.Everything(), fs.CurrentScanID)
	if err != nil {
		return 0
	}
	return latest.Counters.Entries
}

// supervisor returns one that scans with this program.
func (a *app) supervisor(d *database) (*jobs.Supervisor, error) {
	owner, err := jobs.Owner()
	if err != nil {
		return nil, err
	}
	return &jobs.Supervisor{
		Store:   d.Store,
		Scanner: []string{a.executable, "scan"},
		Spool:   filepath.Join(a.cli.DataDir, "spool"),
		Owner:   owner,
		Logger:  a.log,
		Scans:   4,
	}, nil
}
