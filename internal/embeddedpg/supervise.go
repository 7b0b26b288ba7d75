package embeddedpg

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// supervisor is the process that owns Postgres. Its working directory is the
// folder.
type supervisor struct {
	order  order
	folder string // the name of the folder for child processes
	fd     *os.File
	events *json.Encoder
}

// Supervise is the supervisor process: it does what fstally orders on stdin,
// reports on stdout, and stops Postgres when stdin ends or ctx does. The caller
// is a process that [Start] started for nothing else: its user, working
// directory and signal handling change, and it should exit with Supervise.
// The error has been reported to fstally already.
func Supervise(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	// The kernel signals Postgres when the thread that started it ends, which
	// now is when the process does.
	runtime.LockOSThread()
	// A report to a dead fstally must not end the supervisor (see os/signal
	// on SIGPIPE).
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	s := &supervisor{events: json.NewEncoder(stdout), fd: os.NewFile(folderFD, folderName)}
	lifeline := bufio.NewReader(stdin)
	line, err := lifeline.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read the order of fstally: %w", err)
	}
	if err := json.Unmarshal(line, &s.order); err != nil {
		return fmt.Errorf("read the order of fstally: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, lifeline)
		cancel()
	}()

	err = explainDiskFull(s.run(ctx), s.order.Folder)
	if err != nil && ctx.Err() == nil {
		s.tell(event{Failed: &failed{Kind: kindName(err), Message: err.Error()}})
	}
	return err
}

func (s *supervisor) tell(ev event) {
	_ = s.events.Encode(ev) // if fstally is gone, the lifeline tells
}

// run goes from nothing to a running Postgres, and returns when that has ended.
func (s *supervisor) run(ctx context.Context) error {
	if err := s.settle(); err != nil {
		return err
	}
	owner, err := s.takeOver(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = owner.release() }() // the process ends

	if err := s.finishRebuild(); err != nil {
		return err
	}
	major, err := s.dataVersion()
	if err != nil {
		return err
	}
	in, err := s.programs(ctx, major)
	if err != nil {
		return err
	}
	if major == 0 {
		s.tell(event{Progress: &progress{Text: "making a data directory with Postgres " + in.String()}})
		if err := s.makeCluster(ctx, in); err != nil {
			return err
		}
	}
	return s.serve(ctx, in)
}

// takeOver ends what an earlier run left behind, and makes this the only
// supervisor. A predecessor whose fstally was killed a moment ago is still busy
// stopping Postgres or initdb, so its end is waited for.
func (s *supervisor) takeOver(ctx context.Context) (*lock, error) {
	file, err := os.OpenFile(ownerName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock of the supervisor: %w", err)
	}
	owner := &lock{file: file}
	if err := s.endLeftovers(ctx, politely()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if err := owner.insist(ctx, 5*time.Second); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if err := s.endLeftovers(ctx, firmly()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return owner, nil
}

func (s *supervisor) endLeftovers(ctx context.Context, steps []stopStep) error {
	for _, dir := range []string{dataName, initdbName} {
		n, err := endServers(ctx, dir, steps)
		if err != nil {
			return err
		}
		if n > 0 {
			s.tell(event{Progress: &progress{Text: "stopped a Postgres that an earlier run left behind"}})
		}
	}
	return nil
}

// settle moves into the folder as the account that owns it.
func (s *supervisor) settle() error {
	if err := s.fd.Chdir(); err != nil {
		return fmt.Errorf("enter %s: %w", s.order.Folder, err)
	}
	if err := s.order.Account.become(); err != nil {
		return problemf(ErrUnusable, "cannot run Postgres as another user than root: %v. "+
			"Run fstally as an ordinary user, or leave it the capabilities CAP_SETUID and CAP_SETGID", err)
	}
	syscall.Umask(0o077)

	here, err := os.Stat(".")
	if err != nil {
		return fmt.Errorf("look at %s: %w", s.order.Folder, err)
	}
	s.folder = s.order.Folder
	if there, err := os.Stat(s.folder); err != nil || !os.SameFile(here, there) {
		// A directory above is private to root.
		s.folder = fmt.Sprintf("/proc/self/fd/%d", folderFD)
	}
	return nil
}

// reachable tells whether Postgres can walk to the folder by its name.
func (s *supervisor) reachable() bool { return s.folder == s.order.Folder }

// programs finds or fetches the server programs for the data.
func (s *supervisor) programs(ctx context.Context, major int) (installation, error) {
	look := func() ([]installation, installation, bool) {
		found := findInstallations(ctx, s.order.BinariesPath, s.order.Downloads)
		in, ok := chooseInstallation(found, major)
		return found, in, ok
	}
	found, in, ok := look()
	if ok {
		return in, nil
	}
	version, known := downloadable(major)
	if s.order.AllowDownload && s.order.BinariesPath == "" && known {
		if !s.reachable() {
			return in, problemf(ErrUnusable, "user %s, who runs Postgres for root, cannot run programs in %s, "+
				"because a directory above is private: install Postgres' server programs, "+
				"or set FSTALLY_DATA_DIR to a directory such as /var/lib/fstally", s.order.Account.Name, s.order.Folder)
		}
		s.tell(event{Progress: &progress{Text: "downloading Postgres " + string(version), Limit: downloadTimeout}})
		if err := download(ctx, version, s.order.Downloads, s.order.DownloadURL); err != nil {
			return in, err
		}
		if found, in, ok = look(); ok {
			return in, nil
		}
	}
	return in, noInstallation(found, major, s.order.BinariesPath, filepath.Join(s.order.Folder, dataName))
}

// command prepares a child process that dies with this one and knows the folder.
func (s *supervisor) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{s.fd} // becomes folderFD
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// serve runs the server until it ends or ctx does.
func (s *supervisor) serve(ctx context.Context, in installation) error {
	if err := writeAccessRules(s.order.Client); err != nil {
		return err
	}
	clientDir, serverDir, err := socketDirs(s.order.Folder, s.folder)
	if err != nil {
		return err
	}
	for _, file := range []string{
		filepath.Join(dataName, "postmaster.pid"),
		filepath.Join(socketName, socketFile+".lock"),
	} {
		if err := removeStaleLockFile(file, dataName); err != nil {
			return err
		}
	}

	log := &boundedLog{path: logName}
	defer log.Close()
	// Not bound to ctx: it is asked to stop before it is killed.
	cmd := s.command(context.WithoutCancel(ctx), in.postgres(), postgresArgs(s.folder, serverDir, s.order.Loading)...)
	cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT // stops at once, without leaving children or shared memory
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start Postgres: %w", err)
	}
	var waitErr error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		waitErr = cmd.Wait()
	}()
	s.tell(event{Started: &started{
		PID: cmd.Process.Pid, Version: in.version(), Binaries: in.dir, SocketDir: clientDir,
	}})

	select {
	case <-ended:
		if waitErr == nil {
			waitErr = errors.New("somebody stopped it")
		}
		return fmt.Errorf("the Postgres in %s ended: %w. The end of its log:\n%s", s.order.Folder, waitErr, &log.tail)
	case <-ctx.Done():
	}
	for _, step := range politely() {
		_ = cmd.Process.Signal(step.signal) // fails only if it has ended
		select {
		case <-ended:
			return nil
		case <-time.After(step.patience):
		}
	}
	return fmt.Errorf("the Postgres in %s (pid %d) does not end", s.order.Folder, cmd.Process.Pid)
}
