package embeddedpg

import (
	"bytes"
	"os"
	"strings"
	"sync"
)

const (
	logLimit  = 4 << 20 // bytes in a log file before it becomes the previous one
	tailLimit = 2 << 10 // bytes that an error message quotes
)

// tail keeps the end of what is written to it. The zero tail is ready for use.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - tailLimit; over > 0 {
		t.text = bytes.Clone(t.text[over:])
	}
	return len(p), nil
}

// String is what was kept, in whole lines.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.text)
	if len(text) == tailLimit {
		if _, rest, ok := strings.Cut(text, "\n"); ok {
			text = rest
		}
	}
	return strings.TrimSpace(text)
}

// boundedLog is the log of Postgres: a file and its predecessor of about
// logLimit bytes each, and the end of it in memory. Writing never fails: a full
// disk must not hide the message that says so, or block the server. It has one
// writer.
type boundedLog struct {
	path string
	tail tail
	file *os.File
	size int64
}

func (l *boundedLog) Write(p []byte) (int, error) {
	if l.file == nil || l.size >= logLimit {
		l.reopen()
	}
	if l.file != nil {
		n, _ := l.file.Write(p)
		l.size += int64(n)
	}
	return l.tail.Write(p)
}

// reopen opens the file, after moving a full one aside.
func (l *boundedLog) reopen() {
	l.Close()
	if info, err := os.Stat(l.path); err == nil && info.Size() >= logLimit {
		if err := os.Rename(l.path, l.path+".1"); err != nil {
			return
		}
	}
	file, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	l.file, l.size = file, 0
	if info, err := file.Stat(); err == nil {
		l.size = info.Size()
	}
}

// Close closes the file; a later write opens it again.
func (l *boundedLog) Close() {
	if l.file != nil {
		_ = l.file.Close() // nothing is buffered that could be lost
		l.file = nil
	}
}
