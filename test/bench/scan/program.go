//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// program is one way to walk a tree.
type program struct {
	name    string
	command []string // in which TREE stands for the path of the tree
	// entries reads how many entries below the root the program counted from what
	// it printed; nil where it does not tell.
	entries func(printed []byte) (int64, error)
}

// treeArgument is replaced by the path of a tree.
const treeArgument = "TREE"

// yardstick and du are what the others are compared to.
const (
	yardstick = "cwalk"
	du        = "du"
)

// programs returns what there is on this machine, the yardstick first.
func programs(cwalk, fstally string, engines []string) []program {
	all := []program{{
		name:    yardstick,
		command: []string{cwalk, treeArgument, "1", strconv.Itoa(runtime.NumCPU())},
		entries: cwalkEntries,
	}}
	for _, engine := range engines {
		all = append(all, fstallyScan(fstally, engine))
	}
	for _, other := range []program{
		{name: du, command: []string{"du", "-s", treeArgument}},
		{name: "find", command: []string{"find", treeArgument, "-printf", `%s\n`}},
		{name: "gdu", command: []string{"gdu", "-n", "-p", treeArgument}},
	} {
		if _, err := exec.LookPath(other.command[0]); err == nil {
			all = append(all, other)
		}
	}
	return all
}

// fstallyScan is a whole scan without a store.
func fstallyScan(fstally, engine string, flags ...string) program {
	command := []string{fstally, "scan", "--dry-run", "--format", "json", "--engine", engine}
	command = append(append(command, flags...), "--", treeArgument)
	return program{name: "fstally " + engine, command: command, entries: fstallyEntries}
}

func cwalkEntries(printed []byte) (int64, error) {
	entries, _, _ := strings.Cut(string(printed), " ")
	return strconv.ParseInt(entries, 10, 64)
}

func fstallyEntries(printed []byte) (int64, error) {
	var result struct{ Entries int64 }
	err := json.Unmarshal(printed, &result)
	return result.Entries - 1, err // the root is one
}

// sample is one run.
type sample struct {
	wall, cpu time.Duration
	peak      int64 // bytes of memory; never less than this process has itself
}

// run runs the program once. What it prints goes to printed, which may be nil.
func (p program) run(ctx context.Context, tree string, printed *bytes.Buffer) (sample, error) {
	args := make([]string, len(p.command))
	for i, arg := range p.command {
		args[i] = strings.ReplaceAll(arg, treeArgument, tree)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if printed != nil {
		cmd.Stdout = printed
	}
	began := time.Now()
	err := cmd.Run()
	wall := time.Since(began)
	if err != nil {
		return sample{}, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, complaints.Bytes())
	}
	s := sample{wall: wall, cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.peak = used.Maxrss << 10
	}
	return s, nil
}

// count runs the program once and returns how many entries it counted, -1 where it
// does not tell.
func (p program) count(ctx context.Context, tree string) (int64, error) {
	var printed bytes.Buffer
	if _, err := p.run(ctx, tree, &printed); err != nil || p.entries == nil {
		return -1, err
	}
	n, err := p.entries(printed.Bytes())
	if err != nil {
		return 0, fmt.Errorf("what %s printed: %w", p.name, err)
	}
	return n, nil
}

// buildYardstick compiles cwalk.c into dir and returns the program.
func buildYardstick(ctx context.Context, source, dir string) (string, error) {
	program := filepath.Join(dir, "cwalk")
	cmd := exec.CommandContext(ctx, "cc", "-O2", "-pthread", "-o", program, source)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("compile %s (a C compiler is needed): %w", source, err)
	}
	return program, nil
}
