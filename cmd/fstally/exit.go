package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"fstally/internal/embeddedpg"
	"fstally/internal/jobs"
	"fstally/internal/postgres"
	"fstally/internal/push"
	"fstally/internal/result"
	"fstally/internal/scan"
	"fstally/internal/usage"
	"fstally/internal/walk"
)

// Exit codes, documented in the help of the program and in docs/operations.md.
const (
	exitOK          = 0
	exitFailure     = 1   // anything else
	exitUsage       = 2   // the command line is wrong
	exitRoot        = 3   // the directory to scan is missing, no directory, unreadable or not answering
	exitDatabase    = 4   // the database refuses, is away, or does not fit this program
	exitInUse       = 5   // another fstally runs on the data directory
	exitResult      = 6   // the result or backup is foreign, cut or damaged
	exitNotFound    = 7   // no such file system or scan
	exitConflict    = 8   // it exists already, or a scan of it runs, or the store is not empty
	exitPush        = 9   // the server of --push is away, or does not let us in
	exitInterrupted = 130 // stopped by a signal, as shells count
)

// exitCodes is the table of the help text.
const exitCodes = `Exit codes: 0 done; 1 failed; 2 wrong command line; 3 the directory cannot be
scanned; 4 the database cannot be used; 5 another fstally runs on the data
directory; 6 the result or backup is refused; 7 no such file system or scan;
8 exists already, or is being scanned; 9 the server of --push is away or does not
let in, what was scanned is kept; 130 interrupted.`

// usageError is a mistake on the command line.
type usageError struct{ error }

// Unwrap returns the mistake.
func (e usageError) Unwrap() error { return e.error }

// databaseError is a failure to open the store.
type databaseError struct{ error }

// Unwrap returns the failure.
func (e databaseError) Unwrap() error { return e.error }

// listenError is a failure to take the address to serve, which would look like
// one to reach the database.
type listenError struct{ error }

// Unwrap returns the failure.
func (e listenError) Unwrap() error { return e.error }

// tell tells the user what went wrong and returns the exit code.
func tell(stderr io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	_, _ = fmt.Fprintln(stderr, "fstally:", tame(err.Error()))
	return exitCode(err)
}

// tame escapes what would steer the terminal. Messages quote arguments, and a
// shell may have made those of the names of other people's files.
func tame(message string) string {
	var b strings.Builder
	for _, r := range message {
		if r == '\n' || r == '\\' { // of a longer message, and of what is escaped already
			b.WriteRune(r)
			continue
		}
		b.WriteString(usage.Escape(string(r)))
	}
	return b.String()
}

func exitCode(err error) int {
	var conflict interface{ Conflict() bool }
	switch {
	case errors.As(err, new(usageError)):
		return exitUsage
	case errors.As(err, new(*walk.RootError)), errors.As(err, new(*scan.StallError)):
		return exitRoot
	case errors.Is(err, embeddedpg.ErrInUse), errors.Is(err, embeddedpg.ErrStarting):
		return exitInUse
	case result.Unusable(err),
		isAny(err, postgres.ErrForeignBackup, postgres.ErrNewerBackup, postgres.ErrCutBackup, postgres.ErrDamagedBackup),
		errors.As(err, new(*push.RefusedError)), errors.As(err, new(otherRootError)):
		return exitResult
	case errors.Is(err, usage.ErrNotFound):
		return exitNotFound
	case errors.As(err, &conflict):
		return exitConflict
	case isAny(err, context.Canceled, jobs.ErrStopped):
		return exitInterrupted
	case errors.As(err, new(pushError)):
		return exitPush
	case errors.As(err, new(listenError)):
		return exitFailure
	case errors.As(err, new(databaseError)), postgres.FromDatabase(err):
		return exitDatabase
	default:
		return exitFailure
	}
}

func isAny(err error, targets ...error) bool {
	for _, t := range targets {
		if errors.Is(err, t) {
			return true
		}
	}
	return false
}
