package embeddedpg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// serversIn lists the Postgres processes, a postmaster and its children, that
// work on the data directory. Every one of them has it as working directory,
// which unlike a pid file can neither be stale nor missing.
func serversIn(dataDir string) ([]int, error) {
	want, err := os.Stat(dataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for Postgres processes on %s: %w", dataDir, err)
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("look for Postgres processes: %w", err)
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if is, _ := isServerOf(pid, want); is {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// isServerOf tells whether pid is a Postgres process with that working
// directory; known is false if it is a Postgres process that hides it.
func isServerOf(pid int, dataDir os.FileInfo) (is, known bool) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	comm, err := os.ReadFile(filepath.Join(proc, "comm"))
	if err != nil {
		return false, true // gone
	}
	switch string(bytes.TrimSpace(comm)) {
	case "postgres", "postmaster":
	default:
		return false, true
	}
	cwd, err := os.Stat(filepath.Join(proc, "cwd"))
	if err != nil {
		return false, errors.Is(err, fs.ErrNotExist)
	}
	return os.SameFile(cwd, dataDir), true
}

// stopStep is a signal and how long its effect may take.
type stopStep struct {
	signal   syscall.Signal
	patience time.Duration
}

// politely asks for a fast shutdown (clients are disconnected, data is written
// out), then for an immediate one (recovery at the next start), then kills.
func politely() []stopStep {
	return []stopStep{
		{syscall.SIGINT, time.Minute},
		{syscall.SIGQUIT, 10 * time.Second},
		{syscall.SIGKILL, 10 * time.Second},
	}
}

// firmly leaves out what could take long.
func firmly() []stopStep { return politely()[1:] }

// endServers stops all Postgres processes on dataDir and returns when there are
// none, with the number that there were.
func endServers(ctx context.Context, dataDir string, steps []stopStep) (int, error) {
	pids, err := serversIn(dataDir)
	found := len(pids)
	for _, step := range steps {
		if err != nil || len(pids) == 0 {
			return found, err
		}
		for _, pid := range pids {
			if err := syscall.Kill(pid, step.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
				return found, fmt.Errorf("stop the Postgres process %d left over on %s: %w", pid, dataDir, err)
			}
		}
		pids, err = awaitNone(ctx, dataDir, step.patience)
	}
	if err == nil && len(pids) > 0 {
		err = fmt.Errorf("the Postgres processes %v left over on %s do not end", pids, dataDir)
	}
	return found, err
}

// awaitNone waits until no server is left on dataDir, and returns those that
// still are when patience or ctx ends.
func awaitNone(ctx context.Context, dataDir string, patience time.Duration) ([]int, error) {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		pids, err := serversIn(dataDir)
		if err != nil || len(pids) == 0 {
			return nil, err
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return pids, nil
		case <-ctx.Done():
			return pids, ctx.Err()
		}
	}
}

// mayBeSignalled tells whether pid is in use by a process of this user.
func mayBeSignalled(pid int) bool { return syscall.Kill(pid, 0) == nil }

// removeStaleLockFile deletes a pid file of Postgres if its pid now belongs to
// a process that is provably not a server on dataDir. Postgres itself
// recognises a pid that is not in use, but would refuse to start for one that
// was given to an unrelated process of the same user, as after a reboot or in a
// container. The caller holds the lock and has ended all servers on dataDir.
func removeStaleLockFile(path, dataDir string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read Postgres' pid file: %w", err)
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	pid, _ := strconv.Atoi(string(bytes.TrimSpace(line)))
	if pid <= 0 || !mayBeSignalled(pid) {
		return nil // Postgres itself judges what is no number or no process of its user
	}
	want, err := os.Stat(dataDir)
	if err != nil {
		return fmt.Errorf("check Postgres' pid file: %w", err)
	}
	if is, known := isServerOf(pid, want); is || !known {
		return nil
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove stale pid file (process %d is not Postgres): %w", pid, err)
	}
	return nil
}
