package postgres_test

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"fstally/internal/usage"
)

var compareBytes = gocmp.Options{gocmp.AllowUnexported(usage.Bytes{}), cmpopts.EquateEmpty()}

// rowKey is the key that a reader must give a value.
func rowKey(d usage.Dimension, v usage.Value) (id int64, key string) {
	switch d {
	case usage.Type, usage.Category:
		return 0, usage.Escape(v.Text)
	case usage.Fileset:
		return 0, usage.EscapeKey(v.Text)
	case usage.SizeClassDim:
		return int64(v.ID), usage.DefaultSizeClasses().Key(usage.SizeClass(v.ID))
	case usage.AgeClassDim:
		return int64(v.ID), usage.AgeClass(v.ID).Key()
	default:
		return int64(v.ID), fmt.Sprint(v.ID)
	}
}

// expected is the table that the summary itself gives.
func expected(s *usage.Summary, d usage.Dimension, by usage.Measure) usage.Table {
	var t usage.Table
	for v, m := range s.Marginal(d) {
		id, key := rowKey(d, v)
		t.Rows = append(t.Rows, usage.Row{ID: id, Key: key, Measures: m})
		t.Total.Add(m)
		t.Count++
	}
	slices.SortFunc(t.Rows, by.Compare)
	return t
}

// nameless removes the names, which expected does not know.
func nameless(t usage.Table) usage.Table {
	for i := range t.Rows {
		t.Rows[i].Name = ""
	}
	return t
}

func TestUsageAgreesWithTheSummary(t *testing.T) {
	f := newFixture(t)
	f.add(at("2026-01-01"), random(1)) // whose rows must not leak in
	summary := random(2)
	scan := f.add(at("2026-01-02"), summary)
	for _, d := range usage.AllDimensions() {
		for _, by := range usage.AllMeasures() {
			want := expected(summary, d, by)
			got := nameless(f.usage(usage.Query{ScanID: scan.ID, GroupBy: d, By: by, Limit: 1000}))
			if diff := gocmp.Diff(want, got, compareBytes); diff != "" {
				t.Errorf("by %s and %s (-want +got):\n%s", d, by, diff)
			}
			if got.Total != scan.Totals {
				t.Errorf("by %s: the total %+v is not the scan's %+v", d, got.Total, scan.Totals)
			}
		}
	}
	if want := (usage.Distinct{Users: 40, Groups: 5, Types: 30, Filesets: 7}); scan.Distinct != want {
		t.Errorf("distinct %+v, want %+v", scan.Distinct, want)
	}
}

// By growth the rows are the same, in the order that the two summaries give, and
// a page is a part of that.
func TestUsageByGrowth(t *testing.T) {
	f := newFixture(t)
	earlier, later := random(1), random(2)
	before, scan := f.add(at("2026-01-01"), earlier), f.add(at("2026-01-08"), later)
	for _, d := range []usage.Dimension{usage.User, usage.Group, usage.Type, usage.Category, usage.Fileset} {
		for _, by := range usage.AllMeasures() {
			want, was := expected(later, d, by), map[string]usage.Measures{}
			for _, row := range expected(earlier, d, by).Rows {
				was[row.Key] = row.Measures
			}
			grown := func(r usage.Row) *big.Int {
				return new(big.Int).Sub(by.Of(r.Measures).Big(), by.Of(was[r.Key]).Big())
			}
			slices.SortFunc(want.Rows, func(a, b usage.Row) int {
				return cmp.Or(grown(b).Cmp(grown(a)), strings.Compare(tie(d, a), tie(d, b)))
			})
			q := usage.Query{ScanID: scan.ID, GroupBy: d, By: by, GrownSince: before.ID, Limit: 1000}
			if diff := gocmp.Diff(want, nameless(f.usage(q)), compareBytes); diff != "" {
				t.Errorf("by %s and %s (-want +got):\n%s", d, by, diff)
			}
			q.Limit, q.Offset = 2, 1
			if diff := gocmp.Diff(want.Rows[min(1, len(want.Rows)):min(3, len(want.Rows))], nameless(f.usage(q)).Rows, compareBytes); diff != "" {
				t.Errorf("page of %s and %s (-want +got):\n%s", d, by, diff)
			}
		}
	}
	user := uint32(1007)
	for _, q := range []usage.Query{
		{ScanID: scan.ID, GroupBy: usage.User, By: usage.Files, GrownSince: 999, Limit: 1},
		{
			ScanID: scan.ID, GroupBy: usage.Type, By: usage.Files, GrownSince: before.ID, Limit: 1,
			Filter: usage.Filter{User: &user},
		},
	} {
		if _, err := f.Usage(t.Context(), everything, q); err == nil {
			t.Errorf("%+v is answered", q)
		}
	}
}

