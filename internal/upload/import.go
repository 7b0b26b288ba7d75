package upload

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"fstally/internal/result"
	"fstally/internal/usage"
)

// sweepEvery is how often complete uploads are tried again that could not be imported,
// and old ones are looked for.
const sweepEvery = 30 * time.Second

// Run imports uploads as they become complete, one at a time since each takes the memory
// of a whole result, until ctx ends. It is the one owner of imports in this process.
func (f *Folder) Run(ctx context.Context) error {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if err := f.ImportComplete(ctx); err != nil && ctx.Err() == nil {
			f.Logger.ErrorContext(ctx, "import what was uploaded", "error", err)
		}
		if err := f.removeOld(ctx); err != nil && ctx.Err() == nil {
			f.Logger.ErrorContext(ctx, "remove old uploads", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-f.wake:
		case <-tick.C:
		}
	}
}

// wakeUp makes Run look at once.
func (f *Folder) wakeUp() {
	select {
	case f.wake <- struct{}{}:
	default: // it is awake
	}
}

// ImportComplete imports every upload that is complete. One that cannot be imported
// now, such as while the database is away, stays; it is logged.
func (f *Folder) ImportComplete(ctx context.Context) error {
	if err := f.mendNames(); err != nil {
		return err
	}
	ids, err := f.ids(complete)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := f.importOne(ctx, id)
		f.tellChange()
		if err != nil && !errors.Is(err, ErrBusy) && !errors.Is(err, usage.ErrNotFound) {
			f.Logger.WarnContext(ctx, "import an uploaded result; it is tried until it succeeds", "result", id, "error", err)
		}
	}
	return nil
}

