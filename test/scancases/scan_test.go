//go:build linux

package scancases_test

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"fstally/internal/classify"
	"fstally/internal/report"
	"fstally/internal/result"
	"fstally/internal/scan"
	"fstally/internal/usage"
	"fstally/internal/walk"
	"fstally/test/oracle"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if path, err := build(); err == nil {
			_ = os.RemoveAll(filepath.Dir(path))
		}
		os.Exit(code)
	}))
}

// engine is a walk engine with what it is known not to do.
type engine struct {
	walk.Engine
	// byPath opens directories by their full path. So it ends at PATH_MAX, and
	// changes the access times of directories.
	byPath bool
}

// engines are all of them: a test that does not say which holds for each.
func engines() []engine {
	return []engine{
		{Engine: walk.Linux{}},
		{Engine: walk.Fastwalk{}, byPath: true},
	}
}

// own returns the engines that do not depend on the length of paths.
func own() []engine { return slices.DeleteFunc(engines(), func(e engine) bool { return e.byPath }) }

// counted is what a scan found, and the same in the words of the oracle.
type counted struct {
	*result.Result
	told oracle.Result
}

// options are those of the command line.
func options(root string) scan.Options {
	return scan.Options{
		Path: root, SizeClasses: usage.DefaultSizeClasses(), Filesets: usage.FilesetRules{Depth: 1},
		Categories: classify.BuiltInCategories(), Version: "test", Started: time.Now(), OpsLimit: -1,
	}
}

// count scans with each of the engines and several numbers of walkers, which must
// make no difference.
func count(t *testing.T, o scan.Options, with ...engine) counted {
	t.Helper()
	var first *result.Result
	for _, e := range with {
		for _, n := range []int{1, 2, 7, 64} {
			o.Engine, o.Walkers = e, n
			r, err := scan.Run(t.Context(), o)
			if err != nil {
				t.Fatalf("%s, %d walkers: %v", e.Name(), n, err)
			}
			if first == nil {
				first = r
			}
			if diff := cmp.Diff(first.Summary(), r.Summary()); diff != "" {
				t.Fatalf("%s with %d walkers differs from %s with 1: %s", e.Name(), n, with[0].Name(), diff)
			}
		}
	}
	return counted{first, told(first)}
}

// check counts with all engines and holds the outcome to the oracle.
func check(t *testing.T, o scan.Options) counted {
	t.Helper()
	c := count(t, o, engines()...)
	checkOracle(t, o, c)
	return c
}

// checkOracle holds a scan of the whole root to the oracle, dimension by dimension.
func checkOracle(t *testing.T, o scan.Options, c counted) {
	t.Helper()
	want, _, err := oracle.Run(t.Context(), oracle.Options{
		Root: c.Meta.Root, Start: o.Started, SizeClasses: o.SizeClasses, Depth: o.Filesets.Depth,
		Snapshots: []string{".snapshots", ".snapshot", ".zfs", "~snapshot"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := oracle.Diff(want, c.told); diff != "" {
		t.Errorf("the scan is not what find lists: %s", diff)
	}
}

// told translates a result into the words of the oracle.
func told(r *result.Result) oracle.Result {
	s := r.Summary()
	number := func(b usage.Bytes) *big.Int {
		n, ok := new(big.Int).SetString(b.String(), 10)
		if !ok {
			panic(fmt.Sprintf("%s is no number", b))
		}
		return n
	}
	rows := func(d usage.Dimension) (rows []oracle.Row) {
		for _, row := range report.Rows(&r.Meta, s, d, usage.Allocated) {
			rows = append(rows, oracle.Row{
				Key: row.Key, Files: row.Files, Inodes: row.Inodes,
				Size: number(row.Size), Allocated: number(row.Allocated), Slack: number(row.Slack),
			})
		}
		return rows
	}
	return oracle.Result{
		Started: r.Meta.Started, Entries: s.Counters.Entries, Files: s.Totals.Files, Inodes: s.Totals.Inodes,
		Directories: s.Counters.Directories, Symlinks: s.Counters.Symlinks, Specials: s.Counters.Specials,
		Links: s.Counters.Links, Errors: s.Counters.Errors,
		Size: number(s.Totals.Size), Allocated: number(s.Totals.Allocated), Slack: number(s.Totals.Slack),
		Users: rows(usage.User), Groups: rows(usage.Group), Types: rows(usage.Type), Filesets: rows(usage.Fileset),
		SizeClasses: rows(usage.SizeClassDim), AgeClasses: rows(usage.AgeClassDim),
	}
}

// wantRow compares the files and the size of one row of a dimension.
func wantRow(t *testing.T, rows []oracle.Row, key string, files, size int64) {
	t.Helper()
	i := slices.IndexFunc(rows, func(r oracle.Row) bool { return r.Key == key })
	switch {
	case i < 0 && files == 0 && size == 0:
	case i < 0:
		t.Errorf("there is no row %s in %+v", key, rows)
	case rows[i].Files != files || rows[i].Size.Cmp(big.NewInt(size)) != 0:
		t.Errorf("row %s has %d files of %s bytes, want %d of %d", key, rows[i].Files, rows[i].Size, files, size)
	}
}

// wantTotals compares the files, each inode once, and their bytes.
func wantTotals(t *testing.T, c counted, files, size int64) {
	t.Helper()
	if c.told.Files != files || c.told.Size.Cmp(big.NewInt(size)) != 0 {
		t.Errorf("%d files of %s bytes, want %d of %d", c.told.Files, c.told.Size, files, size)
	}
}
