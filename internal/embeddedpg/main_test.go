package embeddedpg_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"fstally/internal/embeddedpg"
)

// The test binary is also the supervisor, and a program that does what fstally
// serve does: start, say the address, stop when its input ends.
const (
	superviseCommand = "supervise"
	serveCommand     = "serve"
	dieCommand       = "die"     // like serve, but killed while the data directory is made
	rebuildCommand   = "rebuild" // killed at a step
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case superviseCommand:
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
			defer stop()
			exitWith(embeddedpg.Supervise(ctx, os.Stdin, os.Stdout))
		case serveCommand:
			exitWith(serve(os.Args[2], slog.DiscardHandler))
		case dieCommand:
			exitWith(serve(os.Args[2], onStep{"making a data directory", func() {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}}))
		case rebuildCommand:
			exitWith(rebuildAndDie(os.Args[2], os.Args[3], func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }))
		}
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(templateDir) // empty if no test wanted it
		os.Exit(code)
	}))
}

// templateDir is what template made, for TestMain to remove.
var templateDir string

// template is a directory with a database in it: tests that are not about the
// first start work on copies, since initdb takes most of their time.
var template = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("/tmp", "embeddedpg-test-")
	if err != nil {
		return "", err
	}
	templateDir = dir
	ctx := context.Background()
	supervisor, err := supervisor()
	if err != nil {
		return "", err
	}
	server, err := embeddedpg.Start(ctx, embeddedpg.Config{Dir: dir, Supervisor: supervisor})
	if err != nil {
		return "", err
	}
	return dir, server.Stop(ctx)
})

// prepared is a directory on which fstally ran before.
func prepared(t *testing.T) string {
	t.Helper()
	from, err := template()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "state")
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", from, dir).CombinedOutput(); err != nil {
		t.Fatalf("copy %s: %v %s", from, err, out)
	}
	return dir
}

func exitWith(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(dir string, log slog.Handler) error {
	ctx := context.Background()
	supervisor, err := supervisor()
	if err != nil {
		return err
	}
	server, err := embeddedpg.Start(ctx, embeddedpg.Config{
		Dir:        dir,
		Supervisor: supervisor,
		Logger:     slog.New(log),
	})
	if err != nil {
		return err
	}
	fmt.Println(server.URL())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return server.Stop(ctx)
}

// supervisor is the command that runs this binary as the supervisor.
func supervisor() ([]string, error) {
	exe, err := os.Executable()
	return []string{exe, superviseCommand}, err
}

func config(t *testing.T, dir string) embeddedpg.Config {
	t.Helper()
	supervisor, err := supervisor()
	if err != nil {
		t.Fatal(err)
	}
	return embeddedpg.Config{Dir: dir, Supervisor: supervisor}
}

// start runs Postgres on dir until the test ends or stop is called.
func start(t *testing.T, dir string) *embeddedpg.Server {
	t.Helper()
	server, err := embeddedpg.Start(t.Context(), config(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop(context.WithoutCancel(t.Context())) })
	return server
}

func stop(t *testing.T, server *embeddedpg.Server) {
	t.Helper()
	if err := server.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// refused starts, wants an error of that kind, and returns its message.
func refused(t *testing.T, config embeddedpg.Config, kind error) string {
	t.Helper()
	server, err := embeddedpg.Start(t.Context(), config)
	if err == nil {
		stop(t, server)
	}
	if !errors.Is(err, kind) {
		t.Fatalf("Start: error %v, want %v", err, kind)
	}
	return err.Error()
}

func query[T any](t *testing.T, url, sql string) T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	var value T
	if err := conn.QueryRow(t.Context(), sql).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

func execute(t *testing.T, url, sql string) {
	t.Helper()
	if err := tryExecute(t, url, sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func tryExecute(t *testing.T, url, sql string) error {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	_, err = conn.Exec(t.Context(), sql)
	return err
}

func dataDir(dir string) string { return filepath.Join(dir, "postgres", "data") }

// postmaster gives the pid of the server on dir.
func postmaster(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dataDir(dir), "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func parentOf(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	// The name, in parentheses, may contain anything; see proc(5).
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	ppid, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Fatal(err)
	}
	return ppid
}

func kill(t *testing.T, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatalf("kill %d: %v", pid, err)
	}
}

// watchExit returns a function that waits until the process has ended.
func watchExit(t *testing.T, pid int) (wait func()) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatalf("watch process %d: %v", pid, err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	return func() {
		t.Helper()
		deadline := time.Now().Add(2 * time.Minute)
		for {
			fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			n, err := unix.Poll(fds, int(time.Until(deadline).Milliseconds()))
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err != nil || n == 0 {
				t.Fatalf("process %d does not end (poll: %d, %v)", pid, n, err)
			}
			return
		}
	}
}

func noServers(t *testing.T, dir string) {
	t.Helper()
	pids, err := embeddedpg.ServersIn(dataDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	if len(pids) > 0 {
		t.Errorf("Postgres processes %v are left on %s", pids, dir)
	}
}

// publicDir is a directory that every user can walk to, unlike t.TempDir().
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "embeddedpg-test-") //nolint:usetesting // t.TempDir is private
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// snapshot maps every path under dir to its mode, owner, time and content.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		uid, gid := owner(t, info)
		text := fmt.Sprintf("%v %d:%d ", info.Mode(), uid, gid)
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil && !errors.Is(err, fs.ErrPermission) { // as some test wants it
				return err
			}
			text += info.ModTime().String() + string(content)
		}
		files[path] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func owner(t *testing.T, info fs.FileInfo) (uid, gid int) {
	t.Helper()
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Fatalf("%s: no owner in %T", info.Name(), info.Sys())
	}
	return int(st.Uid), int(st.Gid)
}

// needRoot skips tests that need several users or a mount.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		skip(t, "needs root, to act as several users and to mount")
	}
}

func skip(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("FSTALLY_TEST_ALL") == "1" {
		t.Fatalf("FSTALLY_TEST_ALL=1, but: %s", reason)
	}
	t.Skip(reason)
}

// onStep is a log handler that acts on the first words of a step of the start.
type onStep struct {
	prefix string
	act    func()
}

func (h onStep) Enabled(context.Context, slog.Level) bool { return true }
func (h onStep) WithAttrs([]slog.Attr) slog.Handler       { return h }
func (h onStep) WithGroup(string) slog.Handler            { return h }

func (h onStep) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "step" && strings.HasPrefix(a.Value.String(), h.prefix) {
			h.act()
		}
		return true
	})
	return nil
}

// serving is the serve command in a process of its own.
type serving struct {
	cmd   *exec.Cmd
	stdin io.Closer
	url   string
}

// serveAs runs the serve command of the test binary exe as a user (nil: this
// one), and waits for its address.
func serveAs(t *testing.T, exe, dir string, user *syscall.Credential) serving {
	t.Helper()
	// It ends by itself when its input does, not when the test's context does.
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), exe, serveCommand, dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user}
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	line := make([]byte, 0, 256)
	for buf := make([]byte, 256); !bytes.HasSuffix(line, []byte("\n")); {
		n, err := stdout.Read(buf)
		if err != nil {
			t.Fatalf("%s serve: no address: %v", exe, err)
		}
		line = append(line, buf[:n]...)
	}
	return serving{cmd: cmd, stdin: stdin, url: strings.TrimSpace(string(line))}
}
