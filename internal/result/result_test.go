package result_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/aggregate"
	"fstally/internal/classify"
	"fstally/internal/result"
	"fstally/internal/usage"
)

// sample scans an invented part: a directory with files beyond 64 bits, a hard
// link with a name elsewhere, and names that are no text.
func sample(part string, files int) *result.Result {
	root := &usage.Dir{}
	dir := &usage.Dir{Parent: root, Name: part, Depth: 1, Fileset: part}
	tally := aggregate.New(aggregate.Options{
		Started: 1_800_000_000, SizeClasses: usage.DefaultSizeClasses(), Types: classify.NewTypes(0),
	})
	s := tally.NewShard()
	s.Add(root, []usage.Entry{{Name: []byte(part), Type: usage.Directory, Nlink: 2, Dir: dir, Blocks: 8}})
	for i := range files {
		s.Add(dir, []usage.Entry{{Name: fmt.Appendf(nil, "f%d", i), Nlink: 1, UID: uint32(i % 5000), Size: math.MaxInt64, Blocks: 1}})
	}
	s.Add(dir, []usage.Entry{{Name: []byte("link"), Nlink: 2, Dev: 1, Ino: 9, UID: 4294967294, Size: 10, Blocks: 8, Mtime: -2}})
	p := tally.Finish(1,
		[]usage.ScanError{{Op: "open", Errno: "EACCES", Message: "permission denied", Count: 1, Paths: []string{part + "/\xff"}}},
		[]usage.Skipped{{Reason: usage.SkipSnapshot, Count: 1, Paths: []string{part + "/.snapshots"}}},
		func(string) string { return "other" })
	return &result.Result{
		Meta: usage.Meta{
			ResultID: "7b0a7f0e-8f1c-4f5b-9d0e-0123456789ab", Version: "1.2.3", Root: "/data/\xfe", Parts: []string{part}, Identity: "uuid",
			FSType: "xfs", Host: "node1", Engine: "fastwalk", Walkers: 4, OpsLimit: 2000, Freshness: "exact",
			Started: time.Unix(1_800_000_000, 0).UTC(), Finished: time.Unix(1_800_000_100, 5).UTC(), SizeClasses: usage.DefaultSizeClasses(),
			Capacity:   usage.Capacity{Size: usage.MaxBytes(), Free: usage.ByteCount(5), InodesTotal: 7, BlockSize: 4096, Source: "statfs"},
			Filesets:   []usage.NamedFileset{{Path: part, Name: part}},
			Identities: []usage.Identity{{Kind: usage.UserIdentity, ID: 4294967294, Name: "no\x01body"}},
		},
		Partial: p,
	}
}

func encode(tb testing.TB, r *result.Result) []byte {
	tb.Helper()
	var buf bytes.Buffer
	if err := result.Write(&buf, r); err != nil {
		tb.Fatal(err)
	}
	return buf.Bytes()
}

func TestRoundTrip(t *testing.T) {
	want := sample("a", 10_000) // several records of cells
	data := encode(t, want)
	got, err := result.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what was written is not what is read: %s", diff)
	}
	if !bytes.Equal(data, encode(t, got)) {
		t.Error("the same result gives other bytes")
	}
}

