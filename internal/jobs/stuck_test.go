package jobs

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"fstally/internal/usage"
)

// beStuck makes the test binary a scanner that dies like one whose threads hang
// in a dead mount: the first thread is gone, another one stays.
const beStuck = "FSTALLY_TEST_STUCK"

func TestMain(m *testing.M) {
	if os.Getenv(beStuck) != "" {
		runtime.LockOSThread() // main runs on the first thread of the process
		go func() { select {} }()
		fmt.Fprintln(os.Stderr, "fstally: /data does not answer")
		_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT, 1, 0, 0) // ends this thread alone
	}
	if os.Getenv(beModest) != "" {
		tellModesty()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A scanner that cannot end must not keep the scan, nor the server, from ending.
func TestStuckChildIsLeftBehind(t *testing.T) {
	t.Setenv(beStuck, "1")
	s := &Supervisor{Scanner: []string{os.Args[0]}, Logger: slog.New(slog.DiscardHandler)}
	err := s.scanInChild(t.Context(), usage.FileSystem{Root: "/data"}, filepath.Join(t.TempDir(), "out"), func(usage.Progress) {})
	if err == nil || !strings.Contains(err.Error(), "/data does not answer") {
		t.Errorf("a scanner that does not end gives %v", err)
	}
}

func TestDying(t *testing.T) {
	if dying(os.Getpid()) {
		t.Error("this process is not dying")
	}
}