// mendNames completes uploads whose last byte was kept, but which a crash kept from
// their name.
func (f *Folder) mendNames() error {
	ids, err := f.ids(partial)
	if err != nil {
		return err
	}
	for _, id := range ids {
		u, err := f.read(id)
		if err != nil || u.State != Receiving || u.Offset < u.Size {
			continue
		}
		part, err := f.lock(id, partial, os.O_WRONLY)
		if err != nil {
			continue // its sender is just doing so
		}
		err = f.completed(part, id)
		_ = part.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// importOne brings an upload to its end, unless the error says that it has to wait.
func (f *Folder) importOne(ctx context.Context, id string) error {
	file, err := f.lock(id, complete, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	u, err := f.read(id)
	if err != nil {
		return err
	}
	r, err := f.load(file, &u)
	if refusal, ok := errors.AsType[*refusal](err); ok {
		return f.refuse(ctx, &u, refusal)
	}
	if err != nil {
		return err
	}
	scan, err := f.store(ctx, &u, r)
	if refusal, ok := errors.AsType[*refusal](err); ok {
		return f.refuse(ctx, &u, refusal)
	}
	if err != nil {
		return err
	}
	f.Logger.InfoContext(ctx, "imported an uploaded result", "result", id, "scan", scan.ID,
		"filesystem_id", scan.FileSystemID)
	return f.forget(id)
}

// refusal ends an upload without a scan.
type refusal struct {
	reason string
	resend bool
}

func (r *refusal) Error() string { return r.reason }

// load reads the result and compares the bytes with those that were announced.
func (f *Folder) load(file *os.File, u *Upload) (*result.Result, error) {
	hash := sha256.New()
	in := io.TeeReader(file, hash)
	r, wrong := result.Read(in)
	if _, err := io.Copy(io.Discard, in); err != nil {
		return nil, fmt.Errorf("read the upload: %w", err)
	}
	if sum := hex.EncodeToString(hash.Sum(nil)); sum != u.SHA256 {
		return nil, &refusal{resend: true, reason: fmt.Sprintf(
			"what arrived is not what was announced: its SHA-256 is %s instead of %s: send it again", sum, u.SHA256)}
	}
	if result.Unusable(wrong) {
		return nil, &refusal{reason: wrong.Error()}
	}
	if wrong != nil {
		return nil, fmt.Errorf("read the upload: %w", wrong)
	}
	if r.Meta.ResultID != u.ID {
		return nil, &refusal{reason: fmt.Sprintf("the id of the result is %s, and it was announced as %s: "+
			"announce it by its own", r.Meta.ResultID, u.ID)}
	}
	return r, nil
}

// store brings the result into the store.
func (f *Folder) store(ctx context.Context, u *Upload, r *result.Result) (usage.Scan, error) {
	fileSystem, err := f.Store.FileSystem(ctx, usage.Everything(), strconv.FormatInt(u.FileSystemID, 10))
	if errors.Is(err, usage.ErrNotFound) {
		return usage.Scan{}, &refusal{reason: "the file system was removed meanwhile: add it again, then send the " +
			"result again"}
	}
	if err != nil {
		return usage.Scan{}, err
	}
	if err := CheckRoot(&fileSystem, &r.Meta); err != nil && !u.AnyRoot {
		return usage.Scan{}, &refusal{reason: err.Error()}
	}
	scan, err := f.Store.ImportPushed(ctx, fileSystem.ID, r)
	switch {
	case err == nil:
		return scan, nil
	case ctx.Err() != nil, f.Store.Passing(err):
		return usage.Scan{}, err
	case f.Store.Internal(err):
		f.Logger.ErrorContext(ctx, "the store does not take an uploaded result", "result", u.ID, "error", err)
		return usage.Scan{}, &refusal{reason: "the store does not take it; the log of the server says why"}
	default:
		return usage.Scan{}, &refusal{reason: err.Error()}
	}
}

// CheckRoot reports a result that was scanned elsewhere than where its file system is:
// most likely it belongs to another.
func CheckRoot(fileSystem *usage.FileSystem, meta *usage.Meta) error {
	if meta.Root == fileSystem.Root {
		return nil
	}
	return fmt.Errorf("this is a scan of %s, and %s is at %s: name the right file system, or say any root (--any-root, "+
		"any_root) if it is mounted there on the host that scanned", usage.Escape(meta.Root), fileSystem.Name,
		usage.Escape(fileSystem.Root))
}

// refuse keeps the reason for the sender, and nothing else.
func (f *Folder) refuse(ctx context.Context, u *Upload, r *refusal) error {
	f.Logger.WarnContext(ctx, "an uploaded result is refused", "result", u.ID,
		"filesystem_id", u.FileSystemID, "reason", r.reason)
	if err := f.write(record{Announcement: u.Announcement, Reason: r.reason, Resend: r.resend}); err != nil {
		return err
	}
	return os.Remove(f.file(u.ID, complete))
}

// forget removes an upload that is in the store.
func (f *Folder) forget(id string) error {
	if err := os.Remove(f.file(id, complete)); err != nil {
		return fmt.Errorf("remove an imported upload: %w", err)
	}
	if err := os.Remove(f.file(id, announced)); err != nil {
		return fmt.Errorf("remove an imported upload: %w", err)
	}
	return nil
}

// Finish waits for the import of a complete upload: until it ended, or for as long as
// Patience. OffsetError: bytes are missing.
func (f *Folder) Finish(ctx context.Context, id string) (Upload, error) {
	enough := time.NewTimer(f.Patience)
	defer enough.Stop()
	f.wakeUp() // once: while the database is away, each try ends soon
	for {
		f.mu.Lock()
		changed := f.changed
		f.mu.Unlock()
		u, err := f.Status(ctx, id)
		if err == nil && u.State == Receiving {
			return Upload{}, &OffsetError{Offset: u.Offset}
		}
		if err != nil || u.State != Importing {
			return u, err
		}
		select {
		case <-changed:
		case <-enough.C:
			return u, nil
		case <-ctx.Done():
			return u, nil
		}
	}
}

// tellChange wakes those who wait for an import.
func (f *Folder) tellChange() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.changed)
	f.changed = make(chan struct{})
}

// removeOld removes what has waited too long for more bytes, or for its sender to learn
// that it was refused, and what a crash left half done.
func (f *Folder) removeOld(ctx context.Context) error {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return fmt.Errorf("list the uploads: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look at an upload: %w", err)
		}
		if time.Since(info.ModTime()) < f.Keep || !info.Mode().IsRegular() {
			continue
		}
		id, isAnnouncement := strings.CutSuffix(e.Name(), announced)
		switch {
		case isAnnouncement && validateID(id) == nil:
			err = f.removeIfOld(ctx, id)
		case strings.HasPrefix(e.Name(), "."): // an announcement that was never whole
			err = os.Remove(f.file(e.Name(), ""))
		}
		if err != nil {
			return fmt.Errorf("remove an old upload: %w", err)
		}
	}
	return nil
}

// removeIfOld removes an upload whose announcement is old, unless bytes came since.
func (f *Folder) removeIfOld(ctx context.Context, id string) error {
	u, err := f.read(id)
	if errors.Is(err, usage.ErrNotFound) { // only the announcement is there
		return os.Remove(f.file(id, announced))
	}
	if err != nil || u.State == Importing || time.Now().Before(u.Expires) {
		return err
	}
	f.Logger.WarnContext(ctx, "removed an upload that did not go on", "result", id, "filesystem_id", u.FileSystemID,
		"bytes", u.Offset, "of", u.Size)
	err = f.Remove(id)
	if errors.Is(err, ErrBusy) || errors.Is(err, usage.ErrNotFound) {
		return nil
	}
	return err
}
