package push

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"fstally/internal/usage"
)

// Suffixes of files in the spool.
const (
	waiting = ".fst"
	refused = ".refused"
)

// Spool is the folder of the results of one file system that have to be sent.
type Spool struct{ dir string }

// OpenSpool makes the folder for a file system, below dir. Only its owner may read it:
// results hold names.
func OpenSpool(dir, fileSystem string) (Spool, error) {
	s := Spool{filepath.Join(dir, fileSystem)}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return s, fmt.Errorf("make the folder for results on their way: %w", err)
	}
	return s, nil
}

// File returns where the result of an id waits.
func (s Spool) File(id string) string { return filepath.Join(s.dir, id+waiting) }

// Waiting returns the results that have to be sent, the oldest first.
func (s Spool) Waiting() ([]Result, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("look for results that were not sent: %w", err)
	}
	age := make(map[string]int64)
	var results []Result
	for _, e := range entries {
		id, found := strings.CutSuffix(e.Name(), waiting)
		info, err := e.Info()
		if !found || uuid.Validate(id) != nil || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look for results that were not sent: %w", err)
		}
		age[id] = info.ModTime().UnixNano()
		results = append(results, Result{File: s.File(id), ID: id})
	}
	slices.SortFunc(results, func(a, b Result) int { return cmp.Compare(age[a.ID], age[b.ID]) })
	return results, nil
}

// Sent removes a result that is stored.
func (s Spool) Sent(r Result) error {
	if err := os.Remove(r.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a result that was sent: %w", err)
	}
	return nil
}

// Refused puts a result aside that the server will never take, and returns where.
func (s Spool) Refused(r Result) (string, error) {
	if err := os.Rename(r.File, r.File+refused); err != nil {
		return r.File, fmt.Errorf("put the refused result aside: %w", err)
	}
	return r.File + refused, nil
}

// BusyError says that another process scans the file system into this spool.
type BusyError struct{ FileSystem string }

func (e *BusyError) Error() string {
	return e.FileSystem + " is being scanned by another fstally scan --push on this host: wait for it or end it"
}

// Conflict reports true.
func (e *BusyError) Conflict() bool { return true }

// Lock keeps other scans of the file system away until unlock is called or the process
// ends.
func (s Spool) Lock() (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(s.dir, "lock"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the folder for results on their way: %w", err)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = &BusyError{FileSystem: filepath.Base(s.dir)}
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return func() { _ = file.Close() }, nil
}

func (s Spool) settingsFile() string { return filepath.Join(s.dir, "settings.json") }

// Remember keeps the settings of the file system for a night in which the server is away.
func (s Spool) Remember(f *usage.FileSystem) error {
	text, err := json.Marshal(newFileSystem(f))
	if err != nil {
		return fmt.Errorf("remember the settings: %w", err)
	}
	file := s.settingsFile()
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return fmt.Errorf("remember the settings: %w", err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("remember the settings: %w", err)
	}
	return nil
}

// Remembered returns the settings that were last kept.
func (s Spool) Remembered() (usage.FileSystem, error) {
	text, err := os.ReadFile(s.settingsFile())
	if err != nil {
		return usage.FileSystem{}, err
	}
	var f fileSystem
	if err := json.Unmarshal(text, &f); err != nil {
		return usage.FileSystem{}, fmt.Errorf("read the remembered settings: %w", err)
	}
	remembered, err := f.translate()
	if err != nil {
		return usage.FileSystem{}, fmt.Errorf("the remembered settings: %w", err)
	}
	return remembered, nil
}
