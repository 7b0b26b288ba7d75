package embeddedpg

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// What can be wrong in a way that callers may want to tell apart. The errors
// that wrap these say what was found and what to do about it.
var (
	// ErrInUse: another fstally runs on the directory.
	ErrInUse = errors.New("data directory in use")
	// ErrNoBinaries: no usable Postgres server programs on this machine.
	ErrNoBinaries = errors.New("no Postgres server programs")
	// ErrVersion: the data was made by a major version of Postgres that is
	// not installed. The data is untouched.
	ErrVersion = errors.New("data of another Postgres version")
	// ErrDiskFull: the file system of the data directory, or a quota, is full.
	ErrDiskFull = errors.New("disk full")
	// ErrUnusable: the directory cannot serve as it is (missing rights, foreign
	// or damaged content). It is untouched.
	ErrUnusable = errors.New("data directory not usable")
	// ErrNotRunning: no fstally runs a Postgres on the directory.
	ErrNotRunning = errors.New("no Postgres is running")
	// ErrStarting: an fstally holds the directory, but its Postgres does not
	// take connections yet, or does not any more.
	ErrStarting = errors.New("private Postgres is not ready")
	// ErrNewest: there are no programs of a later major version than the data's.
	ErrNewest = errors.New("no newer Postgres")
)

// problem is an error of one of the kinds above, with a message for the user
// that stands alone.
type problem struct {
	kind    error
	message string
}

func problemf(kind error, format string, args ...any) error {
	return &problem{kind: kind, message: fmt.Sprintf(format, args...)}
}

func (p *problem) Error() string { return p.message }
func (p *problem) Unwrap() error { return p.kind }

// reportedKinds are those that the supervisor meets and fstally reports: errors
// cross from one process to the other as text, the kind by its own.
func reportedKinds() []error {
	return []error{ErrNoBinaries, ErrVersion, ErrDiskFull, ErrUnusable}
}

// kindName is the text for err's kind on the wire, "" for none.
func kindName(err error) string {
	for _, kind := range reportedKinds() {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return ""
}

// reported turns what the supervisor sent back into an error.
func reported(kind, message string) error {
	for _, known := range reportedKinds() {
		if kind == known.Error() {
			return problemf(known, "%s", message)
		}
	}
	return errors.New(message)
}

// explainDiskFull gives err its kind and a remedy if it, or what a Postgres
// program printed, says that there is no space; other errors pass unchanged.
func explainDiskFull(err error, folder string) error {
	if err == nil || errors.Is(err, ErrDiskFull) {
		return err
	}
	text := err.Error()
	full := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		strings.Contains(text, "No space left on device") ||
		strings.Contains(text, "Disk quota exceeded")
	if !full {
		return err
	}
	return problemf(ErrDiskFull, "no space left for Postgres in %s: "+
		"free some space (or raise the quota) and start again; what was stored is kept. %s", folder, text)
}
