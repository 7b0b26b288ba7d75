package scan

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"fstally/internal/usage"
	"fstally/internal/walk"
)

const (
	blockedAfter = 5 * time.Second // a walker that has waited so long is told of
	stalledAfter = time.Minute     // so long without any answer is a stall that may end
	// namedInError is how many directories a StallError names.
	namedInError = 5
	// pathMost is how many bytes of an escaped path are told: what is told every
	// second goes into the database.
	pathMost = 240
)

// StallError ends a scan whose file system gave no answer for too long.
type StallError struct {
	Root    string // raw
	Quiet   time.Duration
	Since   time.Time       // of the last answer
	Blocked []usage.Blocked // what is waited for, the longest first
	Hidden  int             // how many more walkers wait
}

// Error says since when nothing was read, where the scan hangs, and what to do.
func (e *StallError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s has not answered for %s, since %s", usage.Escape(e.Root),
		usage.FormatDuration(e.Quiet), e.Since.UTC().Format("2006-01-02 15:04:05 UTC"))
	for i, d := range e.Blocked[:min(len(e.Blocked), namedInError)] {
		b.WriteString([]string{"; it is waited for in ", ", "}[min(i, 1)])
		fmt.Fprintf(&b, "%s (%s)", d.Directory, d.Op)
	}
	if more := len(e.Blocked) + e.Hidden - namedInError; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	b.WriteString(": check the mount and its server, then scan again")
	return b.String()
}

// watchdog keeps the clock of the watch, and ends the walk when nothing was read
// for the time s.StallAfter. It does not depend on anything that the walk or its
// file system does. The returned function ends it, and waits.
func (s *scan) watchdog(watch *walk.Watch, end context.CancelCauseFunc) (stop func()) {
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(reportEvery)
		defer tick.Stop()
		watch.Tick(time.Now())
		for {
			select {
			case <-tick.C:
			case <-done:
				return
			}
			watch.Tick(time.Now())
			if quiet := watch.Quiet(); s.StallAfter > 0 && quiet >= s.StallAfter {
				blocked, hidden := blockedIn(watch.Blocked(0))
				end(&StallError{
					Root: s.mount.Root, Quiet: quiet, Since: time.Now().Add(-quiet), Blocked: blocked, Hidden: hidden,
				})
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		ended.Wait()
	})
}

// blockedIn returns what is told of blocked walkers, and of how many nothing is.
func blockedIn(all []walk.Blocked) (told []usage.Blocked, hidden int) {
	for _, b := range all[:min(len(all), usage.MaxBlocked)] {
		told = append(told, usage.Blocked{Directory: shortPath(b.Path), Op: b.Op, Seconds: int64(b.For.Seconds())})
	}
	return told, len(all) - len(told)
}

// shortPath escapes a path and leaves out the middle of a very long one.
func shortPath(raw string) string {
	path := usage.Escape(raw)
	if path == "" {
		return "."
	}
	if len(path) <= pathMost {
		return path
	}
	head, tail := path[:pathMost/2], path[len(path)-pathMost/2:]
	for !utf8.ValidString(head) {
		head = head[:len(head)-1]
	}
	for !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return head + "\u2026" + tail
}
