//go:build linux

package main

import "math/rand/v2"

// attributes are those of one file that a scan looks at.
type attributes struct {
	uid, gid  uint32
	extension string // with its dot; "" for none
	size      int64
}

// manner is a way to give attributes out.
type manner struct {
	name string
	// giver returns where the files of a directory get theirs from, up to a
	// thousand of them. The first attributes are those of the directory itself.
	giver func(r *rand.Rand, s shape, project int) func() attributes
}

// manners returns those that are measured.
func manners() []manner { return []manner{{"life", lifelike}, {"random", random}} }

// lifelike gives what is found in life: the files of a directory share owner and
// group, are of two types, and each type has its sizes. A project has one group, a
// few people and six types.
func lifelike(r *rand.Rand, s shape, project int) func() attributes {
	uid := uint32(10_000 + 100*project + r.IntN(s.people))
	gid := uint32(5_000 + project)
	types := extensions()
	first, second := r.IntN(6), r.IntN(6)
	return func() attributes {
		kind := first
		if r.IntN(4) == 0 {
			kind = second
		}
		kind += project
		// Small and large ones of the type: 700 B and 20 KiB up to 1.5 and 40 MiB.
		size := int64(700) << (kind % 12)
		if r.IntN(3) == 0 {
			size *= 28
		}
		return attributes{uid, gid, types[kind%len(types)], size + int64(r.IntN(200))}
	}
}

// random gives every file an owner, group, type and size of its own: the hardest
// case for whoever sums up by them.
func random(r *rand.Rand, s shape, project int) func() attributes {
	types := extensions()
	return func() attributes {
		size := int64(1) << r.IntN(30)
		return attributes{
			uid:       uint32(10_000 + 200*project + r.IntN(s.owners)),
			gid:       uint32(5_000 + r.IntN(10)),
			extension: pick(r, types...),
			size:      size + r.Int64N(size),
		}
	}
}

func extensions() []string {
	return []string{
		".dat", ".h5", ".txt", ".log", ".py", ".o", ".bam", ".fastq.gz", ".nc", ".bin", "", ".csv", ".json", ".c",
		".tmp", ".root", ".PNG", ".jpg", ".h", ".go", ".md", ".xml", ".so", ".pyc", ".tar.gz", ".cpp", ".rst",
		".html", ".js", ".ts", ".vtk",
	}
}