// TestManyRows holds that nothing is bounded by what one record may hold.
func TestManyRows(t *testing.T) {
	want := sample("a", 10)
	want.Meta.Filesets, want.Meta.Identities = nil, nil
	for i := range 140_000 {
		want.Meta.Filesets = append(want.Meta.Filesets, usage.NamedFileset{Path: fmt.Sprintf("d%06d", i), Name: "n"})
		want.Meta.Identities = append(want.Meta.Identities, usage.Identity{Kind: usage.UserIdentity, ID: uint32(i), Name: "u"})
		want.Partial.Root.Children = append(want.Partial.Root.Children,
			&aggregate.Node{Name: fmt.Sprintf("d%06d", i), Owners: map[uint32]aggregate.Owned{}})
		want.Partial.Root.Owners[uint32(i)] = aggregate.Owned{Inodes: 1}
	}
	got, err := result.Read(bytes.NewReader(encode(t, want)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Partial.Root.Owners); n < 140_000 {
		t.Errorf("%d owners of the root", n)
	}
	if len(got.Meta.Filesets) != 140_000 || len(got.Meta.Identities) != 140_000 || len(got.Partial.Root.Children) != 140_001 {
		t.Errorf("%d filesets, %d identities, %d directories", len(got.Meta.Filesets), len(got.Meta.Identities), len(got.Partial.Root.Children))
	}
}

func TestCutFilesAreRefused(t *testing.T) {
	data := encode(t, sample("a", 20))
	for n := range data {
		if _, err := result.Read(bytes.NewReader(data[:n])); !errors.Is(err, result.ErrCut) && !errors.Is(err, result.ErrDamaged) {
			t.Errorf("%d of %d bytes: %v, want a refusal", n, len(data), err)
		}
	}
}

func TestFlippedFilesAreRefused(t *testing.T) {
	data := encode(t, sample("a", 20))
	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 1 << (i % 8)
		if r, err := result.Read(bytes.NewReader(bad)); err == nil && !cmp.Equal(r, sample("a", 20)) {
			t.Errorf("bit %d of byte %d flipped: accepted with other contents", i%8, i)
		}
	}
}

func TestForeignFilesAreRefused(t *testing.T) {
	good := encode(t, sample("a", 1))
	for name, tc := range map[string]struct {
		data string
		want error
	}{
		"empty":    {"", result.ErrCut},
		"text":     {"total 12\ndrwxr-xr-x\n", result.ErrForeign},
		"newer":    {"fstally result 2\n" + string(good[17:]), result.ErrNewer},
		"nonsense": {"fstally result x\n", result.ErrForeign},
		"followed": {string(good) + "more", result.ErrDamaged},
	} {
		if _, err := result.Read(strings.NewReader(tc.data)); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}

func TestWriteFileLeavesAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "scan.fst")
	if err := result.WriteFile(path, sample("a", 3)); err != nil {
		t.Fatal(err)
	}
	if _, err := result.ReadFile(path); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v: others can read it", info.Mode(), err)
	}
	if err := result.WriteFile(filepath.Join(dir, "none", "scan.fst"), sample("a", 3)); err == nil {
		t.Error("a folder that is not there: no error")
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestMerge(t *testing.T) {
	a, b := sample("a", 10), sample("b", 5)
	b.Meta.Started = a.Meta.Started.Add(-time.Hour)
	sum, err := result.Merge(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(sum.Meta.Parts, []string{"a", "b"}) || len(sum.Meta.Filesets) != 2 || len(sum.Meta.Identities) != 1 {
		t.Errorf("parts %v, filesets %v, identities %v", sum.Meta.Parts, sum.Meta.Filesets, sum.Meta.Identities)
	}
	if !sum.Meta.Started.Equal(b.Meta.Started) || sum.Meta.ResultID == a.Meta.ResultID {
		t.Errorf("started %v with id %s", sum.Meta.Started, sum.Meta.ResultID)
	}
	s := sum.Summary()
	if s.Totals.Files != 16 || s.Counters.Links != 17 || s.Counters.Errors != 2 {
		t.Errorf("%d files with %d names and %d errors, want 16 (one inode is in both), 17 and 2", s.Totals.Files, s.Counters.Links, s.Counters.Errors)
	}
	if len(sum.Partial.Links) != 0 {
		t.Errorf("both names were seen, and still open: %+v", sum.Partial.Links)
	}
	got, err := result.Read(bytes.NewReader(encode(t, sum)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sum, got); diff != "" {
		t.Errorf("a merged result does not survive the container: %s", diff)
	}
}

func TestMergeRefusesWhatDoesNotFit(t *testing.T) {
	for what, change := range map[string]func(*usage.Meta){
		"root":         func(m *usage.Meta) { m.Root = "/else" },
		"file system":  func(m *usage.Meta) { m.Identity = "other" },
		"size classes": func(m *usage.Meta) { m.SizeClasses[0] = 1 },
		"overlap":      func(m *usage.Meta) { m.Parts = []string{"a/b"} },
	} {
		b := sample("b", 1)
		change(&b.Meta)
		if _, err := result.Merge(sample("a", 1), b); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(encode(f, sample("a", 3)))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := result.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		if err := r.Partial.Check(); err != nil {
			t.Errorf("accepted and wrong: %v", err)
		}
	})
}
