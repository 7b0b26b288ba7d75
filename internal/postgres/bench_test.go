package postgres_test

import (
	"testing"
	"time"

	"fstally/internal/usage"
)

// wide makes a summary of n cells: 2,000 users, 200 types, 100 filesets.
func wide(n int) *usage.Summary {
	cells := make([]usage.Cell, n)
	for i := range cells {
		cells[i] = cell(uint32(i%2000)+1000, "t"+string(rune('a'+i/2000%200)), "f"+string(rune('a'+i/20%100)), int64(i)<<10)
		cells[i].AgeClass = usage.AgeClass(i / 400_000)
	}
	return summarize(cells...)
}

// BenchmarkImport stores a cube of 100,000 cells with its marginals and
// histograms; compare with COPY of the same rows by psql.
func BenchmarkImport(b *testing.B) {
	f := newFixture(b)
	s := wide(100_000)
	day := at("2026-01-01")
	for b.Loop() {
		f.add(day, s)
		day = day.Add(24 * time.Hour)
	}
	b.ReportMetric(float64(len(s.Cells)*b.N)/b.Elapsed().Seconds(), "cells/s")
}

// BenchmarkTop10 reads what a page shows.
func BenchmarkTop10(b *testing.B) {
	f := newFixture(b)
	scan := f.add(at("2026-01-01"), wide(100_000))
	user := uint32(1007)
	for name, filter := range map[string]usage.Filter{"marginal": {}, "cube": {User: &user}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f.usage(usage.Query{ScanID: scan.ID, GroupBy: usage.Type, By: usage.Allocated, Limit: 10, Filter: filter})
			}
		})
	}
}

// BenchmarkHistory reads one user over 1,000 scans of 1,000 users.
func BenchmarkHistory(b *testing.B) {
	f := newFixture(b)
	f.add(at("2020-01-01"), summarize(cell(42, "c", "", 1)))
	f.sql(`
		INSERT INTO scan (filesystem_id, state, verdict, started_at, day, published_at, size_classes)
		SELECT $1, 'complete', 'clean', d, d::date, now(), size_classes
		FROM scan, generate_series('2020-01-02'::timestamptz, '2022-09-26', '1 day') AS d`, f.fs.ID)
	f.sql(`
		INSERT INTO marginal (filesystem_id, scan_id, dimension, key, files, inodes, size, allocated, slack, offline)
		SELECT $1, s.id, 1, key, 1, 1, 1 << 20, 1 << 20, 1, 1
		FROM scan AS s, generate_series(1, 1000) AS key
		WHERE s.result_id IS NULL`, f.fs.ID)
	f.sql(`VACUUM ANALYZE`)
	for name, q := range map[string]usage.HistoryQuery{
		"totals":   {By: usage.Allocated},
		"one user": {By: usage.Allocated, GroupBy: usage.User, Keys: []string{"42"}},
		"top 10":   {By: usage.Allocated, GroupBy: usage.User, Top: 10},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f.history(q)
			}
		})
	}
}
