package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"fstally/internal/usage"
)

// conflict is an error of a request that was understood and does not fit the
// state of the store. Consumers that do not import this package know it by its
// method: errors.As(err, new(interface{ Conflict() bool })).
type conflict string

func (c conflict) Error() string { return string(c) }

// Conflict reports true.
func (c conflict) Conflict() bool { return true }

// What a request may conflict with; match with errors.Is. What does not exist,
// or is outside the caller's scope, is usage.ErrNotFound.
const (
	// ErrExists: another file system has this name or this root.
	ErrExists = conflict("already exists")
	// ErrBusy: a scan of the file system is queued or runs; see BusyError.
	ErrBusy = conflict("a scan is queued or running")
	// ErrEnded: the scan has ended, and its state no longer changes.
	ErrEnded = conflict("the scan has ended")
	// ErrNotSuspect: only suspect scans are accepted or rejected.
	ErrNotSuspect = conflict("this scan is not suspect: there is nothing to accept or reject")
	// ErrPart: the scan saw a part of its file system.
	ErrPart = conflict("only a part was scanned, which never stands for the whole: scan all of it")
	// ErrImported: the result is in the store already; see ImportedError.
	ErrImported = conflict("already imported")
	// ErrLeaseLost: the scan is not run by this owner, or no longer.
	ErrLeaseLost = conflict("the lease is lost")
)

// BusyError is an ErrBusy that says which scan is in the way.
type BusyError struct{ ScanID int64 }

func (e *BusyError) Error() string {
	return fmt.Sprintf("scan %d of this file system is queued or running: wait for it or cancel it", e.ScanID)
}

// Unwrap returns ErrBusy.
func (e *BusyError) Unwrap() error { return ErrBusy }

// BusyScan returns the scan in the way, for consumers that do not import this package.
func (e *BusyError) BusyScan() int64 { return e.ScanID }

// ImportedError is an ErrImported that carries the scan that the result became.
type ImportedError struct{ Scan usage.Scan }

func (e *ImportedError) Error() string {
	return fmt.Sprintf("this result is in the store already, as scan %d", e.Scan.ID)
}

// Unwrap returns ErrImported.
func (e *ImportedError) Unwrap() error { return ErrImported }

// SQLSTATE values that have a meaning here (Postgres manual, appendix A).
const (
	uniqueViolation  = "23505"
	lockNotAvailable = "55P03"
)

// violates reports whether err is a violation of the named unique constraint or
// index; "" stands for any.
func violates(err error, constraint string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == uniqueViolation && (constraint == "" || pg.ConstraintName == constraint)
}
