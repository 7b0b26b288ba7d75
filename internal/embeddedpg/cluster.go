package embeddedpg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// dataVersion gives the major version that made the data directory, 0 if there
// is none or an empty one. Anything else without a readable PG_VERSION is
// refused: it may be data that somebody can still rescue.
func (s *supervisor) dataVersion() (int, error) {
	dir, err := os.Open(dataName)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, s.unusableData(err)
	}
	_, err = dir.Readdirnames(1)
	_ = dir.Close()
	if errors.Is(err, io.EOF) {
		return 0, nil
	}
	if err != nil {
		return 0, s.unusableData(err)
	}

	text, err := os.ReadFile(filepath.Join(dataName, "PG_VERSION"))
	if err != nil {
		return 0, s.unusableData(err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || major <= 0 {
		return 0, s.unusableData(fmt.Errorf("PG_VERSION says %q", text))
	}
	return major, nil
}

func (s *supervisor) unusableData(err error) error {
	return problemf(ErrUnusable, "%s is not empty, and not a Postgres data directory that user %s can use: %v. "+
		"It was not touched. Correct its owner (chown -R) if it was copied, restore it, or move it away to start empty",
		filepath.Join(s.order.Folder, dataName), s.order.Account.Name, err)
}

// makeCluster makes the data directory. It appears under its name only when it
// is whole and on disk, so that an interrupted attempt is never taken for data.
func (s *supervisor) makeCluster(ctx context.Context, in installation) error {
	if err := os.RemoveAll(initdbName); err != nil {
		return fmt.Errorf("remove unfinished data directory: %w", err)
	}
	cmd := s.command(ctx, in.initdb(), initdbArgs(filepath.Join(s.folder, initdbName), s.order.Loading)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		text := strings.TrimSpace(string(out))
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return fmt.Errorf("make a Postgres data directory in %s with %s: %w\n%s", s.order.Folder, in.initdb(), err, text)
	}
	if err := appendFile(filepath.Join(initdbName, "postgresql.conf"), tunables); err != nil {
		return fmt.Errorf("configure Postgres: %w", err)
	}
	// Not os.Rename, which refuses to replace a directory even if it is empty.
	if err := syscall.Rename(initdbName, dataName); err != nil {
		return fmt.Errorf("put the new data directory in place: %w", err)
	}
	return syncDir(".")
}

func appendFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}
