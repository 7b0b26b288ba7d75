package demo_test

import (
	"context"
	"testing"

	"fstally/internal/demo"
	"fstally/internal/postgres"
	"fstally/internal/usage"
	"fstally/test/postgrestest"
)

// BenchmarkFill fills a store; the metric leads to the time that three years
// take. Compare with BenchmarkMake, which leaves the store out.
func BenchmarkFill(b *testing.B) {
	for b.Loop() {
		store, err := postgres.Open(b.Context(), postgrestest.New(b), postgres.Options{AsyncCommit: true})
		if err != nil {
			b.Fatal(err)
		}
		benchmark(b, store)
		store.Close()
	}
}

// BenchmarkMake makes the nights for a store that forgets them.
func BenchmarkMake(b *testing.B) {
	for b.Loop() {
		benchmark(b, &forgetful{})
	}
}

type forgetful struct{ memory }

func (*forgetful) Import(context.Context, postgres.ImportRequest) (usage.Scan, error) {
	return usage.Scan{}, nil
}

func benchmark(b *testing.B, store demo.Store) {
	b.Helper()
	o := small()
	o.Users, o.Years = 300, 1
	if err := demo.Fill(b.Context(), store, o, func(int, int) {}); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N*2*365)/b.Elapsed().Seconds(), "nights/s")
}
