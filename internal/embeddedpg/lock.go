package embeddedpg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lock is the right of one fstally to use FSTALLY_DATA_DIR, and of one
// supervisor to use the folder. It is an open file
// description lock: unlike flock it can be asked about without being taken, and
// unlike classic record locks it also holds against its own process. The kernel
// drops it when the process ends, however it ends.
type lock struct {
	file *os.File
}

// holder is the content of the lock's file. It says something only while the
// lock is held.
type holder struct {
	PID int
	URL string // empty until Postgres takes connections
}

func acquireLock(root *os.Root) (*lock, error) {
	file, err := root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, unusableDir(root.Name(), err)
	}
	l := &lock{file: file}
	free, err := l.try()
	switch {
	case err != nil:
		err = unusableDir(root.Name(), err)
	case !free:
		who := "another fstally"
		if h := readHolder(file); h.PID != 0 {
			who = fmt.Sprintf("another fstally (pid %d)", h.PID)
		}
		err = problemf(ErrInUse, "%s already runs on %s: use that one, stop it, "+
			"or set FSTALLY_DATA_DIR to another directory", who, root.Name())
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return l, nil
}

// try takes the lock if it is free.
func (l *lock) try() (bool, error) {
	err := unix.FcntlFlock(l.file.Fd(), unix.F_OFD_SETLK, wholeFile(unix.F_WRLCK))
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", l.file.Name(), err)
	}
	return true, l.publish("")
}

// insist takes the lock, and kills the process that still holds it after
// patience.
func (l *lock) insist(ctx context.Context, patience time.Duration) error {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		free, err := l.try()
		if free || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			if h := readHolder(l.file); h.PID > 0 {
				_ = unix.Kill(h.PID, unix.SIGKILL) // seen by the next try
			}
		case <-ctx.Done():
			return fmt.Errorf("wait for lock %s: %w", l.file.Name(), ctx.Err())
		}
	}
}

// publish records who holds the lock and where its Postgres is.
func (l *lock) publish(url string) error {
	text, err := json.Marshal(holder{PID: os.Getpid(), URL: url})
	if err != nil {
		return fmt.Errorf("write %s: %w", l.file.Name(), err)
	}
	// Written before it is cut, so that no reader meets an empty file.
	if _, err := l.file.WriteAt(append(text, '\n'), 0); err != nil {
		return unusableDir(l.file.Name(), err)
	}
	if err := l.file.Truncate(int64(len(text) + 1)); err != nil {
		return unusableDir(l.file.Name(), err)
	}
	return nil
}

func (l *lock) release() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("release lock %s: %w", l.file.Name(), err)
	}
	return nil
}

// heldByOther tells whether another open file holds the lock of file.
func heldByOther(file *os.File) (bool, error) {
	query := wholeFile(unix.F_RDLCK)
	if err := unix.FcntlFlock(file.Fd(), unix.F_OFD_GETLK, query); err != nil {
		return false, fmt.Errorf("ask for the lock of %s: %w", file.Name(), err)
	}
	return query.Type != unix.F_UNLCK, nil
}

// readHolder is the zero holder while the file is being written.
func readHolder(file *os.File) holder {
	var h holder
	if err := json.NewDecoder(io.NewSectionReader(file, 0, 1<<16)).Decode(&h); err != nil {
		return holder{}
	}
	return h
}

func wholeFile(kind int16) *unix.Flock_t {
	return &unix.Flock_t{Type: kind, Whence: io.SeekStart}
}
