package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"fstally/internal/usage"
)

// recordsFolder of the spool folder says which processes scan: a file per file
// system, which is there from the start of a scanner until its end. What survives
// the program that wrote it is how the next one knows of a scanner that hangs.
const recordsFolder = "scanners"

// stuckPatience is how long a scanner that is still there is waited for before
// another one is started: after a cancel or a crash of its supervisor it is about
// to end.
const stuckPatience = 5 * time.Second

// record is the file of one file system.
type record struct{ path string }

// running is what stands in it.
type running struct {
	Process string    `json:"process"` // as Owner names processes
	Result  string    `json:"result"`  // file that it writes
	Started time.Time `json:"started"`
	Stuck   time.Time `json:"stuck,omitzero"` // when it was left behind
}

func recordOf(spool string, fileSystemID int64) record {
	return record{filepath.Join(spool, recordsFolder, fmt.Sprintf("%d.json", fileSystemID))}
}

// stuckError is the reason why a scan did not begin.
type stuckError struct {
	pid   int
	scan  string
	since time.Time
	root  string
}

func (e *stuckError) Error() string {
	return fmt.Sprintf("the scanner of %s, process %d, has been hanging in %s since %s and cannot be ended: "+
		"no other is started meanwhile. Bring its server back or unmount it by force (umount -f), then scan again",
		e.scan, e.pid, usage.Escape(e.root), e.since.UTC().Format("2006-01-02 15:04 UTC"))
}

// wait returns nil when no scanner of the file system is left; one that is about to
// end is waited for.
func (r record) wait(ctx context.Context, system usage.FileSystem) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	deadline := time.Now().Add(stuckPatience)
	for {
		at, ok := r.read()
		if !ok {
			return nil
		}
		pid, lives := at.lives()
		if !lives {
			r.remove()
			return nil
		}
		if !at.Stuck.IsZero() || time.Now().After(deadline) {
			since := at.Stuck
			if since.IsZero() {
				since = at.Started
			}
			var id int64
			scan := "an earlier scan"
			if _, err := fmt.Sscanf(at.Result, "scan-%d.fst", &id); err == nil {
				scan = fmt.Sprintf("scan %d", id)
			}
			return &stuckError{pid, scan, since, system.Root}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// read returns what is recorded. What cannot be read says nothing.
func (r record) read() (at running, ok bool) {
	data, err := os.ReadFile(r.path)
	return at, err == nil && json.Unmarshal(data, &at) == nil
}

// write records a scanner that has just been started.
func (r record) write(pid int, out string) error {
	process, err := nameOf(pid)
	if errors.Is(err, fs.ErrNotExist) { // it has ended
		return nil
	}
	if err != nil {
		return err
	}
	return r.put(running{Process: process, Result: filepath.Base(out), Started: time.Now().UTC()})
}

// stuck records that the scanner was left behind.
func (r record) stuck() error {
	at, ok := r.read()
	if !ok {
		return fmt.Errorf("%s is not there", r.path)
	}
	at.Stuck = time.Now().UTC()
	return r.put(at)
}

func (r record) put(at running) error {
	data, err := json.Marshal(at)
	if err != nil {
		return err
	}
	half := r.path + ".new"
	for {
		if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
			return err
		}
		err := os.WriteFile(half, data, 0o600)
		if errors.Is(err, fs.ErrNotExist) { // another scan removed the folder, which was empty
			continue
		}
		if err != nil {
			return err
		}
		return os.Rename(half, r.path)
	}
}

func (r record) remove() {
	_ = os.Remove(r.path)
	_ = os.Remove(filepath.Dir(r.path)) // fails unless it is empty
}

// lives reports whether a thread of the process is left. Other than gone, which is
// about processes that do something, it does not take one for ended whose first
// thread is: the others may hang.
func (at running) lives() (pid int, lives bool) {
	parts := strings.Split(at.Process, "/")
	if len(parts) != 4 {
		return 0, false
	}
	pid, err := strconv.Atoi(parts[2])
	if err != nil {
		return 0, false
	}
	now, err := nameOf(pid)
	if err != nil || now != at.Process {
		return pid, false
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return pid, false
	}
	for _, file := range threads {
		fields, err := readStat(file)
		if err == nil && !ended(fields) {
			return pid, true
		}
	}
	return pid, false
}
