//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
)

// dir is a directory of a tree.
type dir struct {
	path    string // below the root of the tree; "" for the root itself
	project int    // number of the project that it belongs to
	files   int
}

// shape is how directories lie in a tree.
type shape struct {
	name string
	// dirs returns the directories, parents before what is in them. A scale of 1
	// makes as many as the name promises.
	dirs func(scale float64) []dir
	// people and owners are how many own files of one project: where attributes
	// are as in life, so many that a tree has about 1,000 cells of the cube, and
	// where they are random, so many that about four files fall into each cell.
	people, owners int
}

// shapes returns those that are measured.
func shapes() []shape {
	return []shape{
		{name: "mdtest", dirs: mdtest, people: 5, owners: 25},
		{name: "small", dirs: small, people: 5, owners: 5},
		{name: "flat", dirs: flat, people: 80, owners: 200},
	}
}

// projects are the directories at the top, each a fileset by fstally's default.
const projects = 16

// mdtest is what the benchmark of that name leaves: 2,048 directories of 1,024 files.
func mdtest(scale float64) []dir {
	dirs := []dir{{}}
	for p := range projects {
		project := dir{path: fmt.Sprintf("mdtest_tree.%d", p), project: p}
		dirs = append(dirs, project)
		for i := range scaled(2048/projects, scale) {
			dirs = append(dirs, dir{fmt.Sprintf("%s/dir.mdtest.%d", project.path, i), p, 1024})
		}
	}
	return dirs
}

// flat is one directory of 10^6 files.
func flat(scale float64) []dir { return []dir{{files: scaled(1_000_000, scale)}} }

// small is 400,000 entries in directories of 3 to 20 files, twelve levels deep, as
// source trees and the results of many small runs are.
func small(scale float64) []dir {
	const deepest = 11 // a file in it is twelve levels below the root
	type place struct {
		dir
		depth int
	}
	r := rand.New(rand.NewPCG(400_000, 12))
	var dirs []dir
	entries, open := 0, []place{{}}
	for want := scaled(400_000, scale); entries < want && len(open) > 0; {
		// Mostly the newest, so that the tree is deep, else any, so that it is wide.
		i := len(open) - 1
		if r.IntN(3) == 0 {
			i = r.IntN(len(open))
		}
		at := open[i]
		open[i] = open[len(open)-1]
		open = open[:len(open)-1]
		at.files = 3 + r.IntN(18)
		dirs = append(dirs, at.dir)
		entries += 1 + at.files
		subdirs := 1 + r.IntN(5)
		switch at.depth {
		case 0:
			subdirs = projects
		case 1:
			subdirs = 8
		case deepest:
			subdirs = 0
		}
		for n := range subdirs {
			name := pick(r, "run", "src", "lib", "project", "out", "build") + fmt.Sprint(n)
			sub := place{dir{path: name, project: at.project}, at.depth + 1}
			if at.depth == 0 {
				sub.project = n
			} else {
				sub.path = at.path + "/" + sub.path
			}
			open = append(open, sub)
		}
	}
	return dirs
}

// scaled is never less than 1.
func scaled(n int, scale float64) int { return max(1, int(float64(n)*scale)) }

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }
