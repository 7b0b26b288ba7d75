package upload

import (
	"context"
	"errors"
	"io"
	"os"

	"fstally/internal/usage"
)

// Announce begins an upload, or finds one that was begun: its offset says from where to
// go on. A result that is stored already is Imported; one that was refused begins anew.
//
// Errors: InvalidError, TooLargeError, TooManyError, FullError, ErrOther,
// ErrStoredElsewhere.
func (f *Folder) Announce(ctx context.Context, a Announcement) (Upload, error) {
	if err := a.validate(); err != nil {
		return Upload{}, err
	}
	if a.Size > f.MaxSize {
		return Upload{}, &TooLargeError{Size: a.Size, Most: f.MaxSize}
	}
	f.announcing.Lock()
	defer f.announcing.Unlock()
	u, err := f.Status(ctx, a.ID)
	switch {
	case errors.Is(err, usage.ErrNotFound), err == nil && u.State == Refused:
		return f.begin(a)
	case err != nil:
		return Upload{}, err
	case u.State == Imported && u.FileSystemID != a.FileSystemID:
		return Upload{}, ErrStoredElsewhere
	case u.State == Imported:
		return u, nil
	case !u.same(&a):
		return Upload{}, ErrOther
	case u.AnyRoot != a.AnyRoot:
		if err := f.write(record{Announcement: a}); err != nil {
			return Upload{}, err
		}
	}
	return f.Status(ctx, a.ID)
}

// begin makes the files of a new upload.
func (f *Folder) begin(a Announcement) (Upload, error) {
	promised, uploads, err := f.promised()
	if err != nil {
		return Upload{}, err
	}
	if uploads >= f.MaxUnfinished {
		return Upload{}, &TooManyError{Most: f.MaxUnfinished}
	}
	if err := f.room(promised + a.Size); err != nil {
		return Upload{}, err
	}
	// The announcement first: bytes without one would belong to nobody.
	if err := f.write(record{Announcement: a}); err != nil {
		return Upload{}, err
	}
	part, err := os.OpenFile(f.file(a.ID, partial), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return Upload{}, f.explain(err, a.Size)
	}
	if err := part.Close(); err != nil {
		return Upload{}, f.explain(err, a.Size)
	}
	return f.read(a.ID)
}

// Append adds bytes at the offset, which must be the end of those that are there. It
// keeps what it can read: when body breaks off, that is no error, and the upload that it
// returns says how far it came. With its last byte an upload is complete; one that is
// complete already, or has ended, is returned as it is.
//
// Errors: OffsetError, ErrBusy, TooLargeError (body goes on beyond the announced size),
// FullError, usage.ErrNotFound.
func (f *Folder) Append(ctx context.Context, id string, offset int64, body io.Reader) (Upload, error) {
	if err := validateID(id); err != nil {
		return Upload{}, err
	}
	part, err := f.lock(id, partial, os.O_WRONLY|os.O_APPEND)
	if errors.Is(err, usage.ErrNotFound) {
		return f.Status(ctx, id)
	}
	if err != nil {
		return Upload{}, err
	}
	defer part.Close() //nolint:errcheck // told by Sync where it matters
	u, err := f.read(id)
	if err != nil {
		return Upload{}, err
	}
	if offset != u.Offset {
		return Upload{}, &OffsetError{Offset: u.Offset}
	}
	if offset < u.Size { // else a crash came before it was complete
		if err := f.room(0); err != nil {
			return Upload{}, err
		}
		if err := f.copyBody(part, body, &u); err != nil {
			return Upload{}, err
		}
	}
	if u, err = f.read(id); err != nil {
		return Upload{}, err
	}
	if u.Offset == u.Size {
		if err := f.completed(part, id); err != nil {
			return Upload{}, err
		}
	}
	return f.Status(ctx, id)
}

// copyBody writes what body has of the missing bytes.
func (f *Folder) copyBody(part *os.File, body io.Reader, u *Upload) error {
	w, missing := &fileWriter{file: part}, u.Size-u.Offset
	n, _ := io.Copy(w, io.LimitReader(body, missing)) // a body that breaks off is no error
	if w.err != nil {
		return f.explain(w.err, missing-n)
	}
	if n < missing {
		return nil
	}
	if extra, _ := io.CopyN(io.Discard, body, 1); extra > 0 {
		// Which of the bytes are right nobody knows.
		if err := part.Truncate(0); err != nil {
			return f.explain(err, 0)
		}
		return &TooLargeError{Size: u.Size + 1, Most: u.Size}
	}
	return nil
}

// fileWriter tells errors of writing from those of reading in a copy.
type fileWriter struct {
	file *os.File
	err  error
}

func (w *fileWriter) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	if err != nil {
		w.err = err
	}
	return n, err
}

// completed makes an upload the importer's, whatever happens from here.
func (f *Folder) completed(part *os.File, id string) error {
	if err := part.Sync(); err != nil {
		return f.explain(err, 0)
	}
	if err := os.Rename(part.Name(), f.file(id, complete)); err != nil {
		return f.explain(err, 0)
	}
	if err := f.syncDir(); err != nil {
		return err
	}
	f.wakeUp()
	return nil
}
