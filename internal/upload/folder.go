package upload

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"fstally/internal/result"
	"fstally/internal/usage"
)

// Store is where results go.
type Store interface {
	FileSystem(ctx context.Context, scope usage.Scope, nameOrID string) (usage.FileSystem, error)
	// ScanOfResult returns the scan that a result became; usage.ErrNotFound where it
	// is not in the store.
	ScanOfResult(ctx context.Context, resultID string) (usage.Scan, error)
	// ImportPushed stores a result and returns its scan: the one that it became before,
	// where it is stored already.
	ImportPushed(ctx context.Context, fileSystemID int64, r *result.Result) (usage.Scan, error)
	// Passing reports an error that may pass by itself, such as of a database that is
	// away, so that the import is worth another try.
	Passing(err error) bool
	// Internal reports an error whose text is not for the sender.
	Internal(err error) bool
}

// Options are what a folder is made of.
type Options struct {
	Dir    string // made where it is missing; for nobody but this program
	Store  Store
	Logger *slog.Logger

	MaxSize       int64         // bytes of one result; 0 for DefaultMaxSize
	MaxUnfinished int           // uploads at a time; 0 for 100
	Keep          time.Duration // how long an upload waits for more bytes; 0 for 7 days
	Reserve       int64         // bytes that uploads leave free on the disk; 0 for 256 MiB
	Patience      time.Duration // how long Finish waits for an import; 0 for 20 s
}

// DefaultMaxSize is the size of a result beyond which something is wrong: that of a
// billion files takes well below a GiB.
const DefaultMaxSize = 8 << 30

// Folder is a folder of uploads.
type Folder struct {
	Options
	announcing sync.Mutex // makes the bounds hold; uploads themselves are locked by their files
	wake       chan struct{}
	mu         sync.Mutex
	changed    chan struct{} // closed and replaced whenever an import ends, under mu
}

// Open opens the folder.
func Open(o Options) (*Folder, error) {
	o.MaxSize = cmp.Or(o.MaxSize, DefaultMaxSize)
	o.MaxUnfinished = cmp.Or(o.MaxUnfinished, 100)
	o.Keep = cmp.Or(o.Keep, 7*24*time.Hour)
	o.Reserve = cmp.Or(o.Reserve, 256<<20)
	o.Patience = cmp.Or(o.Patience, 20*time.Second)
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of uploads: %w", err)
	}
	return &Folder{Options: o, wake: make(chan struct{}, 1), changed: make(chan struct{})}, nil
}

// Suffixes of the files of an upload.
const (
	announced = ".json"
	partial   = ".part"
	complete  = ".fst"
)

func (f *Folder) file(id, suffix string) string { return filepath.Join(f.Dir, id+suffix) }

// record is what ID.json holds.
type record struct {
	Announcement
	Reason string `json:"reason,omitempty"`
	Resend bool   `json:"resend,omitempty"`
}

// read returns what is in the folder of an upload; usage.ErrNotFound where there is
// nothing.
func (f *Folder) read(id string) (Upload, error) {
	if err := validateID(id); err != nil {
		return Upload{}, err
	}
	text, err := os.ReadFile(f.file(id, announced))
	if errors.Is(err, fs.ErrNotExist) {
		return Upload{}, fmt.Errorf("upload %s: %w", id, usage.ErrNotFound)
	}
	if err != nil {
		return Upload{}, fmt.Errorf("read the upload: %w", err)
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil || r.ID != id {
		return Upload{}, fmt.Errorf("the announcement %s is damaged: remove it (%w)", f.file(id, announced), err)
	}
	u := Upload{Announcement: r.Announcement, Reason: r.Reason, Resend: r.Resend}
	// In the order in which an upload goes through them, since it may do so meanwhile.
	for _, look := range []struct {
		suffix string
		state  State
	}{{partial, Receiving}, {complete, Importing}, {announced, Refused}} {
		info, err := os.Stat(f.file(id, look.suffix))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Upload{}, fmt.Errorf("look at the upload: %w", err)
		}
		u.State = look.state
		if look.state != Refused {
			u.Offset = info.Size()
		}
		if look.state != Importing {
			u.Expires = info.ModTime().Add(f.Keep)
		}
		break
	}
	switch {
	case u.State == "": // imported since it was read
		return Upload{}, fmt.Errorf("upload %s: %w", id, usage.ErrNotFound)
	case u.State == Refused && u.Reason == "":
		// Between two files: its last step before it is gone, or a crash there. All
		// that is known is in the store.
		return Upload{}, fmt.Errorf("upload %s: %w", id, usage.ErrNotFound)
	}
	return u, nil
}

// write writes the announcement whole or not at all.
func (f *Folder) write(r record) (err error) {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the announcement: %w", err)
	}
	t, err := os.CreateTemp(f.Dir, "."+r.ID+".*")
	if err != nil {
		return f.explain(err, int64(len(text)))
	}
	defer func() {
		if err != nil {
			_ = t.Close()
			_ = os.Remove(t.Name())
			err = f.explain(err, int64(len(text)))
		}
	}()
	if _, err := t.Write(text); err != nil {
		return err
	}
	if err := t.Sync(); err != nil {
		return err
	}
	if err := t.Close(); err != nil {
		return err
	}
	return os.Rename(t.Name(), f.file(r.ID, announced))
}

// ids returns the uploads that have a file with the suffix.
func (f *Folder) ids(suffix string) ([]string, error) {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return nil, fmt.Errorf("list the uploads: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if id, found := strings.CutSuffix(e.Name(), suffix); found && validateID(id) == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Status returns an upload; usage.ErrNotFound where it is neither on its way nor in the
// store.
func (f *Folder) Status(ctx context.Context, id string) (Upload, error) {
	u, err := f.read(id)
	if !errors.Is(err, usage.ErrNotFound) || validateID(id) != nil {
		return u, err
	}
	scan, err := f.Store.ScanOfResult(ctx, id)
	if err != nil {
		return Upload{}, fmt.Errorf("upload %s: %w", id, err)
	}
	return Upload{
		Announcement: Announcement{ID: id, FileSystemID: scan.FileSystemID}, State: Imported, Scan: scan,
	}, nil
}

// Remove gives up an upload. ErrImporting: it is complete. ErrBusy: bytes are coming.
func (f *Folder) Remove(id string) error {
	u, err := f.read(id)
	if err != nil {
		return err
	}
	switch u.State {
	case Importing:
		return ErrImporting
	case Refused:
	default:
		part, err := f.lock(id, partial, os.O_WRONLY)
		if err != nil {
			return err
		}
		defer part.Close() //nolint:errcheck // it is removed
		if err := os.Remove(part.Name()); err != nil {
			return fmt.Errorf("remove the upload: %w", err)
		}
	}
	if err := os.Remove(f.file(id, announced)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the upload: %w", err)
	}
	return nil
}
