package embeddedpg

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Running gives the address of the Postgres that another fstally runs on dir
// (FSTALLY_DATA_DIR), for commands of the same user on the same machine. The
// error is [ErrNotRunning] or [ErrStarting] if there is none that takes
// connections.
func Running(dir string) (url string, err error) {
	file, err := os.Open(filepath.Join(dir, lockName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", notRunning(dir)
	}
	if err != nil {
		return "", unusableDir(dir, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()

	held, err := heldByOther(file)
	if err != nil {
		return "", unusableDir(dir, err)
	}
	if !held {
		return "", notRunning(dir)
	}
	h := readHolder(file)
	if h.URL == "" {
		return "", problemf(ErrStarting, "the Postgres of fstally (pid %d) in %s is not ready yet: try again in a moment",
			h.PID, dir)
	}
	return h.URL, nil
}

func notRunning(dir string) error {
	return problemf(ErrNotRunning, "no fstally serve runs on %s", dir)
}
