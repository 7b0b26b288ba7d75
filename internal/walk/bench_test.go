//go:build linux

package walk_test

import (
	"fmt"
	"runtime"
	"testing"

	"fstally/internal/usage"
	"fstally/internal/walk"
	"fstally/test/tree"
)

type discard struct{}

func (discard) Add(*usage.Dir, []usage.Entry) {}
func (discard) Leave(*usage.Dir)              {}

// BenchmarkWalk walks 200 directories of 50 files, cached.
func BenchmarkWalk(b *testing.B) {
	root := b.TempDir()
	d := tree.Dir{}
	for i := range 200 {
		sub := tree.Dir{}
		for j := range 50 {
			sub[fmt.Sprintf("sample_%04d.fastq.gz", j)] = tree.File{}
		}
		d[fmt.Sprintf("directory_%03d", i)] = sub
	}
	tree.Make(b, root, d)
	for _, engine := range engines() {
		b.Run(engine.Name(), func(b *testing.B) {
			b.ReportAllocs()
			o := walk.Options{Root: root, Walkers: 2 * runtime.NumCPU()}
			for b.Loop() {
				if _, err := engine.Walk(b.Context(), o, func() walk.Sink { return discard{} }); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(200*51+1)*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}
