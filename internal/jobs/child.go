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
	"syscall"
	"time"

	"fstally/internal/usage"
)

// killAfter is how long a scanner has to end after it was asked to.
const killAfter = 4 * time.Second

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
// watches its standard input.
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
	readProgress(stdout, progress)
	if err := cmd.Wait(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return childError(err, said.String())
	}
	return nil
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
	return fmt.Errorf("the scanner ended without a word: %w", err)
}

// tail keeps the end of what is written to it.
type tail struct{ buf []byte }

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if len(t.buf) > tailSize {
		t.buf = t.buf[len(t.buf)-tailSize:]
	}
	return len(p), nil
}

// String returns what was kept, without the name that a program puts before
// its messages.
func (t *tail) String() string {
	return string(bytes.TrimPrefix(bytes.TrimSpace(t.buf), []byte("fstally: ")))
}
