package postgres_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/postgres"
	"fstally/internal/usage"
)

func (f *fixture) history(q usage.HistoryQuery) usage.History {
	f.t.Helper()
	q.FileSystemID = f.fs.ID
	h, err := f.History(f.t.Context(), everything, q)
	if err != nil {
		f.t.Fatal(err)
	}
	return h
}

// days lists the days of the points.
func days(h usage.History) (days []string) {
	for _, p := range h.Points {
		days = append(days, p.Scan.Day)
	}
	return days
}

// files lists one series, -1 where it is unknown.
func files(h usage.History, series int) (files []int64) {
	for _, p := range h.Points {
		if p.Rows[series] == nil {
			files = append(files, -1)
		} else {
			files = append(files, p.Rows[series].Files)
		}
	}
	return files
}

func TestHistory(t *testing.T) {
	f := newFixture(t)
	other := f.addFileSystem("other")
	two := summarize(cell(1, "c", "a", 10), cell(2, "h", "b", 20))
	three := summarize(cell(1, "c", "a", 10), cell(2, "h", "b", 20), cell(2, "py", "", 30))

	f.add(at("2026-03-03"), two) // imports need not come in order
	f.add(at("2026-03-01"), two)
	f.add(at("2026-03-05").Add(-1), summarize(cell(9, "c", "", 1), cell(9, "h", "", 1)))
	f.add(at("2026-03-05"), three)                          // the latest of its day
	f.add(at("2026-03-06"), summarize(cell(1, "c", "", 1))) // suspect
	failed := f.claim("a")
	if err := f.EndScan(t.Context(), failed.ID, "a", usage.Failed, "no such directory"); err != nil {
		t.Fatal(err)
	}
	stranger := f.request(at("2026-03-05"), random(1))
	stranger.FileSystemID = other.ID
	f.store(stranger)

	h := f.history(usage.HistoryQuery{By: usage.Files})
	if diff := cmp.Diff([]string{"2026-03-01", "2026-03-03", "2026-03-05"}, days(h)); diff != "" {
		t.Errorf("days: %s", diff)
	}
	if h.Points[2].Total != three.Totals || h.Points[2].Rows != nil || h.Series != nil {
		t.Errorf("totals: %+v", h.Points[2])
	}

	if h = f.history(usage.HistoryQuery{By: usage.Files, From: "0000-01-01"}); len(h.Points) != 3 {
		t.Errorf("from the year 0: %v", days(h))
	}
	if h = f.history(usage.HistoryQuery{By: usage.Files, To: "0000-12-31"}); len(h.Points) != 0 {
		t.Errorf("up to the year 0: %v", days(h))
	}

	h = f.history(usage.HistoryQuery{GroupBy: usage.User, By: usage.Files, Top: 5})
	if len(h.Series) != 2 || h.Series[0].Key != "2" || h.Series[1].Key != "1" {
		t.Fatalf("series: %+v", h.Series)
	}
	if diff := cmp.Diff([]int64{1, 1, 2}, files(h, 0)); diff != "" {
		t.Errorf("files of user 2: %s", diff)
	}
	if h.Series[0].Measures != *h.Points[2].Rows[0] {
		t.Errorf("the series has %+v, the newest point %+v", h.Series[0].Measures, h.Points[2].Rows[0])
	}
	h = f.history(usage.HistoryQuery{GroupBy: usage.User, By: usage.Files, Top: 1})
	if len(h.Series) != 1 || h.Series[0].Key != "2" {
		t.Errorf("top 1: %+v", h.Series)
	}
	h = f.history(usage.HistoryQuery{GroupBy: usage.Fileset, By: usage.Files, Keys: []string{"b", usage.None, "unknown", `\`}})
	if len(h.Series) != 2 || h.Series[0].Key != "b" || h.Series[1].Key != usage.None {
		t.Fatalf("series by key: %+v", h.Series)
	}
	if diff := cmp.Diff([]int64{0, 0, 1}, files(h, 1)); diff != "" {
		t.Errorf("files of no fileset: %s", diff)
	}

	checkExcerpt(t, f, usage.HistoryQuery{GroupBy: usage.User, By: usage.Files, Top: 5})

	for _, tc := range []struct {
		from, to string
		want     []string
	}{
		{"2026-03-01", "2026-03-05", []string{"2026-03-01", "2026-03-03"}},
		{"2026-03-02", "", []string{"2026-03-03", "2026-03-05"}},
		{"", "2026-03-01", nil},
		{"2026-03-05", "2026-03-01", nil},
	} {
		h := f.history(usage.HistoryQuery{By: usage.Size, GroupBy: usage.Type, Top: 3, From: tc.from, To: tc.to})
		if diff := cmp.Diff(tc.want, days(h)); diff != "" {
			t.Errorf("from %s to %s: %s", tc.from, tc.to, diff)
		}
	}
	for name, q := range map[string]usage.HistoryQuery{
		"unknown file system": {FileSystemID: 999, By: usage.Size},
		"a date that is none": {FileSystemID: f.fs.ID, By: usage.Size, From: "2026-02-30"},
	} {
		if h, err := f.History(t.Context(), everything, q); err == nil {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

// checkExcerpt wants the days of a history to be those of its points, and a history of
// some of the scans to have their points alone.
func checkExcerpt(t *testing.T, f *fixture, q usage.HistoryQuery) {
	t.Helper()
	all := f.history(q)
	q.FileSystemID = f.fs.ID
	got, err := f.HistoryDays(t.Context(), everything, q)
	if err != nil {
		t.Fatal(err)
	}
	var want []usage.HistoryDay
	for _, p := range all.Points {
		want = append(want, usage.HistoryDay{ScanID: p.Scan.ID, Day: p.Scan.Day, Started: p.Scan.Started})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("days of the history: (-points +days)\n%s", diff)
	}
	last := len(all.Points) - 1
	q.Scans = []int64{all.Points[last].Scan.ID, all.Points[0].Scan.ID}
	some := usage.History{Series: all.Series, Points: []usage.Point{all.Points[0], all.Points[last]}}
	if diff := cmp.Diff(some, f.history(q), compareBytes); diff != "" {
		t.Errorf("first and last of the history: (-of all +asked for)\n%s", diff)
	}
	q.Scans = []int64{}
	if h := f.history(q); len(h.Points) != 0 {
		t.Errorf("no scan was asked for, %d came", len(h.Points))
	}
}

func TestEverHad(t *testing.T) {
	f := newFixture(t)
	f.add(at("2026-03-01"), summarize(cell(1, "c", "", 10), cell(7, "c", "x", 10)))
	f.add(at("2026-03-02"), summarize(cell(1, "c", "", 10), cell(1, "h", "y", 10)))
	suspect := f.add(at("2026-03-03"), summarize(cell(9, "c", "", 1)))
	if suspect.Verdict != usage.Suspect {
		t.Fatalf("the scan with user 9 is %s, want suspect", suspect.Verdict)
	}
	for _, tc := range []struct {
		d    usage.Dimension
		key  string
		want bool
	}{
		{usage.User, "1", true},
		{usage.User, "7", true}, // once
		{usage.User, "9", false},
		{usage.User, "8", false},
		{usage.User, "nobody", false},
		{usage.Type, "h", true},
		{usage.Type, "py", false},
		{usage.Fileset, "x", true},
		{usage.Fileset, "z", false},
	} {
		got, err := f.EverHad(t.Context(), everything, f.fs.ID, tc.d, tc.key)
		if err != nil || got != tc.want {
			t.Errorf("%s %s: %t, %v; want %t", tc.d, tc.key, got, err, tc.want)
		}
	}
}

func TestUnknownIsNotZero(t *testing.T) {
	f := newFixture(t)
	f.add(at("2026-03-01"), summarize(cell(1, "c", "", 10), cell(1, "h", "", 10)))
	limited := f.add(at("2026-03-02"), summarize(cell(1, "c", "", 10), cell(1, usage.Rest, "", 10)))
	f.add(at("2026-03-03"), summarize(cell(1, "h", "", 10), cell(1, "h", "x", 10)))
	h := f.history(usage.HistoryQuery{GroupBy: usage.Type, By: usage.Files, Keys: []string{"h", "c"}})
	if diff := cmp.Diff([]int64{1, -1, 2}, files(h, 0)); diff != "" {
		t.Errorf("type h, which a limit may have cut: %s", diff)
	}
	if diff := cmp.Diff([]int64{1, 1, 0}, files(h, 1)); diff != "" {
		t.Errorf("type c: %s", diff)
	}
	got, err := f.UsageOf(t.Context(), everything, limited.ID, usage.Type, []string{"c", "h", "never"})
	want := map[string]usage.Measures{"c": cell(1, "c", "", 10).Measures}
	if diff := cmp.Diff(want, got, compareBytes); diff != "" || err != nil {
		t.Errorf("types of a limited set: %v %s", err, diff)
	}
	got, err = f.UsageOf(t.Context(), everything, limited.ID, usage.User, []string{"1", "2", "nobody"})
	want = map[string]usage.Measures{"1": limited.Totals, "2": {}, "nobody": {}}
	if diff := cmp.Diff(want, got, compareBytes); diff != "" || err != nil {
		t.Errorf("users: %v %s", err, diff)
	}

	// Classes with other bounds are other classes.
	other := f.request(at("2026-03-04"), summarize(cell(1, "h", "", 10), cell(1, "h", "", 10)))
	other.Meta.SizeClasses = usage.SizeClasses{4 << 10, 32 << 10, 8 << 20, 1 << 30}
	other.Summary.Cells = other.Summary.Cells[:1]
	other.Summary.Cells[0].Measures = other.Summary.Totals
	scan := f.store(other)
	h = f.history(usage.HistoryQuery{GroupBy: usage.SizeClassDim, By: usage.Files, Keys: []string{"4096", "32768"}})
	if diff := cmp.Diff([]int64{-1, -1, -1, 2}, files(h, 0)); diff != "" {
		t.Errorf("size class: %s", diff)
	}
	got, err = f.UsageOf(t.Context(), everything, scan.ID, usage.SizeClassDim, []string{"3072", "4096", "over"})
	want = map[string]usage.Measures{"4096": scan.Totals, "over": {}}
	if diff := cmp.Diff(want, got, compareBytes); diff != "" || err != nil {
		t.Errorf("size classes: %v %s", err, diff)
	}
}

func TestScansByPage(t *testing.T) {
	f := newFixture(t)
	var want, got []int64
	for _, day := range []string{"2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04", "2026-03-05"} {
		want = append([]int64{f.add(at(day), random(1)).ID}, want...)
	}
	for before := int64(0); ; {
		page, err := f.Scans(t.Context(), everything, f.fs.ID, 2, before)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, s := range page {
			got = append(got, s.ID)
		}
		before = page[len(page)-1].ID
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestHistogram(t *testing.T) {
	f := newFixture(t)
	s := random(5)
	scan := f.add(at("2026-03-01"), s)
	typ, unknown := "t1", "never"
	for name, typ := range map[string]*string{"all": nil, "one type": &typ, "unknown type": &unknown} {
		for _, by := range []usage.Measure{usage.Size, usage.Allocated} {
			want := make(map[usage.SizeBucket]usage.BucketRow)
			for _, c := range s.Sizes {
				if c.Dimension == usage.Type && c.By == by && (typ == nil || c.Value.Text == *typ) {
					r := want[c.Bucket]
					r.Bucket, r.Files = c.Bucket, r.Files+c.Files
					r.Size, r.Allocated = r.Size.Add(c.Size), r.Allocated.Add(c.Allocated)
					want[c.Bucket] = r
				}
			}
			bars, err := f.SizeHistogram(t.Context(), everything, scan.ID, by, typ)
			got := make(map[usage.SizeBucket]usage.BucketRow)
			for i, b := range bars {
				got[b.Bucket] = b
				if i > 0 && b.Bucket <= bars[i-1].Bucket {
					t.Errorf("%s: bucket %d after %d", name, b.Bucket, bars[i-1].Bucket)
				}
			}
			if diff := cmp.Diff(want, got, compareBytes); diff != "" || err != nil {
				t.Errorf("%s by %s: %v %s", name, by, err, diff)
			}
		}
	}
	if _, err := f.SizeHistogram(t.Context(), everything, scan.ID, usage.Files, nil); err == nil {
		t.Error("a histogram of files by files")
	}
}

func TestScopeHides(t *testing.T) {
	f := newFixture(t)
	ctx, nothing := t.Context(), usage.Scope{}
	scan := f.add(at("2026-03-01"), random(1))
	queued, err := f.QueueScan(ctx, f.fs.ID)
	if err != nil {
		t.Fatal(err)
	}
	list, err := f.FileSystems(ctx, nothing)
	if len(list) != 0 || err != nil {
		t.Errorf("file systems: %v, %v", list, err)
	}
	for name, err := range map[string]error{
		"FileSystem":    second(f.FileSystem(ctx, nothing, "home")),
		"Scans":         second(f.Scans(ctx, nothing, f.fs.ID, 1, 0)),
		"Scan":          second(f.Scan(ctx, nothing, scan.ID)),
		"CancelScan":    second(f.CancelScan(ctx, nothing, queued.ID)),
		"ScanBefore":    second(f.ScanBefore(ctx, nothing, f.fs.ID, at("2027-01-01"))),
		"Usage":         second(f.Usage(ctx, nothing, usage.Query{ScanID: scan.ID, GroupBy: usage.User, By: usage.Size, Limit: 1})),
		"UsageOf":       second(f.UsageOf(ctx, nothing, scan.ID, usage.User, []string{"1000"})),
		"History":       second(f.History(ctx, nothing, usage.HistoryQuery{FileSystemID: f.fs.ID, By: usage.Size})),
		"HistoryDays":   second(f.HistoryDays(ctx, nothing, usage.HistoryQuery{FileSystemID: f.fs.ID})),
		"EverHad":       second(f.EverHad(ctx, nothing, f.fs.ID, usage.User, "1")),
		"SizeHistogram": second(f.SizeHistogram(ctx, nothing, scan.ID, usage.Size, nil)),
		"ScanProblems":  third(f.ScanProblems(ctx, nothing, scan.ID)),
		"Neighbours":    third(f.Neighbours(ctx, nothing, scan)),
	} {
		if !errors.Is(err, usage.ErrNotFound) {
			t.Errorf("%s outside of the scope: %v", name, err)
		}
	}
	if _, err := f.Scan(ctx, usage.OnlyFileSystems(f.fs.ID), scan.ID); err != nil {
		t.Errorf("Scan in the scope: %v", err)
	}
	if got := f.scan(queued.ID); got.State != usage.Queued {
		t.Errorf("cancelled from outside of the scope: %s", got.State)
	}
}

func second[A any](_ A, err error) error        { return err }
func third[A, B any](_ A, _ B, err error) error { return err }

func TestFileSystems(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	want := usage.FileSystem{
		Name: "arc-1", Root: "/mnt/\xff'; --", Identity: "server:/x\xfe", SizeClasses: usage.SizeClasses{1, 2, 3, 4}, Demo: true, Type: "nfs4",
		Filesets: usage.FilesetRules{Depth: 2, Named: []usage.NamedFileset{{Path: "a/b\xff", Name: ""}, {Path: "c", Name: "sea\n"}}},
	}
	added, err := f.AddFileSystem(ctx, want)
	if err != nil {
		t.Fatal(err)
	}
	want.ID, want.Created = added.ID, added.Created
	if diff := cmp.Diff(want, added); diff != "" || added.Created.IsZero() {
		t.Error(diff)
	}
	for name, bad := range map[string]usage.FileSystem{"name": {Name: "arc-1", Root: "/other"}, "root": {Name: "other", Root: want.Root}} {
		if _, err := f.AddFileSystem(ctx, bad); !errors.Is(err, postgres.ErrExists) {
			t.Errorf("taken %s: %v", name, err)
		}
	}
	for _, bad := range []usage.FileSystem{{Name: "Arc", Root: "/x"}, {Name: "", Root: "/x"}, {Name: "x", Root: "/x", SizeClasses: usage.SizeClasses{1, 1, 1, 1}}} {
		if _, err := f.AddFileSystem(ctx, bad); err == nil {
			t.Errorf("added %+v", bad)
		}
	}
	want.Name, want.Filesets = "arc-2", usage.FilesetRules{Depth: 1}
	if err := f.UpdateFileSystem(ctx, want); err != nil {
		t.Fatal(err)
	}
	if got, err := f.FileSystem(ctx, everything, "arc-2"); err != nil || got.Filesets.Depth != 1 || got.Filesets.Named != nil {
		t.Errorf("updated: %+v, %v", got, err)
	}
	clash := want
	clash.Name = "home"
	if err := f.UpdateFileSystem(ctx, clash); !errors.Is(err, postgres.ErrExists) {
		t.Errorf("rename to a taken name: %v", err)
	}
	clash.ID, clash.Name = 999, "nobody"
	if err := f.UpdateFileSystem(ctx, clash); !errors.Is(err, usage.ErrNotFound) {
		t.Errorf("update of an unknown one: %v", err)
	}
	list, err := f.FileSystems(ctx, everything)
	if err != nil || len(list) != 2 || list[0].Name != "arc-2" || list[1].Name != "home" {
		t.Errorf("list: %+v, %v", list, err)
	}
	for _, unknown := range []string{"", "arc-1", "999", "-1", "99999999999999999999", "\xff", "a\x00", "Home"} {
		if got, err := f.FileSystem(ctx, everything, unknown); !errors.Is(err, usage.ErrNotFound) {
			t.Errorf("file system %q: %+v, %v", unknown, got, err)
		}
	}

	keep := f.request(at("2026-03-01"), random(1))
	keep.FileSystemID = added.ID
	kept := f.store(keep)
	gone := f.add(at("2026-03-01"), random(2))
	if err := f.RemoveFileSystem(ctx, f.fs.ID); err != nil {
		t.Fatal(err)
	}
	if f.stored(gone.ID) != 0 || f.stored(kept.ID) == 0 {
		t.Errorf("rows: %d of the removed, %d of the other", f.stored(gone.ID), f.stored(kept.ID))
	}
	if err := f.RemoveFileSystem(ctx, f.fs.ID); !errors.Is(err, usage.ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
}
