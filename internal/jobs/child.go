package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"fstally/internal/usage"
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
		"--stall-after=" + fs.StallAfter.String(),
		"--nice=" + strconv.Itoa(fs.Nice),
		"--idle-io=" + strconv.FormatBool(fs.IdleIO),
		"--memory-limit=" + strconv.FormatInt(fs.MemoryLimit, 10),
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
// carries what the scanner said. Ending ctx asks the scanner to stop, and ends it
// soon after; scanInChild returns within leaveCancelled. The scanner also stops when
// this process goes away: it watches its standard input. A scanner that cannot even
// die, because its file system does not answer, is left behind: the kernel ends it
// when the answer comes, and until then no other one is started.
func (s *Supervisor) scanInChild(
	ctx context.Context, fs usage.FileSystem, out string, progress func(usage.Progress),
) error {
	record := recordOf(filepath.Dir(out), fs.ID)
	if err := record.wait(ctx, fs); err != nil {
		return err
	}
	argv := append([]string{}, s.Scanner...)
	argv = append(argv, "--child", "--out="+out)
	argv = append(argv, ScanArgs(fs)...)
	argv = append(argv, "--", fs.Root)
	// The scanner has no use for secrets.
	scanner, err := startProcess(argv, append(os.Environ(), "FSTALLY_DATABASE_URL=", "FSTALLY_TOKEN="), progress)
	if err != nil {
		return fmt.Errorf("start the scanner: %w", err)
	}
	if err := record.write(scanner.pid, out); err != nil {
		s.Logger.WarnContext(ctx, "a scanner that hangs may be followed by another", "filesystem_id", fs.ID, "err", err)
	}
	status, err := scanner.wait(ctx)
	if err != nil {
		s.Logger.WarnContext(ctx, "a scanner that cannot be ended is left behind", "filesystem_id", fs.ID, "pid", scanner.pid)
		if err := record.stuck(); err != nil {
			s.Logger.WarnContext(ctx, "note a scanner that hangs", "err", err)
		}
	} else {
		record.remove()
		err = exitError(status)
	}
	if err == nil {
		return nil
	}
	if !errors.Is(err, errStuck) {
		removeHalf(out)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return childError(err, scanner.said.String())
}

// removeHalf removes what a scanner that has ended had written of its result. What
// it does not find is removed when it is old.
func removeHalf(out string) {
	entries, err := os.ReadDir(filepath.Dir(out))
	if err != nil {
		return
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "."+filepath.Base(out)+".") { // see result.WriteFile
			_ = os.Remove(filepath.Join(filepath.Dir(out), entry.Name()))
		}
	}
}

// errKilled: the scanner was ended by a signal that was not ours.
var errKilled = errors.New("the scanner was killed")

// exitError returns how a scanner ended, nil where all was well.
func exitError(status unix.WaitStatus) error {
	switch {
	case status.Signaled():
		return fmt.Errorf("%w (signal: %s)", errKilled, status.Signal())
	case status.ExitStatus() != 0:
		return fmt.Errorf("exit status %d", status.ExitStatus())
	}
	return nil
}

func childError(err error, said string) error {
	switch {
	case errors.Is(err, errKilled):
		return err
	case said != "":
		return errors.New(said)
	case errors.Is(err, errStuck):
		return err
	}
	return fmt.Errorf("the scanner ended without a word: %w", err)
}
