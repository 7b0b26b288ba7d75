package aggregate_test

import (
	"fmt"
	"math/rand/v2"

	"fstally/internal/usage"
)

// listing is what one call of Add gets.
type listing struct {
	dir     *usage.Dir
	entries []usage.Entry
}

// lifelike invents directories as they are in life: the files of one share an
// owner, a group, a time and three types. All of it comes to about 1,000 cells.
func lifelike(dirs, files int) []listing {
	r := rand.New(rand.NewPCG(1, 2))
	return inventListings(dirs, files, func(dir int, e *usage.Entry) {
		owner := rand.New(rand.NewPCG(uint64(dir), 3))
		e.UID, e.GID = 1000+uint32(owner.IntN(40)), 100+uint32(owner.IntN(3))
		kind := owner.IntN(20) + r.IntN(3)
		e.Name = fmt.Appendf(nil, "sample_%06d.%s", r.IntN(1e6), kinds[kind])
		e.Size = int64(float64(uint64(1)<<(10+kind/2)) * (0.5 + r.Float64()))
		e.Mtime = start - int64(owner.IntN(700)+r.IntN(20))*86400
		e.Atime = e.Mtime + int64(r.IntN(2))*86400
	})
}

// atRandom invents the hard case: every attribute of every file is its own.
func atRandom(dirs, files int) []listing {
	r := rand.New(rand.NewPCG(4, 5))
	return inventListings(dirs, files, func(_ int, e *usage.Entry) {
		e.UID, e.GID = 1000+uint32(r.IntN(200)), 100+uint32(r.IntN(20))
		e.Name = fmt.Appendf(nil, "file.%d.x%d", r.IntN(1e6), r.IntN(300))
		e.Size = r.Int64N(1 << r.IntN(40))
		e.Mtime, e.Atime = start-r.Int64N(1<<28), start-r.Int64N(1<<28)
	})
}

func inventListings(dirs, files int, fill func(dir int, e *usage.Entry)) []listing {
	root := &usage.Dir{}
	var all []listing
	for d := range dirs {
		dir := &usage.Dir{Parent: root, Name: fmt.Sprintf("d%06d", d), Depth: 1, Fileset: fmt.Sprintf("projects/p%d", d/64%20)}
		var entries []usage.Entry
		for range files {
			e := usage.Entry{Nlink: 1, Dev: 1}
			fill(d, &e)
			e.Blocks = (e.Size + 4095) / 4096 * 8
			if entries = append(entries, e); len(entries) == 64 {
				all = append(all, listing{dir, entries})
				entries = nil
			}
		}
		if len(entries) > 0 {
			all = append(all, listing{dir, entries})
		}
	}
	return all
}

var kinds = [...]string{
	"txt", "log", "dat", "bam", "fastq.gz", "h5", "nc", "py", "o", "csv", "json", "c", "bin", "root", "png", "jpg", "tar.gz",
	"md", "xml", "so", "pyc", "cpp",
}
