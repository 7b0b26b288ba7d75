package scan_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"fstally/internal/scan"
	"fstally/internal/usage"
	"fstally/internal/walk"
	"fstally/test/mutefs"
	"fstally/test/tree"
)

// muted is a small tree on a file system that gives no answer to op at the path.
func muted(t *testing.T, op mutefs.Op, path string) *mutefs.FS {
	t.Helper()
	three := tree.Dir{"1": tree.File{Size: 1}, "2": tree.File{Size: 2}, "3": tree.File{Size: 3}}
	m := mutefs.Mount(t, tree.Dir{"a": three, "b": three, "c": tree.Dir{"x\x1b[31m": three}})
	m.Mute(op, path)
	return m
}

// A stall ends the scan and names what is waited for, whatever the walkers hang in.
func TestStall(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		engine     walk.Engine
		op         mutefs.Op
		path       string
		dir, named string
	}{
		{walk.Linux{}, mutefs.Open, "b", "b", "open"},
		{walk.Linux{}, mutefs.Readdir, `c/x` + "\x1b[31m", `c/x\x1b[31m`, "readdir"},
		{walk.Linux{}, mutefs.Stat, "a/2", "a", "stat"},
		{walk.Fastwalk{}, mutefs.Open, "b", "b", "read"},
		{walk.Fastwalk{}, mutefs.Readdir, "b", "b", "read"},
		{walk.Fastwalk{}, mutefs.Stat, "a/2", "a", "stat"},
	} {
		t.Run(tc.engine.Name()+" "+string(tc.op)+" "+tc.dir, func(t *testing.T) {
			t.Parallel()
			m := muted(t, tc.op, tc.path)
			o := options(m.Root)
			o.Engine, o.Walkers, o.StallAfter = tc.engine, 3, 2*time.Second
			r, err := scan.Run(t.Context(), o)
			var stall *scan.StallError
			if !errors.As(err, &stall) {
				t.Fatalf("a scan that hangs gives %v, %v", r, err)
			}
			if !strings.Contains(err.Error(), tc.dir+" ("+tc.named+")") || !strings.Contains(err.Error(), m.Root) {
				t.Errorf("the reason does not name %s (%s): %v", tc.dir, tc.named, err)
			}
			if stall.Since.IsZero() || stall.Quiet < o.StallAfter {
				t.Errorf("quiet for %s since %s", stall.Quiet, stall.Since)
			}
		})
	}
}

// What does not answer already when the scan looks at it ends it, too.
func TestMuteRoot(t *testing.T) {
	t.Parallel()
	for _, op := range []mutefs.Op{mutefs.Stat, mutefs.Statfs, mutefs.Open, mutefs.Readdir} {
		t.Run(string(op), func(t *testing.T) {
			t.Parallel()
			m := muted(t, op, "")
			ctx, cancel := context.WithDeadlineCause(t.Context(), time.Now().Add(time.Second), context.DeadlineExceeded)
			defer cancel()
			var root *walk.RootError
			if _, err := scan.Run(ctx, options(m.Root)); !errors.As(err, &root) || root.Problem != walk.NotAnswering {
				t.Errorf("a root that does not answer: %v", err)
			}
		})
	}
}

// A cancel does not wait for a file system that does not answer.
func TestCancelWhileNothingAnswers(t *testing.T) {
	m := muted(t, mutefs.Readdir, "b")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-m.Waiting()
		cancel()
	}()
	o := options(m.Root)
	o.StallAfter = time.Hour
	if r, err := scan.Run(ctx, o); !errors.Is(err, context.Canceled) || r != nil {
		t.Errorf("a cancelled scan returns %v, %v", r, err)
	}
}

// Whoever looks at the progress sees what is waited for, and since when.
func TestProgressNamesTheBlocked(t *testing.T) {
	m := muted(t, mutefs.Open, "b")
	o := options(m.Root)
	o.Walkers, o.StallAfter = 2, 8*time.Second
	var last usage.Progress
	o.Progress = func(p usage.Progress) {
		if len(p.Blocked) > 0 {
			last = p
		}
	}
	if _, err := scan.Run(t.Context(), o); err == nil {
		t.Fatal("the scan does not end")
	}
	if len(last.Blocked) != 1 || last.Blocked[0].Directory != "b" || last.Blocked[0].Op != "open" || last.Blocked[0].Seconds < 5 {
		t.Errorf("blocked: %+v", last.Blocked)
	}
	if last.LastAnswer.IsZero() {
		t.Error("nothing is told of the last answer")
	}
}

// A scan that is slowed down is not one that stalls.
func TestSlowIsNoStall(t *testing.T) {
	root := t.TempDir()
	tree.Make(t, root, tree.Dir{"a": tree.Dir{"1": tree.File{}}, "b": tree.Dir{"1": tree.File{}}, "c": tree.Dir{"1": tree.File{}}})
	o := options(root)
	// It takes longer than a stall, and a batch of entries far longer.
	o.Walkers, o.OpsLimit, o.StallAfter = 4, 1, 3*time.Second
	if _, err := scan.Run(t.Context(), o); err != nil {
		t.Errorf("a slow scan: %v", err)
	}
}
