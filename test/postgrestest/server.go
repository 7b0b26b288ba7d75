package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// superuser is the role that initdb makes; only the owner of the socket's
// directory, and root, can connect.
const superuser = "postgres"

// supervisor runs the server until its standard input closes, which the kernel
// does when the test process ends, however it ends. $1 is the folder of the
// server's programs, $2 the temporary directory.
const supervisor = `
trap '' HUP INT TERM
cd "$2" || exit 1
"$1/initdb" -D data -U ` + superuser + ` -A trust -E UTF8 --locale=C --no-sync || exit 1
"$1/postgres" -D data -k "$2" -c listen_addresses= -c fsync=off -c full_page_writes=off \
	-c synchronous_commit=off -c wal_level=minimal -c max_wal_senders=0 -c shared_buffers=64MB \
	-c max_connections=200 -c jit=off </dev/null &
server=$!
cat >/dev/null
kill -INT $server
wait $server
cd / && rm -rf "$2"
`

// startServer starts a private server and returns its address.
func startServer(ctx context.Context) (string, error) {
	bin, err := findServer()
	if err != nil {
		return "", err
	}
	// Not os.TempDir: the path of a socket is limited to 107 bytes.
	dir, err := os.MkdirTemp("/tmp", "fstally-pg-")
	if err != nil {
		return "", err
	}
	credential, err := unprivileged(dir)
	if err != nil {
		return "", err
	}
	logFile, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return "", err
	}
	defer logFile.Close()
	// The second end stays open as long as this process: a plain number, which no
	// finalizer closes, and which no child inherits.
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		return "", err
	}
	alive := os.NewFile(uintptr(pipe[0]), "pipe")
	defer alive.Close()
	// Without a context: it lives as long as this process.
	cmd := exec.Command("/bin/sh", "-c", supervisor, "sh", bin, dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = alive, logFile, logFile
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	// A group of its own: Ctrl-C ends the tests, and they end the server.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: credential}
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("start %s: %w", bin, err)
	}
	query := url.Values{"host": {dir}, "user": {superuser}}
	address := "postgres:///postgres?" + query.Encode()
	if err := awaitServer(ctx, cmd.Process.Pid, address); err != nil {
		text, _ := os.ReadFile(logFile.Name())
		return "", fmt.Errorf("the server in %s does not come up: %w\n%s", dir, err, text)
	}
	return address, nil
}

// awaitServer waits until the server answers, or its supervisor has given up.
func awaitServer(ctx context.Context, supervisor int, address string) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, address)
		if err == nil {
			return conn.Close(ctx)
		}
		if pid, waitErr := syscall.Wait4(supervisor, nil, syscall.WNOHANG, nil); pid == supervisor || waitErr != nil {
			return errors.New("its supervisor ended")
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// unprivileged returns who runs the server, nil for the user of the tests.
// Postgres refuses to run as root: there it is the account that the packages of
// Postgres make, or else nobody. It owns dir.
func unprivileged(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, int(uid), int(gid))
}

// findServer returns the folder that holds initdb and postgres.
func findServer() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return "", err
		}
		return filepath.Dir(path), nil
	}
	var found []string
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin/initdb", "/usr/pgsql-*/bin/initdb", "/usr/local/pgsql*/bin/initdb",
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		found = append(found, paths...)
	}
	if len(found) == 0 {
		return "", errors.New("no initdb here: install the Postgres server (Debian: postgresql) or set " + serverVariable)
	}
	return filepath.Dir(slices.Max(found)), nil
}
