package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-isatty"

	"fstally/internal/usage"
)

// progressLine shows how far something has come: rewritten in place on a terminal, every
// ten seconds in a log.
type progressLine struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	before   int64 // entries of the scan before, 0 for none
	started  time.Time
	shown    time.Time
	width    int
}

const logEvery = 10 * time.Second

func newProgressLine(w io.Writer, before int64) *progressLine {
	f, ok := w.(*os.File)
	now := time.Now()
	return &progressLine{w: w, terminal: ok && isatty.IsTerminal(f.Fd()), before: before, started: now, shown: now}
}

func (l *progressLine) show(p usage.Progress) { l.print(l.text(p, time.Since(l.started))) }

// print shows a line in place of the one before.
func (l *progressLine) print(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	switch {
	case l.terminal:
		_, _ = fmt.Fprintf(l.w, "\r%s%s", text, strings.Repeat(" ", max(0, l.width-len(text))))
		l.width = len(text)
	case now.Sub(l.shown) >= logEvery:
		_, _ = fmt.Fprintln(l.w, text)
		l.shown = now
	}
}

func (l *progressLine) text(p usage.Progress, elapsed time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s entries", usage.GroupDigits(fmt.Sprint(p.Entries)))
	if l.before > 0 {
		fmt.Fprintf(&b, " (%d%% of the last scan)", 100*p.Entries/l.before)
	}
	rate := int64(float64(p.Entries) / max(elapsed.Seconds(), 0.001))
	fmt.Fprintf(&b, ", %s/s, %s, %s; %d walkers", usage.GroupDigits(fmt.Sprint(rate)), usage.FormatBytes(p.Allocated),
		usage.FormatDuration(elapsed), p.Walkers)
	if p.OpsLimit > 0 {
		fmt.Fprintf(&b, ", at most %d operations/s on %s", p.OpsLimit, p.FSType)
	}
	if p.Phase != "" && p.Phase != "walking" {
		fmt.Fprintf(&b, "; %s", p.Phase)
	}
	return b.String()
}

// end leaves the line.
func (l *progressLine) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.terminal && l.width > 0 {
		_, _ = fmt.Fprintln(l.w)
	}
}
