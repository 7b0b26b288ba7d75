package upload

import (
	"fmt"

	"fstally/internal/usage"
)

// conflict is an error of a request that does not fit the state of an upload. Its text
// is for the sender.
type conflict string

func (c conflict) Error() string { return string(c) }

// Conflict reports true.
func (c conflict) Conflict() bool { return true }

// Conflicts of an upload; match with errors.Is.
const (
	// ErrBusy: another request is adding bytes, or the upload is being imported.
	ErrBusy = conflict("this result is being sent by another request at this moment: ask for the offset and " +
		"go on from there")
	// ErrOther: the id is that of another upload.
	ErrOther = conflict("another file with the same result id is being uploaded, or for another file system: " +
		"remove that upload first")
	// ErrImporting: the upload is complete, and can be neither changed nor removed.
	ErrImporting = conflict("this result is complete and is being imported")
	// ErrStoredElsewhere: the result is in the store, as a scan of another file system.
	ErrStoredElsewhere = conflict("this result is stored already, as a scan of another file system")
)

// OffsetError says that bytes were sent for another place than the next.
type OffsetError struct{ Offset int64 }

func (e *OffsetError) Error() string {
	return fmt.Sprintf("%d bytes of this result are here: go on from this offset", e.Offset)
}

// Conflict reports true.
func (e *OffsetError) Conflict() bool { return true }

// InvalidError is an announcement that cannot be.
type InvalidError struct{ Field, Reason string }

func (e *InvalidError) Error() string { return e.Field + ": " + e.Reason }

// TooLargeError is a result, or a piece of one, beyond its bound.
type TooLargeError struct{ Size, Most int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("these are %s bytes, and the most is %s", usage.GroupDigits(fmt.Sprint(e.Size)),
		usage.GroupDigits(fmt.Sprint(e.Most)))
}

// TooManyError says that there are as many uploads as there may be.
type TooManyError struct{ Most int }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("%d uploads are under way, which is the most: try again when one of them has ended", e.Most)
}

// FullError says that the disk of the server has no room for the upload. What is there
// already is kept.
type FullError struct{ Need, Free int64 }

func (e *FullError) Error() string {
	return fmt.Sprintf("the server has no room for it: %s are needed, %s are free; what was sent is kept: "+
		"make room on the disk of its data directory, then go on",
		usage.FormatBytes(usage.ByteCount(max(0, e.Need))), usage.FormatBytes(usage.ByteCount(max(0, e.Free))))
}