// tie orders rows of equal growth.
func tie(d usage.Dimension, r usage.Row) string {
	if d == usage.User || d == usage.Group {
		return fmt.Sprintf("%020d", r.ID)
	}
	return r.Key
}

func TestFilters(t *testing.T) {
	f := newFixture(t)
	f.add(at("2026-01-01"), random(1))
	summary := random(2)
	scan := f.add(at("2026-01-02"), summary)
	user, group, pool := uint32(1007), uint32(3), uint32(2)
	typ, category, fileset, none := "t3", "kind of t", "ppp", usage.None
	size, age := usage.SizeClass(4), usage.Age90Days
	for name, tc := range map[string]struct {
		filter usage.Filter
		match  func(usage.Key) bool
	}{
		"user":       {usage.Filter{User: &user}, func(k usage.Key) bool { return k.UID == user }},
		"group":      {usage.Filter{Group: &group}, func(k usage.Key) bool { return k.GID == group }},
		"pool":       {usage.Filter{Pool: &pool}, func(k usage.Key) bool { return k.Pool == pool }},
		"type":       {usage.Filter{Type: &typ}, func(k usage.Key) bool { return k.Type == typ }},
		"category":   {usage.Filter{Category: &category}, func(usage.Key) bool { return true }},
		"fileset":    {usage.Filter{Fileset: &fileset}, func(k usage.Key) bool { return k.Fileset == fileset }},
		"no fileset": {usage.Filter{Fileset: &none}, func(k usage.Key) bool { return k.Fileset == "" }},
		"size class": {usage.Filter{SizeClass: &size}, func(k usage.Key) bool { return k.SizeClass == size }},
		"age class":  {usage.Filter{AgeClass: &age}, func(k usage.Key) bool { return k.AgeClass == age }},
		"several": {usage.Filter{Group: &group, Fileset: &fileset, Pool: &pool}, func(k usage.Key) bool {
			return k.GID == group && k.Fileset == fileset && k.Pool == pool
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var cells []usage.Cell
			for _, c := range summary.Cells {
				if tc.match(c.Key) {
					cells = append(cells, c)
				}
			}
			if len(cells) == 0 {
				t.Fatal("the filter matches nothing: choose other values")
			}
			part := summarize(cells...)
			for _, d := range usage.AllDimensions() {
				got := nameless(f.usage(usage.Query{ScanID: scan.ID, GroupBy: d, By: usage.Size, Filter: tc.filter, Limit: 1000}))
				if diff := gocmp.Diff(expected(part, d, usage.Size), got, compareBytes); diff != "" {
					t.Errorf("by %s (-want +got):\n%s", d, diff)
				}
			}
		})
	}
	for _, unknown := range []string{"", "nope", `\`, "\x00", "\xff", "' OR 1=1 --"} {
		for name, filter := range map[string]usage.Filter{
			"type": {Type: &unknown}, "category": {Category: &unknown}, "fileset": {Fileset: &unknown},
		} {
			if name == "fileset" && unknown == "" {
				continue // "" is the raw key of none
			}
			table := f.usage(usage.Query{ScanID: scan.ID, GroupBy: usage.User, By: usage.Size, Filter: filter, Limit: 10})
			if diff := gocmp.Diff(usage.Table{Rows: []usage.Row{}}, table, compareBytes); diff != "" {
				t.Errorf("%s %q is not empty: %s", name, unknown, diff)
			}
		}
	}
}
