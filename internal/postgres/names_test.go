package postgres_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/usage"
)

// hostile are names that some tool of this kind choked on (C029, C033).
func hostile() []string {
	return []string{"report\x96final", "d\xff", `fs"1`, `fs\2`, `c\x2dd`, "a\nb\tc\x00d", "exe.\u202egnp", "</script><script>alert(1)",
		"'; DROP TABLE scan; --", "(none)", "(rest)", "()", " ", "%s{}", "=1+1", "漢字", strings.Repeat("x", 255),
		strings.Repeat("long/", 900)}
}

func TestHostileNamesRoundTrip(t *testing.T) {
	f := newFixture(t)
	var cells []usage.Cell
	var ids []usage.Identity
	want := []string{usage.None}
	for i, name := range hostile() {
		cells = append(cells, cell(uint32(i), "c", name, 1))
		ids = append(ids, usage.Identity{Kind: usage.UserIdentity, ID: uint32(i), Name: name[:min(len(name), 255)]})
		want = append(want, usage.EscapeKey(name))
	}
	cells = append(cells, cell(1000, "c", "", 1))
	req := f.request(at("2026-03-01"), summarize(cells...))
	req.Meta.Identities = ids
	req.Meta.Filesets = []usage.NamedFileset{{Path: "d\xff", Name: "(none)"}, {Path: "unused", Name: "u"}}
	req.Summary.Errors = []usage.ScanError{{Op: "op\xff\x00", Errno: "E", Message: "m\xfe\x00", Count: 1, Paths: hostile()}}
	scan := f.store(req)

	table := f.usage(usage.Query{ScanID: scan.ID, GroupBy: usage.Fileset, By: usage.Size, Limit: 100})
	slices.Sort(want)
	var got []string
	for _, row := range table.Rows {
		got = append(got, row.Key)
		one := f.usage(usage.Query{ScanID: scan.ID, GroupBy: usage.User, By: usage.Size, Filter: usage.Filter{Fileset: &row.Key}, Limit: 10})
		if one.Count != 1 || one.Total != row.Measures {
			t.Errorf("filter by %q: %+v", row.Key, one)
		}
		if row.Key == `d\xff` && row.Name != `\x28none)` || row.Key != `d\xff` && row.Name != row.Key {
			t.Errorf("fileset %q is called %q", row.Key, row.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	users := f.usage(usage.Query{ScanID: scan.ID, GroupBy: usage.User, By: usage.Size, Limit: 100})
	for i, name := range hostile() {
		if got, want := users.Rows[i].Name, usage.Escape(name[:min(len(name), 255)]); got != want {
			t.Errorf("user %d is called %q, want %q", i, got, want)
		}
	}
	failures, _, err := f.ScanProblems(t.Context(), everything, scan.ID)
	if err != nil || len(failures) != 1 || !slices.Equal(failures[0].Paths, hostile()) {
		t.Errorf("error samples: %+v, %v", failures, err)
	}
}

func TestIdsAreUnsigned(t *testing.T) { // C085
	f := newFixture(t)
	nobody, big := cell(math.MaxUint32-1, "c", "", 3), cell(3000000000, "c", "", 2)
	nobody.GID, big.GID = math.MaxUint32-1, 1<<31
	scan := f.add(at("2026-03-01"), summarize(nobody, big))
	for d, want := range map[usage.Dimension][]string{
		usage.User: {"4294967294", "3000000000"}, usage.Group: {"4294967294", "2147483648"},
	} {
		var got []string
		for _, row := range f.usage(usage.Query{ScanID: scan.ID, GroupBy: d, By: usage.Size, Limit: 5}).Rows {
			got = append(got, row.Key)
			if row.Name != row.Key || fmt.Sprint(row.ID) != row.Key {
				t.Errorf("%s %+v", d, row)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", d, diff)
		}
	}
	user := uint32(3000000000)
	table := f.usage(usage.Query{ScanID: scan.ID, GroupBy: usage.Group, By: usage.Size, Filter: usage.Filter{User: &user}, Limit: 5})
	if table.Count != 1 || table.Rows[0].Key != "2147483648" {
		t.Errorf("groups of user %d: %+v", user, table)
	}
}

func TestSumsDoNotOverflow(t *testing.T) { // C118
	f := newFixture(t)
	a, b := cell(1, "c", "", math.MaxInt64), cell(1, "h", "", math.MaxInt64)
	a.Files, a.Inodes, a.Allocated, b.Allocated = 3_000_000_000, 3_000_000_001, usage.Bytes{}, usage.Bytes{}
	s := summarize(a, b)
	if got := s.Totals.Size.String(); got != "18446744073709551614" {
		t.Fatalf("2 x (2^63-1) = %s", got)
	}
	scan := f.add(at("2026-03-01"), s)
	age := usage.Age7Days
	for _, filter := range []usage.Filter{{}, {AgeClass: &age}} {
		table := f.usage(usage.Query{ScanID: scan.ID, GroupBy: usage.User, By: usage.Size, Limit: 1, Filter: filter})
		if table.Total != s.Totals || table.Rows[0].Measures != s.Totals || scan.Totals != s.Totals {
			t.Errorf("total %+v, want %+v", table.Total, s.Totals)
		}
	}
	bars, err := f.SizeHistogram(t.Context(), everything, scan.ID, usage.Size, nil)
	if err != nil || len(bars) != 1 || bars[0].Size != s.Totals.Size || bars[0].Files != s.Totals.Files {
		t.Errorf("histogram %+v, %v", bars, err)
	}
	h := f.history(usage.HistoryQuery{GroupBy: usage.User, By: usage.Size, Top: 1})
	if *h.Points[0].Rows[0] != s.Totals {
		t.Errorf("history %+v", h.Points[0])
	}
}

func TestTiesAndPages(t *testing.T) { // C135
	f := newFixture(t)
	var cells []usage.Cell
	for i := range 12 {
		cells = append(cells, cell(uint32(20-i), fmt.Sprintf("t%02d", i), fmt.Sprintf("fs%x\xff", i), 1<<20))
	}
	scan := f.add(at("2026-03-01"), summarize(cells...))
	age := usage.Age7Days
	for _, d := range []usage.Dimension{usage.User, usage.Type, usage.Fileset} {
		want := expected(summarize(cells...), d, usage.Allocated)
		for name, filter := range map[string]usage.Filter{"marginal": {}, "cube": {AgeClass: &age}} {
			var paged []usage.Row
			for offset := 0; offset < 15; offset += 5 {
				table := nameless(f.usage(usage.Query{ScanID: scan.ID, GroupBy: d, By: usage.Allocated, Limit: 5, Offset: offset, Filter: filter}))
				if table.Count != 12 || table.Total != scan.Totals {
					t.Errorf("%s by %s from %d: %d rows, total %+v", name, d, offset, table.Count, table.Total)
				}
				paged = append(paged, table.Rows...)
			}
			if diff := cmp.Diff(want.Rows, paged, compareBytes); diff != "" {
				t.Errorf("%s by %s: %s", name, d, diff)
			}
		}
	}
	past := f.usage(usage.Query{ScanID: scan.ID, GroupBy: usage.User, By: usage.Files, Limit: 5, Offset: 100})
	if len(past.Rows) != 0 || past.Count != 12 || past.Total != scan.Totals {
		t.Errorf("past the end: %+v", past)
	}
}

func TestNamesOfUsers(t *testing.T) {
	f := newFixture(t)
	add := func(day, host string, names ...usage.Identity) usage.Scan {
		req := f.request(at(day), summarize(cell(1, "c", "", 1), cell(2, "c", "", 1), cell(3, "c", "", 1)))
		req.Meta.Host, req.Meta.Identities = host, names
		return f.store(req)
	}
	user := func(id uint32, name string) usage.Identity {
		return usage.Identity{Kind: usage.UserIdentity, ID: id, Name: name}
	}
	add("2026-03-01", "node1", user(1, "old"), user(2, "kept"), user(2, "kept"), usage.Identity{Kind: usage.GroupIdentity, ID: 1, Name: "group"})
	node1 := add("2026-03-02", "node1", user(1, "new"), user(2, ""))
	node2 := add("2026-03-03", "node2", user(1, "elsewhere"))
	for _, tc := range []struct {
		scan usage.Scan
		want []string
	}{
		{node1, []string{"new", "kept", "3"}}, // 2 is gone from the host: its last name says more
		{node2, []string{"elsewhere", "kept", "3"}},
	} {
		var got []string
		for _, row := range f.usage(usage.Query{ScanID: tc.scan.ID, GroupBy: usage.User, By: usage.Files, Limit: 5}).Rows {
			got = append(got, row.Name)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("users of %s: %s", tc.scan.Host, diff)
		}
	}
}

func TestPartitionsOverTheCalendar(t *testing.T) { // C117
	zone := time.FixedZone("site", 2*3600)
	f := newFixtureIn(t, zone)
	for _, tc := range []struct {
		start string // in the site's zone
		want  string // partition of the cube
	}{
		{"2026-01-30 12:00:00", "usage_monthly_2026"},
		{"2026-01-31 23:59:59", "usage_nightly_2026w05"}, // ends after midnight
		{"2026-02-01 00:00:00", "usage_monthly_2026"},
		{"2026-02-02 01:00:00", "usage_weekly_2026m02"},
		{"2026-02-02 23:00:00", "usage_nightly_2026w06"},
		{"2026-07-15 12:00:00", "usage_monthly_2026"}, // off for five months
		{"2027-01-01 00:00:00", "usage_monthly_2027"},
		{"2027-01-02 00:00:00", "usage_nightly_2026w53"},
		{"2027-12-31 23:59:59", "usage_monthly_2027"},
		{"2028-01-01 00:00:00", "usage_monthly_2028"},
		{"2028-02-28 00:00:00", "usage_monthly_2028"},
		{"2028-02-29 00:00:00", "usage_nightly_2028w09"},
		{"2028-03-01 00:00:00", "usage_monthly_2028"},
	} {
		start, err := time.ParseInLocation(time.DateTime, tc.start, zone)
		if err != nil {
			t.Fatal(err)
		}
		s := random(1)
		scan := f.add(start, s)
		if scan.Day != tc.start[:10] {
			t.Errorf("%s has the day %s", tc.start, scan.Day)
		}
		n := f.count(`SELECT count(*) FROM usage WHERE scan_id = $1 AND tableoid = $2::text::regclass`, scan.ID, tc.want)
		if n != int64(len(s.Cells)) {
			t.Errorf("%s: %d of %d cells in %s", tc.start, n, len(s.Cells), tc.want)
		}
	}
}
