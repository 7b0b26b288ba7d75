package embeddedpg

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// downloadTimeout is generous: the archives are 10 to 30 MB.
const downloadTimeout = 15 * time.Minute

// downloadable is the release to fetch for data of a major version, the newest
// for 0.
func downloadable(major int) (embeddedpostgres.PostgresVersion, bool) {
	if major == 0 {
		return embeddedpostgres.V18, true
	}
	for _, v := range []embeddedpostgres.PostgresVersion{
		embeddedpostgres.V18, embeddedpostgres.V17, embeddedpostgres.V16,
		embeddedpostgres.V15, embeddedpostgres.V14, embeddedpostgres.V13,
	} {
		if strings.HasPrefix(string(v), strconv.Itoa(major)+".") {
			return v, true
		}
	}
	return "", false
}

// download fetches server programs into a directory VERSION of dir. It runs in the
// supervisor, because the library cannot be interrupted (and panics on some errors):
// if ctx ends first, its goroutine is left behind for the process to end.
func download(ctx context.Context, version embeddedpostgres.PostgresVersion, dir, url string) error {
	scratch := filepath.Join(dir, "tmp")
	if err := os.RemoveAll(scratch); err != nil {
		return fmt.Errorf("remove earlier download: %w", err)
	}
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return fmt.Errorf("make directory for download: %w", err)
	}
	// The library leaves a log file in the directory for temporary files.
	if err := os.Setenv("TMPDIR", scratch); err != nil {
		return fmt.Errorf("set TMPDIR for download: %w", err)
	}

	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	finished := make(chan error, 1)
	go func() { finished <- fetchAndExtract(version, url, scratch) }()
	select {
	case err := <-finished:
		if err != nil {
			return fmt.Errorf("download Postgres %s: %w", version, err)
		}
	case <-ctx.Done():
		return fmt.Errorf("download Postgres %s: %w", version, ctx.Err())
	}

	target := filepath.Join(dir, string(version))
	if err := os.Rename(filepath.Join(scratch, "programs"), target); err != nil {
		return fmt.Errorf("keep downloaded Postgres %s: %w", version, err)
	}
	if err := os.RemoveAll(scratch); err != nil {
		return fmt.Errorf("clean up after download: %w", err)
	}
	return nil
}

// fetchAndExtract has the library unpack the programs into scratch/programs.
// The library offers that only as the first half of Start, whose next step is
// to delete and make a data directory; that step is made to fail by a name that
// os.RemoveAll refuses, and nothing after it happens.
func fetchAndExtract(version embeddedpostgres.PostgresVersion, url, scratch string) error {
	config := embeddedpostgres.DefaultConfig().
		Version(version).
		Port(0). // it insists on a free one
		CachePath(filepath.Join(scratch, "cache")).
		RuntimePath(filepath.Join(scratch, "runtime")).
		BinariesPath(filepath.Join(scratch, "programs")).
		DataPath(filepath.Join(scratch, "data") + "/.").
		Logger(io.Discard)
	if url != "" {
		config = config.BinaryRepositoryURL(strings.TrimSuffix(url, "/"))
	}
	err := embeddedpostgres.NewDatabase(config).Start()
	if err == nil || !strings.HasPrefix(err.Error(), "unable to clean up data directory") {
		return fmt.Errorf("unpack server programs: %w", err)
	}
	return nil
}
