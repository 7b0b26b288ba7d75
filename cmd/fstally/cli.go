package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// cli is the command line. The help texts are the manual.
type cli struct {
	Serve  serveCmd  `cmd:"" help:"Run the web pages, the API and the scans. Each PATH is registered and scanned at once."`
	Scan   scanCmd   `cmd:"" help:"Scan a directory tree once: into the database, into a file, or only to the terminal."`
	Import importCmd `cmd:"" help:"Store results that 'fstally scan --out' wrote, here or on another machine."`
	Push   pushCmd   `cmd:"" help:"Send results that 'fstally scan --out' wrote to a 'fstally serve' elsewhere."`
	Worker workerCmd `cmd:"" help:"Run the scans of the file systems that are bound to this worker, on a host that mounts them, for a 'fstally serve' elsewhere."`
	FS     fsCmd     `cmd:"" name:"fs" help:"Add, list, show, set, scan, rename and remove file systems; cancel, accept and reject scans."`

	Schedule  scheduleCmd  `cmd:"" help:"Say when file systems are scanned by themselves, while 'fstally serve' runs."`
	Retention retentionCmd `cmd:"" help:"Show or set how long the details of scans are kept; sums are kept for ever."`

	Demo    demoCmd    `cmd:"" help:"Invent years of scans of two file systems, in a data directory of their own, and show them."`
	Token   tokenCmd   `cmd:"" help:"Show the access token of the web pages and the API, or make a new one."`
	Migrate migrateCmd `cmd:"" help:"Bring the database to the version of this program. 'serve' does so by itself."`
	Backup  backupCmd  `cmd:"" help:"Write all that is stored into a file, also while 'fstally serve' runs."`
	Restore restoreCmd `cmd:"" help:"Fill the private Postgres from such a file."`
	Version versionCmd `cmd:"" help:"Show the version."`

	UpgradePostgres upgradePostgresCmd `cmd:"" help:"Carry the private Postgres over to the newest installed version."`

	PostgresSupervisor postgresSupervisorCmd `cmd:"" hidden:""`
	InspectRoot        inspectRootCmd        `cmd:"" hidden:""`

	DatabaseURL   string        `env:"FSTALLY_DATABASE_URL" placeholder:"URL" help:"Postgres to use, such as postgres://fstally@db/fstally. Without it fstally runs a private one in the data directory."`
	DataDir       string        `env:"FSTALLY_DATA_DIR" type:"path" placeholder:"DIR" help:"Where the private Postgres, the token and results on their way are kept. Default: /var/lib/fstally for root, else fstally in $$XDG_STATE_HOME (~/.local/state)."`
	AllowDownload bool          `env:"FSTALLY_ALLOW_DOWNLOAD" help:"Fetch Postgres server programs into the data directory where none are installed."`
	Timezone      string        `env:"FSTALLY_TIMEZONE" placeholder:"ZONE" help:"Zone that cuts the days and in which times are shown, such as Europe/Berlin. Default: that of this machine."`
	Attempts      int           `env:"FSTALLY_ATTEMPTS" default:"3" placeholder:"N" help:"How often a scan is tried in all whose process or machine goes away each time."`
	RetryAfter    time.Duration `env:"FSTALLY_RETRY_AFTER" default:"1m" placeholder:"TIME" help:"How long the second attempt waits, and the third twice as long. Default: ${default}."`

	LogLevel string `env:"FSTALLY_LOG_LEVEL" default:"auto" enum:"auto,debug,info,warn,error" help:"How much is logged to standard error: ${enum}; auto is info for serve and worker, warn for the others."`
}

const description = `fstally tells who uses the space and the files of big file systems: it scans a
directory tree, keeps what each user, group, file type and fileset uses, and
shows it as pages and as JSON.

Try it:

  fstally serve /data             scan /data and show it in the browser
  fstally scan --dry-run /data    only print what is there, without a database

` + exitCodes

// app is what commands share.
type app struct {
	cli            *cli
	stdin          io.Reader
	stdout, stderr io.Writer
	log            *slog.Logger
	location       *time.Location
	getenv         func(string) string
	executable     string            // this program, to start it again as a child
	given          func(string) bool // whether a flag is on the command line, and not only in the environment
}

// run reads the command line, of which the first word is the path of this
// program, and does what it says. Flags that name an environment variable in
// their help take it from the process itself.
func run(
	ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer,
) error {
	var c cli
	helped := false
	parser, err := kong.New(&c,
		kong.Name("fstally"),
		kong.Description(description),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { helped = true }), // after --help, which is the only one to call it
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		return fmt.Errorf("set up the command line: %w", err)
	}
	executable, args := args[0], args[1:]
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
	if helped {
		return nil
	}
	if err != nil {
		help := "fstally --help"
		if wrong, ok := errors.AsType[*kong.ParseError](err); ok {
			if words := strings.Fields(wrong.Context.Command()); len(words) > 0 {
				help = "fstally " + words[0] + " --help"
			}
		}
		return usageError{fmt.Errorf("%w (see %s)", err, help)}
	}
	if c.LogLevel == "auto" {
		c.LogLevel = "warn"
		if strings.HasPrefix(command.Command(), "serve") || strings.HasPrefix(command.Command(), "worker") {
			c.LogLevel = "info"
		}
	}
	a, err := newApp(&c, getenv, stdin, stdout, stderr)
	if err != nil {
		return err
	}
	a.executable = executable
	a.given = func(flag string) bool {
		return slices.ContainsFunc(command.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == flag })
	}
	command.BindTo(ctx, (*context.Context)(nil))
	return command.Run(a)
}

func newApp(c *cli, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) (*app, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return nil, usageError{err}
	}
	location := namedZone(time.Local.String(), localtime)
	if c.Timezone != "" {
		var err error
		if location, err = time.LoadLocation(c.Timezone); err != nil {
			return nil, usageError{fmt.Errorf("time zone %q is not known: use a name such as Europe/Berlin or UTC", c.Timezone)}
		}
	}
	if c.DataDir == "" {
		dir, err := defaultDataDir(getenv)
		if err != nil {
			return nil, err
		}
		c.DataDir = dir
	}
	return &app{
		cli: c, getenv: getenv, stdin: stdin, stdout: stdout, stderr: stderr, location: location,
		log: slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level})),
	}, nil
}

// defaultDataDir follows the XDG base directory specification; root's state is
// the machine's.
func defaultDataDir(getenv func(string) string) (string, error) {
	if os.Geteuid() == 0 {
		return "/var/lib/fstally", nil
	}
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "fstally"), nil
	}
	home := getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", usageError{errors.New("no place for data: set FSTALLY_DATA_DIR or HOME")}
	}
	return filepath.Join(home, ".local", "state", "fstally"), nil
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(a *app) error {
	_, err := fmt.Fprintln(a.stdout, "fstally", version)
	return err
}
