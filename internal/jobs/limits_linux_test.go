package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// beModest makes the test binary a scanner that lays limits on itself and tells
// whether a thread of it has missed them.
const beModest = "FSTALLY_TEST_MODEST"

func tellModesty() {
	err := Limits{Nice: 7, IdleIO: true}.Apply()
	threads, _ := filepath.Glob("/proc/self/task/*")
	for _, thread := range threads { // getpriority(2): the kernel's values are 20 less nice
		var id int
		_, _ = fmt.Sscan(filepath.Base(thread), &id)
		nice, niceErr := unix.Getpriority(unix.PRIO_PROCESS, id)
		class, _, errno := unix.Syscall(unix.SYS_IOPRIO_GET, ioprioWhoProcess, uintptr(id), 0)
		if niceErr != nil || nice != 20-7 || errno != 0 || class>>ioprioClassShift != ioprioClassIdle {
			err = errors.Join(err, niceErr, fmt.Errorf("thread %d: nice %d, class %d", id, 20-nice, class>>ioprioClassShift))
		}
	}
	fmt.Printf("%d threads, %v", len(threads), err)
}

// All threads are modest, not only the one that asks.
func TestModesty(t *testing.T) {
	t.Setenv(beModest, "1")
	out, err := exec.CommandContext(t.Context(), os.Args[0]).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(out), " threads, <nil>") || strings.HasPrefix(string(out), "0 ") {
		t.Errorf("the scanner says %q", out)
	}
}

func TestMemoryLimit(t *testing.T) {
	used, err := resident()
	if err != nil || used < 1<<20 {
		t.Fatalf("resident: %d, %v", used, err)
	}
	for limit, want := range map[int64]bool{0: false, 1 << 50: false, used / 2: true} {
		ctx, release := Limits{Memory: limit}.HoldMemory(t.Context())
		if want {
			<-ctx.Done()
		}
		var tooMuch *MemoryError
		if got := errors.As(context.Cause(ctx), &tooMuch); got != want || got && tooMuch.Limit != limit {
			t.Errorf("with a limit of %d bytes: %v", limit, context.Cause(ctx))
		}
		release()
	}
}
