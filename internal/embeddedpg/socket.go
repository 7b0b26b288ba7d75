package embeddedpg

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// socketFile is how Postgres names its socket, after the port, in the socket
// directory.
const socketFile = ".s.PGSQL." + port

// maxSocketPath is the longest name that fits struct sockaddr_un of Linux with
// its terminating zero, see unix(7).
const maxSocketPath = 107

// socketPathFits tells whether clients can name a socket in dir: short enough,
// and free of what separates or quotes in connection strings.
func socketPathFits(dir string) bool {
	odd := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`,'"\`, r) }
	return len(filepath.Join(dir, socketFile)) <= maxSocketPath && !strings.ContainsFunc(dir, odd)
}

// socketDirs prepares a private socket directory and returns its name for
// clients and for the server, which may reach the folder another way. It stands
// beside the data, or in /tmp if that name does not fit; not in
// XDG_RUNTIME_DIR, which goes when the user logs out.
func socketDirs(folder, folderForServer string) (client, server string, err error) {
	inFolder := filepath.Join(folder, socketName)
	if socketPathFits(inFolder) {
		if err := os.Mkdir(socketName, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return "", "", fmt.Errorf("make socket directory: %w", err)
		}
		return inFolder, filepath.Join(folderForServer, socketName), nil
	}

	// One that a crash left is used again, if it still is what we made.
	if text, err := os.ReadFile(socketRefName); err == nil && isPrivateDir(string(text)) {
		return string(text), string(text), nil
	}
	dir, err := os.MkdirTemp("/tmp", "fstally-")
	if err != nil {
		return "", "", fmt.Errorf("make socket directory (the one beside the data has a name that is too long): %w", err)
	}
	if err := os.WriteFile(socketRefName, []byte(dir), 0o600); err != nil {
		return "", "", errors.Join(fmt.Errorf("remember socket directory %s: %w", dir, err), os.Remove(dir))
	}
	return dir, dir, nil
}

// removeSocketDir removes a socket directory in /tmp that the server has left
// empty; if it has not, the next start uses it again. The caller holds the lock
// of FSTALLY_DATA_DIR.
func removeSocketDir(dir string) {
	if filepath.Dir(dir) == "/tmp" {
		_ = os.Remove(dir)
	}
}

func isPrivateDir(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
