package upload

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/google/uuid"

	"fstally/internal/usage"
)

// State is how far an upload has come.
type State string

// The states of an upload. Importing goes on until the store has it, however long the
// database is away.
const (
	Receiving State = "receiving"
	Importing State = "importing"
	Imported  State = "imported"
	Refused   State = "refused"
)

// Announcement is what the sender says of a result before it sends it.
type Announcement struct {
	ID           string `json:"id"` // of the result: a UUID in its usual form, in lower case
	FileSystemID int64  `json:"filesystem_id"`
	Size         int64  `json:"size"`   // of the file, in bytes
	SHA256       string `json:"sha256"` // of the file, in lower-case hexadecimal
	// AnyRoot takes a result of another root than that of the file system, which is
	// elsewhere on the host that scanned.
	AnyRoot bool `json:"any_root"`
}

// Upload is a result on its way.
type Upload struct {
	Announcement
	State   State
	Offset  int64      // bytes that are there
	Expires time.Time  // when it is forgotten unless more comes; zero while importing and after
	Reason  string     // of a refusal, for the sender
	Resend  bool       // of a refusal: the bytes were damaged on the way, and may be sent again
	Scan    usage.Scan // what it became; of an imported one
}

// same reports whether both announce the same file for the same file system.
func (a *Announcement) same(b *Announcement) bool {
	return a.FileSystemID == b.FileSystemID && a.Size == b.Size && a.SHA256 == b.SHA256
}

func (a *Announcement) validate() error {
	if err := validateID(a.ID); err != nil {
		return err
	}
	if a.Size < 1 {
		return &InvalidError{Field: "size", Reason: "a result has at least one byte"}
	}
	if sum, err := hex.DecodeString(a.SHA256); err != nil || len(sum) != 32 || hex.EncodeToString(sum) != a.SHA256 {
		return &InvalidError{Field: "sha256", Reason: "write the SHA-256 of the file as 64 of 0-9 a-f"}
	}
	return nil
}

// validateID takes only the one form of a UUID that can be the name of a file.
func validateID(id string) error {
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		return fmt.Errorf("upload %q: %w", usage.Escape(id), usage.ErrNotFound)
	}
	return nil
}
