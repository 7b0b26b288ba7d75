package postgres_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/postgres"
	"fstally/internal/usage"
)

// plan is a node of EXPLAIN (FORMAT JSON).
type plan struct {
	NodeType string `json:"Node Type"`
	Relation string `json:"Relation Name"`
	Index    string `json:"Index Name"`
	Plans    []plan
}

// scans lists how a plan reads tables, such as "Seq Scan on scan".
func (p plan) scans() (list []string) {
	if p.Relation != "" || p.Index != "" {
		list = append(list, p.NodeType+" on "+p.Relation+p.Index)
	}
	for _, child := range p.Plans {
		list = append(list, child.scans()...)
	}
	return list
}

func (f *fixture) explain(sql string, args ...any) []string {
	f.t.Helper()
	conn := connect(f.t, f.url)
	var text []byte
	if err := conn.QueryRow(f.t.Context(), `EXPLAIN (FORMAT JSON) `+sql, args...).Scan(&text); err != nil {
		f.t.Fatal(err)
	}
	var plans []struct{ Plan plan }
	if err := json.Unmarshal(text, &plans); err != nil {
		f.t.Fatal(err)
	}
	return plans[0].Plan.scans()
}

// TestStatementsTouchLittle holds the plans of the busiest statements on a table
// of years.
func TestStatementsTouchLittle(t *testing.T) {
	f := newFixture(t)
	var scans []usage.Scan
	for _, day := range []string{"2026-01-01", "2026-01-02", "2026-02-20", "2026-03-20", "2027-01-01"} {
		scans = append(scans, f.add(at(day), random(1)))
	}
	const years = `
		INSERT INTO marginal (filesystem_id, scan_id, dimension, key, files, inodes, size, allocated, slack, offline)
		SELECT $1, scan_id, 1, key, 1, 1, 1, 1, 1, 1
		FROM generate_series(1000, 1300) AS scan_id, generate_series(1, 300) AS key`
	f.sql(years, f.fs.ID)
	f.sql(`VACUUM ANALYZE`)

	history := f.explain(postgres.MarginalsSQL, f.fs.ID, int16(1), []int64{42}, int64(1000), int64(1300))
	if diff := cmp.Diff([]string{"Index Only Scan on marginalmarginal_history_idx"}, history); diff != "" {
		t.Errorf("history of one user: %s", diff)
	}
	excerpt := f.explain(postgres.ScanMarginalsSQL, f.fs.ID, int16(1), []int64{42}, []int64{1000, 1100, 1300})
	if diff := cmp.Diff([]string{"Index Only Scan on marginalmarginal_history_idx"}, excerpt); diff != "" {
		t.Errorf("some scans of the history of one user: %s", diff)
	}

	sql, args, err := postgres.TableSQL(scans[1], 0, usage.Query{GroupBy: usage.User, By: usage.Size, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	top := f.explain(sql, args)
	if !slices.ContainsFunc(top, func(s string) bool { return strings.Contains(s, "marginal_pkey") }) || mentions(top, "usage") {
		t.Errorf("top users without a filter: %q", top)
	}

	user := uint32(1007)
	sql, args, err = postgres.TableSQL(scans[4], 2, usage.Query{GroupBy: usage.Type, By: usage.Size, Limit: 10, Filter: usage.Filter{User: &user}})
	if err != nil {
		t.Fatal(err)
	}
	filtered := f.explain(sql, args)
	for _, s := range filtered {
		if strings.Contains(s, "usage_") && !strings.Contains(s, "usage_monthly_2027") {
			t.Errorf("a filter reads another partition: %q", s)
		}
	}
	if !mentions(filtered, "usage_monthly_2027") || mentions(filtered, "marginal") {
		t.Errorf("types of one user: %q", filtered)
	}
}

func mentions(scans []string, table string) bool {
	return slices.ContainsFunc(scans, func(s string) bool { return strings.Contains(s, table) })
}
