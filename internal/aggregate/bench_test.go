package aggregate_test

import (
	"fmt"
	"testing"

	"fstally/internal/aggregate"
	"fstally/internal/usage"
)

// BenchmarkAdd adds entries as a walk of an ordinary tree gives them: the files
// of a directory share an owner and a few types.
func BenchmarkAdd(b *testing.B) {
	root := &usage.Dir{}
	var batches []batch
	for d := range 100 {
		dir := &usage.Dir{Parent: root, Name: fmt.Sprintf("d%d", d), Depth: 1, Fileset: fmt.Sprintf("p%d", d%7)}
		var files []usage.Entry
		for f := range 100 {
			files = append(files, usage.Entry{
				Name: fmt.Appendf(nil, "f%d.%c", f, 'a'+f%3), Nlink: 1, UID: uint32(d % 5), Size: int64(f) << 10, Blocks: int64(f) << 1,
				Mtime: start - int64(f%4)*40*86400, Atime: start,
			})
		}
		batches = append(batches, batch{dir, files})
	}
	s := aggregate.NewShard(byName{}, start)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		next := batches[n%len(batches)]
		s.Add(next.dir, next.entries)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/entry")
}
