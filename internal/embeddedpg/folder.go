package embeddedpg

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Names in FSTALLY_DATA_DIR. All that Postgres owns is in one folder.
const (
	folderName = "postgres"
	lockName   = "postgres.lock"
	// newName is a directory like FSTALLY_DATA_DIR itself, for a Postgres that a
	// Rebuild is still filling: never anybody's only data.
	newName = "postgres.unfinished"
)

// Names in the folder, which is the supervisor's working directory.
const (
	dataName      = "data"
	nextName      = "data-next"  // a whole data directory, which takes the place of data at the next occasion
	initdbName    = "initdb.tmp" // a data directory in the making; no server ever ran in it
	socketName    = "run"
	ownerName     = "supervisor.lock"
	socketRefName = "socket-dir" // names the socket directory when it is elsewhere
	logName       = "postgres.log"
	hbaName       = "pg_hba.conf"
	identName     = "pg_ident.conf"
	binariesName  = "binaries" // downloads, one directory for each version
)

// openDir opens FSTALLY_DATA_DIR, which is made if missing. Everything that
// fstally itself does in it goes through the os.Root, so that a symlink in a
// directory of somebody else cannot turn root's hand elsewhere.
func openDir(dir string) (*os.Root, error) {
	//nolint:gosec // G301: directories above, such as ~/.local/state, are not only ours
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, unusableDir(dir, err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, unusableDir(dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unusableDir(dir, err)
	}
	info, err := root.Stat(".")
	if err == nil && info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
		err = errors.New("everybody may write to it: chmod o-w")
	}
	if err != nil {
		return nil, errors.Join(unusableDir(dir, err), root.Close())
	}
	return root, nil
}

// openFolder makes the folder if needed, gives a new one to acc, and opens it
// as a descriptor for the supervisor.
func openFolder(root *os.Root, acc account) (*os.File, error) {
	path := filepath.Join(root.Name(), folderName)
	err := root.Mkdir(folderName, 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, unusableDir(path, err)
	}
	if os.Geteuid() == 0 {
		if err := letEnter(root, acc); err != nil {
			return nil, unusableDir(path, err)
		}
	}
	folder, err := root.Open(folderName)
	if err != nil {
		return nil, unusableDir(path, err)
	}
	return folder, nil
}

// letEnter gives the folder to acc, and the right to pass through
// FSTALLY_DATA_DIR to acc's group if the directory's group has no rights so
// far. Only the right to run downloaded programs hangs on the latter, so a
// directory that has rights of its own is left as it is. Its owner stays, who may
// have started fstally here before root did.
func letEnter(root *os.Root, acc account) error {
	if err := root.Lchown(folderName, acc.UID, acc.GID); err != nil {
		return err
	}
	if err := root.Chmod(folderName, 0o700); err != nil {
		return err
	}
	info, err := root.Stat(".")
	if err != nil || info.Mode().Perm() != 0o700 {
		return err
	}
	if err := root.Chown(".", -1, acc.GID); err != nil {
		return err
	}
	return root.Chmod(".", 0o710)
}

func unusableDir(dir string, err error) error {
	if full := explainDiskFull(err, dir); errors.Is(full, ErrDiskFull) {
		return full
	}
	return problemf(ErrUnusable, "cannot keep Postgres' data in %s: %v. "+
		"Set FSTALLY_DATA_DIR to a directory of the user who runs fstally", dir, err)
}

// syncDir makes renames in the directory durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("sync directory %s: %w", dir, err)
	}
	return nil
}
