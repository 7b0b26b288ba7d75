package result

import (
	"errors"
	"fmt"

	"fstally/internal/aggregate"
	"fstally/internal/usage"
)

// Result is a scan, or a part of one, with all that is known of it.
type Result struct {
	Meta    usage.Meta
	Partial *aggregate.Partial
}

// Summary returns the final numbers.
func (r *Result) Summary() *usage.Summary { return r.Partial.Summary() }

// What can be wrong with a file; the errors that Read returns wrap one of these.
var (
	ErrForeign = errors.New("this is not a result of fstally scan")
	ErrNewer   = errors.New("this result was written by a newer fstally: upgrade this one to import it")
	ErrCut     = errors.New("the result is cut short: copy it again, or scan again")
	ErrDamaged = errors.New("the result is damaged: copy it again, or scan again")
)

// Unusable reports an error that says what is wrong with a file, and not only that it
// could not be read.
func Unusable(err error) bool {
	return errors.Is(err, ErrForeign) || errors.Is(err, ErrNewer) || errors.Is(err, ErrCut) || errors.Is(err, ErrDamaged)
}

// magic is the first line of the file, in plain text, and names the version.
const (
	magic   = "fstally result "
	version = 1
)

// kind tells what a record holds. The numbers are part of the format.
type kind uint8

const (
	kindMeta kind = iota + 1
	kindCounters
	kindCells
	kindSizes
	kindAges
	kindNodes
	kindLinks
	kindErrors
	kindSkipped
	kindCategories
	kindFilesets
	kindIdentities
	kindTrailer
)

// rowsPerRecord bounds how much a reader has to hold beside its result.
const rowsPerRecord = 4096

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w (%s)", ErrDamaged, fmt.Sprintf(format, args...))
}
