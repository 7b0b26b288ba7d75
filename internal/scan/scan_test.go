package scan_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"fstally/internal/classify"
	"fstally/internal/result"
	"fstally/internal/scan"
	"fstally/internal/usage"
	"fstally/internal/walk"
	"fstally/test/tree"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func options(path string) scan.Options {
	return scan.Options{
		Path: path, SizeClasses: usage.DefaultSizeClasses(), Filesets: usage.FilesetRules{Depth: 1},
		Categories: classify.BuiltInCategories(), Engine: walk.Linux{}, Version: "test", Started: time.Now().Truncate(time.Second),
	}
}

// forest has two parts that share hard links, in two directions.
func forest(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	dir := func(n int) tree.Dir {
		d := tree.Dir{}
		for i := range n {
			d[fmt.Sprintf("f%d.txt", i)] = tree.File{Size: int64(i) * 1000}
		}
		return d
	}
	x, y := dir(40), dir(30)
	x["sub"], y["sub"] = dir(5), dir(7)
	x["z.bin"] = tree.File{Size: 5000}
	y["a.txt"] = tree.HardLink{To: "x/z.bin"}
	y["own"] = tree.File{Size: 7000}
	y["own2"] = tree.HardLink{To: "y/own"}
	y["last.dat"] = tree.File{Size: 9000}
	x["first.log"] = tree.HardLink{To: "y/last.dat"}
	tree.Make(t, root, tree.Dir{"x": x, "y": y, "outside": tree.Dir{"f": tree.File{Size: 1}}})
	return root
}

func TestPartsMergeIntoTheWhole(t *testing.T) {
	root := forest(t)
	run := func(o scan.Options, parts ...string) *result.Result {
		o.Parts = parts
		r, err := scan.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	o := options(root)
	x, y, both := run(o, "x"), run(o, "y"), run(o, "x", "y")
	merged, err := result.Merge(x, y)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(both.Summary(), merged.Summary()); diff != "" {
		t.Errorf("two parts differ from one scan of both: %s", diff)
	}
	if diff := cmp.Diff(both.Meta.Filesets, merged.Meta.Filesets); diff != "" {
		t.Errorf("filesets: %s", diff)
	}
	whole := run(o).Summary().Marginal(usage.Fileset)
	for _, name := range []string{"x", "y"} {
		if got := merged.Summary().Marginal(usage.Fileset)[usage.Value{Text: name}]; got != whole[usage.Value{Text: name}] {
			t.Errorf("fileset %s has %+v in the parts, %+v in the whole", name, got, whole[usage.Value{Text: name}])
		}
	}
	if s := both.Summary(); s.Totals.Files != 85 || s.Counters.Links != 88 || s.Counters.Directories != 4 {
		t.Errorf("%d files with %d names in %d directories, want 85, 88 and 4", s.Totals.Files, s.Counters.Links, s.Counters.Directories)
	}
}

func TestBadParts(t *testing.T) {
	root := forest(t)
	for _, parts := range [][]string{{""}, {"/x"}, {"../x"}, {"x/"}, {"x", "x/sub"}, {"none"}, {"x/f1.txt"}} {
		o := options(root)
		o.Parts = parts
		if _, err := scan.Run(t.Context(), o); err == nil {
			t.Errorf("parts %q are scanned", parts)
		}
	}
}

func TestCancelLeavesNothing(t *testing.T) {
	o := options(forest(t))
	o.Walkers, o.OpsLimit = 2, 20 // seconds, if nobody stops it
	ctx, cancel := context.WithCancel(t.Context())
	o.Progress = func(p usage.Progress) {
		if p.Walkers != 2 || p.OpsLimit != 20 || p.FSType == "" {
			t.Errorf("progress does not tell how gentle the scan is: %+v", p)
		}
		cancel()
	}
	if r, err := scan.Run(ctx, o); !errors.Is(err, context.Canceled) || r != nil {
		t.Errorf("a cancelled scan returns %v, %v", r, err)
	}
}

func TestMetaTellsHow(t *testing.T) {
	root := forest(t)
	link := filepath.Join(t.TempDir(), "link")
	tree.Run(t, "ln", "-s", root, link)
	r, err := scan.Run(t.Context(), options(link))
	if err != nil {
		t.Fatal(err)
	}
	m := r.Meta
	realRoot, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	if m.Root != realRoot || m.Engine != "linux" || m.Host == "" || m.Walkers < 2 || m.Capacity.Source != "statfs" || m.Finished.Before(m.Started) {
		t.Errorf("meta: %+v", m)
	}
	if len(m.Identities) < 2 || len(m.Filesets) != 3 {
		t.Errorf("%d identities and %d filesets", len(m.Identities), len(m.Filesets))
	}
}

func TestBadRoot(t *testing.T) {
	var root *walk.RootError
	if _, err := scan.Run(t.Context(), options("/no/such/directory")); !errors.As(err, &root) || root.Problem != walk.Missing {
		t.Errorf("a root that does not exist: %v", err)
	}
}
