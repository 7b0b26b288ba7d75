package embeddedpg

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"time"
)

// Config says where and how to run Postgres.
type Config struct {
	// Dir is FSTALLY_DATA_DIR, an absolute path. It is made if missing.
	// This package uses the names postgres and postgres.lock in it.
	Dir string

	// BinariesPath is the directory of the programs postgres and initdb, or
	// its parent. Empty: they are looked for in PATH, in the places where
	// Linux distributions put them, and among earlier downloads in Dir. The
	// version that made the existing data is preferred, else the newest.
	BinariesPath string

	// AllowDownload permits to fetch server programs into Dir when none that
	// fit are installed.
	AllowDownload bool

	// DownloadURL is the Maven repository to fetch from. Empty: Maven Central.
	DownloadURL string

	// Supervisor is the command, an absolute path and arguments, that runs
	// [Supervise]: this program with a hidden command of its own.
	Supervisor []string

	// StartTimeout bounds each stage of the start (0: 3 minutes). It is long
	// because recovery after a crash may have to replay gigabytes.
	StartTimeout time.Duration

	// Logger gets a few lines for each start and stop. Nil: none.
	Logger *slog.Logger

	// For a server of Rebuild: where downloads are kept, if not in Dir, and that
	// its database is being filled.
	downloads string
	loading   bool
}

func (c Config) withDefaults() (Config, error) {
	if !filepath.IsAbs(c.Dir) {
		return c, fmt.Errorf("start Postgres: data directory %q is not an absolute path", c.Dir)
	}
	if len(c.Supervisor) == 0 || !filepath.IsAbs(c.Supervisor[0]) {
		return c, fmt.Errorf("start Postgres: supervisor command %q is not an absolute path", c.Supervisor)
	}
	c.Dir = filepath.Clean(c.Dir)
	if c.StartTimeout <= 0 {
		c.StartTimeout = 3 * time.Minute
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
