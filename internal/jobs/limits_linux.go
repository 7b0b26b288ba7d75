package jobs

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// From linux/ioprio.h.
const (
	ioprioWhoProcess = 1
	ioprioClassIdle  = 3
	ioprioClassShift = 13
)

// Apply makes this whole process as modest as the limits say. On Linux both
// priorities belong to a thread and pass on to the threads and processes that it
// starts: so all threads get them, again until no new one is found, which a thread
// without them may have started meanwhile.
func (l Limits) Apply() error {
	if l.Nice == 0 && !l.IdleIO {
		return nil
	}
	done := make(map[int]bool)
	for {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("list the threads of the scanner: %w", err)
		}
		before := len(done)
		for _, thread := range threads {
			id, err := strconv.Atoi(thread.Name())
			if err != nil || done[id] {
				continue
			}
			done[id] = true
			if err := l.apply(id); err != nil && !errors.Is(err, unix.ESRCH) { // it has ended
				return err
			}
		}
		if len(done) == before {
			return nil
		}
	}
}

// apply sets the priorities of one thread.
func (l Limits) apply(thread int) error {
	if l.Nice != 0 {
		err := unix.Setpriority(unix.PRIO_PROCESS, thread, l.Nice)
		if err != nil && !errors.Is(err, unix.EACCES) { // it is more modest already
			return fmt.Errorf("set the nice value of the scanner to %d: %w", l.Nice, err)
		}
	}
	if l.IdleIO {
		_, _, errno := unix.Syscall(unix.SYS_IOPRIO_SET, ioprioWhoProcess, uintptr(thread), ioprioClassIdle<<ioprioClassShift)
		if errno != 0 {
			return fmt.Errorf("make the disk access of the scanner wait for others': %w", errno)
		}
	}
	return nil
}
