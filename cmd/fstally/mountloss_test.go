package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"fstally/test/mutefs"
	"fstally/test/tree"
)

// nobody is the user of a site that has no rights.
const nobody = 65534

// lossSite is a site of an ordinary user, with one file system of 100 files.
type lossSite struct {
	*program
	root   string
	source string // what is mounted at the root
	good   int64  // the scan that the pages show
}

func newLossSite(t *testing.T) *lossSite {
	t.Helper()
	tree.NeedRoot(t)
	dir, err := os.MkdirTemp("", "fstally-loss-") //nolint:usetesting // that of a test is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &lossSite{root: filepath.Join(dir, "movies"), source: tree.Loop(t, "xfs")}
	fill(t, s.source, "f", 100)
	dataDir := filepath.Join(dir, "data")
	for _, d := range []string{s.root, dataDir} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dataDir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	if err := build(); err != nil {
		t.Fatal(err)
	}
	s.mount(t, s.source)
	t.Cleanup(func() { _ = unix.Unmount(s.root, unix.MNT_DETACH) })
	s.program = launch(t, dataDir, func(cmd *exec.Cmd) {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: true}
		cmd.Dir = "/"
	}, "serve", "--listen", "127.0.0.1:0", s.root)
	await(t, "scanned first", func() bool { return s.scan("movies", 1).State == "complete" })
	s.good = 1
	s.still(t, "at first")
	return s
}

func fill(t *testing.T, dir, name string, files int) {
	t.Helper()
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(name, i)), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *lossSite) mount(t *testing.T, source string) {
	t.Helper()
	if err := unix.Mount(source, s.root, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
}

func (s *lossSite) unmount(t *testing.T) {
	t.Helper()
	if err := unix.Unmount(s.root, 0); err != nil {
		t.Fatal(err)
	}
}

// still holds that the last good scan is shown and ends the history.
func (s *lossSite) still(t *testing.T, when string) {
	t.Helper()
	var top struct {
		Scan  struct{ ID int64 }
		Total struct{ Files int64 }
	}
	s.get("/api/v1/filesystems/movies/top/users?by=files", &top)
	if top.Scan.ID != s.good || top.Total.Files == 0 {
		t.Errorf("%s: scan %d with %d files is shown, want scan %d", when, top.Scan.ID, top.Total.Files, s.good)
	}
	var history struct {
		Points []struct {
			Scan  struct{ ID int64 }
			Total struct{ Files int64 }
		}
	}
	s.get("/api/v1/filesystems/movies/history?by=files", &history)
	if len(history.Points) != 1 { // one for the day
		t.Fatalf("%s: the history has %d points", when, len(history.Points))
	}
	if p := history.Points[0]; p.Scan.ID != s.good || p.Total.Files == 0 {
		t.Errorf("%s: the history ends with scan %d with %d files, want scan %d", when, p.Scan.ID, p.Total.Files, s.good)
	}
}

// comesBack scans a root that is whole again.
func (s *lossSite) comesBack(t *testing.T, after string) {
	t.Helper()
	scan := s.scanNow("movies")
	if scan.Verdict != "clean" {
		t.Errorf("back after %s: %+v", after, scan)
	}
	s.good = scan.ID
	s.still(t, "back after "+after)
}

// Whatever becomes of a mount, nothing of it becomes a zero (cases C077, C078).
func TestMountLoss(t *testing.T) {
	t.Parallel()
	s := newLossSite(t)
	other := tree.Loop(t, "ext4")
	fill(t, other, "other", 100)
	mute := mutefs.Mount(t, tree.Dir{})
	away := s.root + ".away"
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, loss := range []struct {
		what, state, verdict, reason string
		lose, back                   func()
	}{
		{
			"unmounted", "complete", "suspect", "Nothing was found",
			func() { s.unmount(t) }, func() { s.mount(t, s.source) },
		},
		{
			"replaced by an empty directory", "complete", "suspect", "Nothing was found",
			func() { s.unmount(t); must(os.Rename(s.root, away)); must(os.Mkdir(s.root, 0o755)) },
			func() { must(os.Remove(s.root)); must(os.Rename(away, s.root)); s.mount(t, s.source) },
		},
		{
			"another file system", "complete", "suspect", "another file system",
			func() { s.unmount(t); s.mount(t, other) }, func() { s.unmount(t); s.mount(t, s.source) },
		},
		{
			"unreadable", "failed", "", "permission denied",
			func() { must(os.Chmod(s.source, 0)) }, func() { must(os.Chmod(s.source, 0o755)) },
		},
		{
			"not connected", "failed", "", "not connected",
			func() { s.unmount(t); s.mount(t, mute.Root); mute.Abort() }, func() { s.unmount(t); s.mount(t, s.source) },
		},
		{
			"missing", "failed", "", "does not exist",
			func() { s.unmount(t); must(os.Rename(s.root, away)) },
			func() { must(os.Rename(away, s.root)); s.mount(t, s.source) },
		},
		{
			"a file", "failed", "", "not a directory",
			func() { s.unmount(t); must(os.Rename(s.root, away)); must(os.WriteFile(s.root, nil, 0o644)) },
			func() { must(os.Remove(s.root)); must(os.Rename(away, s.root)); s.mount(t, s.source) },
		},
		{
			"half of it", "complete", "suspect", "fewer than half",
			func() { must(exec.CommandContext(t.Context(), "sh", "-c", "rm "+s.source+"/f[1-6]*").Run()) },
			func() { fill(t, s.source, "f", 100) },
		},
	} {
		loss.lose()
		scan := s.scanNow("movies")
		if scan.State != loss.state || scan.Verdict != loss.verdict || !strings.Contains(scan.Reason, loss.reason) {
			t.Errorf("%s: %+v, want %s %s because of %q", loss.what, scan, loss.state, loss.verdict, loss.reason)
		}
		s.still(t, loss.what)
		loss.back()
		s.comesBack(t, loss.what)
	}

	// C081: what is really gone is believed in the end.
	must(exec.CommandContext(t.Context(), "sh", "-c", "rm "+s.source+"/f*").Run())
	for i, want := range []string{"suspect", "suspect", "clean"} {
		if scan := s.scanNow("movies"); scan.Verdict != want {
			t.Errorf("emptied, scan %d of 3: %+v, want %s", i+1, scan, want)
		}
	}
}
