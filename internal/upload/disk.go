package upload

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// free returns the bytes of the disk that this program may use.
func (f *Folder) free() (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(f.Dir, &s); err != nil {
		return 0, fmt.Errorf("ask for the free space of %s: %w", f.Dir, err)
	}
	return int64(s.Bavail) * s.Bsize, nil
}

// room reports a disk on which so many more bytes would leave less than the reserve.
// A database that shares the disk must not stop for an upload.
func (f *Folder) room(need int64) error {
	free, err := f.free()
	if err != nil {
		return err
	}
	if free-f.Reserve < need {
		return &FullError{Need: need + f.Reserve, Free: free}
	}
	return nil
}

// promised returns the bytes that announced uploads may still bring.
func (f *Folder) promised() (bytes int64, uploads int, err error) {
	for _, suffix := range []string{partial, complete} {
		ids, err := f.ids(suffix)
		if err != nil {
			return 0, 0, err
		}
		uploads += len(ids)
		for _, id := range ids {
			if u, err := f.read(id); err == nil { // else it has just ended
				bytes += u.Size - u.Offset
			}
		}
	}
	return bytes, uploads, nil
}

// explain turns a write for which the disk had no room into a FullError.
func (f *Folder) explain(err error, need int64) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		free, _ := f.free() // 0 where it cannot be told
		return &FullError{Need: need + f.Reserve, Free: free}
	}
	return fmt.Errorf("keep the upload: %w", err)
}

// syncDir makes a rename last.
func (f *Folder) syncDir() error {
	dir, err := os.Open(f.Dir)
	if err != nil {
		return fmt.Errorf("keep the upload: %w", err)
	}
	defer dir.Close() //nolint:errcheck // nothing was written
	if err := dir.Sync(); err != nil {
		return fmt.Errorf("keep the upload: %w", err)
	}
	return nil
}
