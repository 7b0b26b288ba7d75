package jobs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"fstally/internal/usage"
)

const (
	// killAfter is how long a scanner has to end after it was asked to.
	killAfter = 4 * time.Second
	// leaveAfter is how long a scanner that is dying is waited for: to give
	// back its memory may take seconds, and a system call on a file system that
	// does not answer may last for ever.
	leaveAfter = 3 * time.Second
	// lookEvery is how often a scanner is looked at.
	lookEvery = time.Second
)

// ScanArgs returns the arguments of `fstally scan` that scan a file system by
// its settings.
func ScanArgs(fs usage.FileSystem) []string {
	classes := make([]string, len(fs.SizeClasses))
	for i, bound := range fs.SizeClasses {
		classes[i] = strconv.FormatInt(bound, 10)
	}
	args := []string{
		"--size-classes=" + strings.Join(classes, ","),
		"--fileset-depth=" + strconv.Itoa(fs.Filesets.Depth),
		"--walkers=" + strconv.Itoa(fs.Walkers),
		"--ops-limit=" + strconv.Itoa(fs.OpsLimit),
	}
	for _, f := range fs.Filesets.Named {
		text := "./" + f.Path
		if f.Name != "" && f.Name != f.Path {
			text = f.Name + "=" + text
		}
		args = append(args, "--fileset="+text)
	}
	return args
}

// scanInChild runs the scanner until it has written its result to out. An error
// carries what the scanner said. Ending ctx asks the scanner to stop, and ends
// it after killAfter. The scanner also stops when this process goes away: it
// watches its standard input. A scanner that cannot even die, because its file
// system does not answer, is left behind: the kernel ends it when the answer comes.
func (s *Supervisor) scanInChild(
	ctx context.Context, fs usage.FileSystem, out string, progress func(usage.Progress),
) error {
	argv := append([]string{}, s.Scanner...)
	argv = append(argv, "--child", "--out="+out)
	argv = append(argv, ScanArgs(fs)...)
	argv = append(argv, "--", fs.Root)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	// The scanner has no use for secrets, and hears of Ctrl-C from us.
	cmd.Env = append(os.Environ(), "FSTALLY_DATABASE_URL=", "FSTALLY_TOKEN=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = killAfter
	var said tail
	cmd.Stderr = &said
	watched, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start the scanner: %w", err)
	}
	defer watched.Close() //nolint:errcheck // closing is the message
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start the scanner: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the scanner: %w", err)
	}
	ended := make(chan error, 1)
	go func() { // outlives this call where the scanner does
		readProgress(stdout, progress)
		ended <- cmd.Wait()
	}()
	if err := waitFor(cmd.Process, ended); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return childError(err, said.String())
	}
	return nil
}

// errStuck: the scanner is dying and does not end.
var errStuck = errors.New("the file system does not answer: check the mount and try again")

// waitFor returns what ended says, or errStuck.
func waitFor(scanner *os.Process, ended <-chan error) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var since time.Time // when it was first seen dying
	for {
		select {
		case err := <-ended:
			return err
		case <-tick.C:
		}
		switch {
		case !dying(scanner.Pid):
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case time.Since(since) >= leaveAfter:
			_ = scanner.Kill() // what is left of it
			return errStuck
		}
	}
}

// dying reports a process that was killed or has exited, although threads of it
// may hang in system calls: its first thread is a zombie or has SIGKILL to come,
// which is also how the kernel ends the threads of a process that exits
// (proc_pid_status(5)).
func dying(pid int) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	const sigkill = 1 << (uint(syscall.SIGKILL) - 1)
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch name {
		case "State":
			if strings.HasPrefix(value, "Z") {
				return true
			}
		case "SigPnd":
			pending, err := strconv.ParseUint(value, 16, 64)
			return err == nil && pending&sigkill != 0
		}
	}
	return false
}

// readProgress passes on each line of the scanner's output, until it ends.
func readProgress(r io.Reader, progress func(usage.Progress)) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var p usage.Progress
		if json.Unmarshal(lines.Bytes(), &p) == nil {
			progress(p)
		}
	}
}

// errKilled: the scanner was ended by a signal that was not ours.
var errKilled = errors.New("the scanner was killed")

func childError(err error, said string) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() < 0 {
		return fmt.Errorf("%w (%s)", errKilled, exit.ProcessState)
	}
	if said != "" {
		return errors.New(said)
	}
	if errors.Is(err, errStuck) {
		return err
	}
	return fmt.Errorf("the scanner ended without a word: %w", err)
}

// tail keeps the end of what is written to it. It is safe for concurrent use: a
// scanner that was left behind still holds it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if len(t.buf) > tailSize {
		t.buf = t.buf[len(t.buf)-tailSize:]
	}
	return len(p), nil
}

// String returns what was kept, without the name that a program puts before
// its messages.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimPrefix(bytes.TrimSpace(t.buf), []byte("fstally: ")))
}
