//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// planter makes trees.
type planter struct {
	dir   string // that they are made in
	scale float64
	own   bool // may give files away
}

// generation is to be raised whenever trees become others.
const generation = 1

// tree returns the path of a tree, which is made unless it is there. A file beside
// it says what it is, once it is complete.
func (p planter) tree(ctx context.Context, s shape, m manner, progress func(string)) (string, error) {
	root := filepath.Join(p.dir, s.name+"-"+m.name)
	is := fmt.Sprintf("generation %d scale %g owners %t\n", generation, p.scale, p.own)
	marker := root + ".made"
	was, err := os.ReadFile(marker)
	if err == nil && string(was) == is {
		return root, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	progress("making " + root)
	if err := errors.Join(os.RemoveAll(marker), os.RemoveAll(root)); err != nil {
		return "", err
	}
	if err := p.plant(ctx, root, s, m); err != nil {
		return "", fmt.Errorf("make the tree %s: %w", root, err)
	}
	return root, os.WriteFile(marker, []byte(is), 0o644)
}

// block is how many files of a directory are made by one goroutine.
const block = 1000

func (p planter) plant(ctx context.Context, root string, s shape, m manner) error {
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(2 * runtime.NumCPU())
	for number, d := range s.dirs(p.scale) {
		path := filepath.Join(root, d.path)
		if err := os.MkdirAll(path, 0o755); err != nil {
			return errors.Join(err, workers.Wait())
		}
		for from := 0; from == 0 || from < d.files; from += block {
			workers.Go(func() error {
				if err := ctx.Err(); err != nil {
					return err
				}
				r := rand.New(rand.NewPCG(uint64(number), uint64(from)))
				f := filler{give: m.giver(r, s, d.project), r: r, own: p.own}
				return f.fill(path, from, min(from+block, d.files))
			})
		}
	}
	return workers.Wait()
}

// filler makes files of one directory.
type filler struct {
	give func() attributes
	r    *rand.Rand
	own  bool
	dir  int // descriptor
}

func (f *filler) fill(path string, from, to int) (err error) {
	if f.dir, err = unix.Open(path, unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(f.dir) }()
	if a := f.give(); f.own && from == 0 {
		if err := unix.Fchown(f.dir, int(a.uid), int(a.gid)); err != nil {
			return &fs.PathError{Op: "chown", Path: path, Err: err}
		}
	}
	word, last := pick(f.r, "sample_", "result_", "test_", "data_", "module_", "chunk_"), ""
	for i := from; i < to; i++ {
		a := f.give()
		name := word + strconv.Itoa(i) + a.extension
		if last != "" && f.r.IntN(1000) == 0 { // a second name of the same file
			err = unix.Linkat(f.dir, last, f.dir, name, 0)
		} else {
			last, err = name, f.file(name, a)
		}
		if err != nil {
			return &fs.PathError{Op: "make", Path: filepath.Join(path, name), Err: err}
		}
	}
	return nil
}

// file makes a file that is one hole.
func (f *filler) file(name string, a attributes) error {
	fd, err := unix.Openat(f.dir, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return err
	}
	err = unix.Ftruncate(fd, a.size)
	if err == nil && f.own {
		err = unix.Fchown(fd, int(a.uid), int(a.gid))
	}
	return errors.Join(err, unix.Close(fd))
}
