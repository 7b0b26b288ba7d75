package jobs

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"fstally/internal/usage"
)

// Limits are what a scanner may use of its machine. The scanner lays them on
// itself.
type Limits struct {
	Nice   int   // 0 to 19; see nice(2)
	IdleIO bool  // its disk access waits for everybody else's; see ioprio_set(2)
	Memory int64 // bytes that may be resident; 0 for no limit
}

// LimitsOf returns those of the scans of a file system.
func LimitsOf(fs usage.FileSystem) Limits {
	return Limits{Nice: fs.Nice, IdleIO: fs.IdleIO, Memory: fs.MemoryLimit}
}

const (
	// weighEvery is how often the memory of this process is looked at.
	weighEvery = 250 * time.Millisecond
	// collectAt is the share of the limit from where the garbage collector works
	// harder: what remains is for what it does not manage, and for growth meanwhile.
	collectAt = 0.9
)

// MemoryError ends a scan that needs too much memory.
type MemoryError struct{ Used, Limit int64 }

func (e *MemoryError) Error() string {
	return fmt.Sprintf("the scan needs more memory than its limit of %s (it has %s): raise the limit, "+
		"or scan the tree in parts",
		usage.FormatBytes(usage.ByteCount(e.Limit)), usage.FormatBytes(usage.ByteCount(e.Used)))
}

// HoldMemory ends the returned context with a *MemoryError when this process comes
// to use more memory than the limit. release ends the watch.
//
// It weighs what is resident, as top(1) shows it. RLIMIT_AS and RLIMIT_DATA would
// count address space that Go reserves and never touches, and what exceeds them
// dies of a stack dump instead of a reason.
func (l Limits) HoldMemory(ctx context.Context) (held context.Context, release func()) {
	if l.Memory <= 0 {
		return ctx, func() {}
	}
	debug.SetMemoryLimit(int64(collectAt * float64(l.Memory)))
	ctx, end := context.WithCancelCause(ctx)
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(weighEvery)
		defer tick.Stop()
		for {
			// Without /proc nothing is known, and nobody is to suffer from that.
			if used, err := resident(); err == nil && used > l.Memory {
				end(&MemoryError{Used: used, Limit: l.Memory})
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return ctx, func() {
		end(nil)
		ended.Wait()
	}
}

// resident returns how many bytes of memory this process has, see proc_pid_statm(5).
func resident() (int64, error) {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(statm))
	if len(fields) < 2 {
		return 0, fmt.Errorf("read /proc/self/statm: %q", statm)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
