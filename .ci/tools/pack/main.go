// Command pack makes what `make package` promises from a built program: a deb, an
// rpm, a bundle for hosts that reach no package server, and their SHA256SUMS.
//
// The same commit gives the same bytes: every time in the files is that of the
// commit, every owner is root, and no name of a machine is among them.
//
// It is a program, and not a call of nfpm's own, so that the one list of files in
// deploy/package/nfpm.yaml makes all three, and so that versions and licences are
// made by code that has tests.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	var r release
	flags := flag.NewFlagSet("pack", flag.ContinueOnError)
	root := flags.String("root", ".", "top of the repository, against which the other paths stand")
	flags.StringVar(&r.binary, "binary", "bin/fstally", "the program, static and for Linux")
	flags.StringVar(&r.arch, "arch", "amd64", "its architecture, as GOARCH")
	flags.StringVar(&r.described, "describe", "devel", "its version, as git describe --tags --always --dirty tells it")
	seconds := flags.Int64("time", 0, "time of the commit, in seconds since 1970")
	out := flags.String("out", "dist", "folder for what is made; what is there already is written over")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r.time = time.Unix(*seconds, 0).UTC()
	if err := os.Chdir(*root); err != nil { // what nfpm's list names stands against it
		return fmt.Errorf("go to the top of the repository: %w", err)
	}
	names, err := r.make(ctx, *out)
	if err != nil {
		return err
	}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(*out, name))
		if err != nil {
			return err
		}
		fmt.Printf("%12d  %s\n", info.Size(), filepath.Join(*out, name))
	}
	return nil
}

// release is what one run packs.
type release struct {
	binary    string    // path of the program
	arch      string    // as GOARCH
	described string    // its version, as git describes the commit
	time      time.Time // of the commit
}

// make writes all files into the folder out and returns their names.
func (r release) make(ctx context.Context, out string) (names []string, err error) {
	version, err := packageVersion(r.described, r.time)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder for the packages: %w", err)
	}
	scratch, err := os.MkdirTemp("", "fstally-pack-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for what goes into the packages: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()

	licences := filepath.Join(scratch, "licences.txt")
	if err := writeLicences(ctx, licences, r.arch); err != nil {
		return nil, err
	}
	l := list{version: version, arch: r.arch, binary: r.binary, licences: licences, time: r.time}
	for _, format := range []string{"deb", "rpm"} {
		name, err := l.writePackage(out, format)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	name, err := l.writeBundle(out)
	if err != nil {
		return nil, err
	}
	names = append(names, name)
	sums, err := writeSums(out, names)
	if err != nil {
		return nil, err
	}
	return append(names, sums), nil
}
