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
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"fstally/internal/usage"
)

// A cancelled scan ends within 5 s: the request is seen after a heartbeat, a second,
// and the rest of the time is shared out here.
const (
	// killAfter is how long a scanner has to end after it was asked to.
	killAfter = 1500 * time.Millisecond
	// leaveCancelled is how long one is waited for after that, in all.
	leaveCancelled = 2500 * time.Millisecond
	// leaveAfter is how long one that dies by itself is waited for: to give back its
	// memory may take seconds, and a system call on a file system that does not answer
	// may last for ever.
	leaveAfter = 3 * time.Second
	// lookEvery is how often it is asked whether a scanner has ended.
	lookEvery = 100 * time.Millisecond
	// dyingEvery is how often it is asked whether one tries to.
	dyingEvery = time.Second
)

// process is a child process that scans. Nothing in this process waits for it in a
// system call, so that nothing stays when it is left behind.
type process struct {
	pid   int
	stdin *os.File // that it watches
	said  tail     // on standard error

	stdout, stderr *os.File
	readers        sync.WaitGroup
	silent         chan struct{} // closed when it has closed its output
}

// startProcess starts it, without access to the terminal's signals: it hears of
// Ctrl-C from us. It tells each line of progress.
func startProcess(argv, env []string, progress func(usage.Progress)) (_ *process, err error) {
	var files []*os.File
	defer func() {
		for i, f := range files {
			if err != nil || i%2 == 0 { // those of the child
				_ = f.Close()
			}
		}
	}()
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		files = append(files, w, r)
	}
	files[0], files[1] = files[1], files[0] // we write, it reads
	started, err := os.StartProcess(argv[0], argv, &os.ProcAttr{
		Env: env, Files: []*os.File{files[0], files[2], files[4]}, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return nil, err
	}
	s := &process{
		pid: started.Pid, stdin: files[1], stdout: files[3], stderr: files[5], silent: make(chan struct{}),
	}
	// Until we wait for it, its number is not given to another process.
	_ = started.Release()
	s.readers.Go(func() {
		defer close(s.silent)
		readProgress(s.stdout, progress)
	})
	s.readers.Go(func() { _, _ = io.Copy(&s.said, s.stderr) })
	return s, nil
}

// errStuck: the scanner is dying and does not end.
var errStuck = errors.New("the file system does not answer: check the mount and try again")

// wait returns how the scanner ended. Ending ctx ends it. errStuck: it cannot end
// and was left behind.
func (s *process) wait(ctx context.Context) (unix.WaitStatus, error) {
	defer func() { _ = s.stdin.Close() }()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	cancelled, silent := ctx.Done(), s.silent
	var asked, looked, dies time.Time
	killed := false
	for {
		if status, ended := reap(s.pid); ended {
			s.close(false)
			return status, nil
		}
		select {
		case <-tick.C:
		case <-silent:
			silent = nil
		case <-cancelled:
			cancelled, asked = nil, time.Now()
			_ = unix.Kill(s.pid, unix.SIGINT)
		}
		now := time.Now()
		if !asked.IsZero() {
			if !killed && now.Sub(asked) >= killAfter {
				killed = true
				_ = unix.Kill(s.pid, unix.SIGKILL)
			}
			if now.Sub(asked) >= leaveCancelled {
				return 0, s.leave()
			}
		}
		if now.Sub(looked) < dyingEvery {
			continue
		}
		looked = now
		switch {
		case !dying(s.pid):
			dies = time.Time{}
		case dies.IsZero():
			dies = now
		case now.Sub(dies) >= leaveAfter:
			return 0, s.leave()
		}
	}
}

// leave lets go of a scanner that cannot end, and returns errStuck.
func (s *process) leave() error {
	_ = unix.Kill(s.pid, unix.SIGKILL)
	s.close(true)
	reapLater(s.pid)
	return errStuck
}

// close ends the readers, at once or when they have read what is there: for up to
// a second, as a child of the scanner may hold its end.
func (s *process) close(atOnce bool) {
	deadline := time.Now()
	if !atOnce {
		deadline = deadline.Add(time.Second)
	}
	_ = s.stdout.SetReadDeadline(deadline)
	_ = s.stderr.SetReadDeadline(deadline)
	s.readers.Wait()
	_ = s.stdout.Close()
	_ = s.stderr.Close()
}

// reap reports whether the child has ended, and how. It does not wait, and must
// not be called again once the child has ended.
func reap(pid int) (status unix.WaitStatus, ended bool) {
	for {
		got, err := unix.Wait4(pid, &status, unix.WNOHANG, nil)
		if !errors.Is(err, unix.EINTR) {
			return status, got == pid || err != nil
		}
	}
}

// reapLater reaps a child that was left behind, when it ends. Neither a thread nor
// a goroutine waits for that.
func reapLater(pid int) {
	time.AfterFunc(time.Second, func() {
		if _, ended := reap(pid); !ended {
			reapLater(pid)
		}
	})
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
