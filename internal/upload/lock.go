package upload

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"fstally/internal/usage"
)

// lock opens a file of an upload for this caller alone, until it is closed or the
// process ends. ErrBusy: somebody else has it. usage.ErrNotFound: it is not there, any
// more perhaps.
func (f *Folder) lock(id, suffix string, flag int) (*os.File, error) {
	name := f.file(id, suffix)
	file, err := os.OpenFile(name, flag, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("upload %s: %w", id, usage.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("open the upload: %w", err)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		err = ErrBusy
	case err != nil:
		err = fmt.Errorf("lock the upload: %w", err)
	default:
		err = stillThere(file, name, id)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// stillThere reports a file that was renamed or removed before its lock was had.
func stillThere(file *os.File, name, id string) error {
	locked, err := file.Stat()
	if err != nil {
		return fmt.Errorf("look at the upload: %w", err)
	}
	named, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(locked, named) {
		return fmt.Errorf("upload %s: %w", id, usage.ErrNotFound)
	}
	if err != nil {
		return fmt.Errorf("look at the upload: %w", err)
	}
	return nil
}
