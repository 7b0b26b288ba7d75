//go:build linux

package scancases_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"fstally/internal/scan"
	"fstally/internal/usage"
	"fstally/internal/walk/walktest"
	"fstally/test/tree"
)

// churn calls change again and again, with the number of the call, until the
// returned function is called.
func churn(t *testing.T, change func(n int) error) (stop func()) {
	t.Helper()
	end := make(chan struct{})
	var busy sync.WaitGroup
	busy.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-end:
				return
			default:
			}
			if err := change(n); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("change %d: %v", n, err)
				return
			}
		}
	})
	return func() {
		close(end)
		busy.Wait()
	}
}

// during scans with all engines and numbers of walkers while the tree changes, and
// hands each result on.
func during(t *testing.T, o scan.Options, times int, each func(t *testing.T, c counted)) {
	t.Helper()
	for _, e := range engines() {
		for _, n := range []int{1, 2, 7, 64} {
			t.Run(fmt.Sprintf("%s-%d", e.Name(), n), func(t *testing.T) {
				o.Engine, o.Walkers = e, n
				for range times {
					r, err := scan.Run(t.Context(), o)
					if err != nil {
						t.Fatal(err)
					}
					each(t, counted{r, told(r)})
				}
			})
		}
	}
}

// C052: directories that are gone when they are to be read.
func TestVanishedDirectories(t *testing.T) {
	root := t.TempDir()
	d, faults := tree.Dir{}, map[string]*walktest.Fault{}
	for i := range 1000 {
		name := fmt.Sprintf("d%03d", i)
		d[name] = tree.Dir{"f": tree.File{Size: 1}}
		if i%10 == 0 {
			faults[name] = &walktest.Fault{Open: unix.ENOENT}
		}
	}
	tree.Make(t, root, d)
	o := options(root)
	o.FS = &walktest.FS{Root: root, Faults: faults}
	c := count(t, o, engines()...)
	wantTotals(t, c, 900, 900)
	if n := c.Summary().Counters.Vanished; n != 100 || c.told.Errors != 0 || c.told.Directories != 1001 {
		t.Errorf("%d vanished, %d errors, %d directories", n, c.told.Errors, c.told.Directories)
	}
}

// C053, C059: directories come and go, also those that are being read and those above
// them; what does not change is counted exactly.
func TestStableBesideChurn(t *testing.T) {
	root := t.TempDir()
	stable := tree.Dir{}
	for i := range 100 {
		sub := tree.Dir{}
		for j := range 20 {
			sub[fmt.Sprintf("%02d.keep", j)] = tree.File{Size: 3, Data: tree.Sparse}
		}
		stable[fmt.Sprintf("d%02d", i)] = sub
	}
	tree.Make(t, root, tree.Dir{"stable": stable, "ci": tree.Dir{}})
	ci := filepath.Join(root, "ci")
	stop := churn(t, func(n int) error {
		job := fmt.Sprintf("%s/%d/a/b/c/d", ci, n%20)
		if err := os.MkdirAll(job, 0o755); err != nil {
			return err
		}
		for i := range 5 {
			if err := os.WriteFile(fmt.Sprintf("%s/f%d", job, i), nil, 0o600); err != nil {
				return err
			}
		}
		if n%3 == 0 {
			err := os.Rename(fmt.Sprintf("%s/%d/a", ci, n%20), fmt.Sprintf("%s/%d/moved", ci, n%20))
			return errors.Join(err, os.RemoveAll(fmt.Sprintf("%s/%d", ci, (n+10)%20)))
		}
		return os.RemoveAll(fmt.Sprintf("%s/%d", ci, (n+10)%20))
	})
	defer stop()
	during(t, options(root), 5, func(t *testing.T, c counted) {
		wantRow(t, c.told.Filesets, "stable", 2000, 6000)
		wantRow(t, c.told.Types, "keep", 2000, 6000)
		if c.told.Errors != 0 {
			t.Errorf("what vanishes is an error: %+v", c.Summary().Errors)
		}
	})
}

// C056: names in one directory come and go; those that stay are seen once.
func TestStableNamesInADirectoryThatChanges(t *testing.T) {
	for name, root := range map[string]string{"disk": t.TempDir(), "memory": tmpfs(t, "")} {
		t.Run(name, func(t *testing.T) {
			d := tree.Dir{}
			for i := range 20_000 {
				d[fmt.Sprintf("%05d.keep", i)] = tree.File{}
			}
			tree.Make(t, root, d)
			stop := churn(t, func(n int) error {
				err := os.WriteFile(fmt.Sprintf("%s/%d.come", root, n), nil, 0o600)
				return errors.Join(err, os.Remove(fmt.Sprintf("%s/%d.come", root, max(0, n-50))))
			})
			defer stop()
			during(t, options(root), 2, func(t *testing.T, c counted) {
				wantRow(t, c.told.Types, "keep", 20_000, 0)
				if c.told.Errors != 0 {
					t.Errorf("errors: %+v", c.Summary().Errors)
				}
			})
		})
	}
}

// Whatever is put in the place of a directory, the scan does not leave the root, and
// counts nothing that is not in it.
func TestRenamesLeadNowhere(t *testing.T) {
	top := t.TempDir()
	secret := tree.Dir{}
	for i := range 50 {
		secret[fmt.Sprintf("%d.secret", i)] = tree.File{Size: 1}
	}
	tree.Make(t, top, tree.Dir{
		"outside": tree.Dir{"d": secret},
		"root":    tree.Dir{"a": tree.Dir{"d": tree.Dir{"f.keep": tree.File{Size: 1}}}, "b": tree.Dir{}},
	})
	root := filepath.Join(top, "root")
	at := filepath.Join(root, "a")
	stop := churn(t, func(n int) error {
		away := filepath.Join(root, "b", "away")
		if err := os.Rename(at, away); err != nil {
			return err
		}
		put := func() error { return os.Symlink("../outside", at) }
		if n%2 == 0 {
			put = func() error { return os.Mkdir(at, 0o755) }
		}
		return errors.Join(put(), os.Remove(at), os.Rename(away, at))
	})
	defer stop()
	for _, e := range own() { // engines that go by path can be led out, and say so
		o := options(root)
		o.Engine = e
		for _, o.Walkers = range []int{1, 2, 7, 64} {
			for range 100 {
				r, err := scan.Run(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				wantRow(t, told(r).Types, "secret", 0, 0)
				if n := r.Summary().Marginal(usage.Type)[usage.Value{Text: "keep"}].Files; n > 2 {
					t.Fatalf("one file with two paths, one after the other, is counted %d times", n)
				}
			}
		}
	}
}
