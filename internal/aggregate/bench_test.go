package aggregate_test

import (
	"testing"

	"fstally/internal/usage"
)

// BenchmarkAdd adds the entries of 2,048 directories of 512 files, a chunk at a time
// as a walk does, and leaves each directory.
func BenchmarkAdd(b *testing.B) {
	b.Run("lifelike", func(b *testing.B) { benchmarkAdd(b, lifelike(2048, 512)) })
	b.Run("random", func(b *testing.B) { benchmarkAdd(b, atRandom(2048, 512)) })
}

func benchmarkAdd(b *testing.B, all []listing) {
	entries := 0
	for _, l := range all {
		entries += len(l.entries)
	}
	b.ReportAllocs()
	for b.Loop() {
		s := newTally(0, 0).NewShard()
		var in *usage.Dir
		for _, l := range all {
			if in != nil && in != l.dir {
				s.Leave(in)
			}
			in = l.dir
			s.Add(l.dir, l.entries)
		}
		s.Leave(in)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(entries), "ns/entry")
}

// BenchmarkFinish writes the rows of a million files that are cells of their own.
func BenchmarkFinish(b *testing.B) {
	all := atRandom(2048, 512)
	for b.Loop() {
		b.StopTimer()
		tally := newTally(0, 0)
		s := tally.NewShard()
		for _, l := range all {
			s.Add(l.dir, l.entries)
		}
		b.StartTimer()
		tally.Finish(0, nil, nil, func(string) string { return "other" })
	}
}
