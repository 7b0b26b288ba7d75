package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"fstally/internal/walk"
)

// inspectCommand is the hidden command that looks at a root for another.
const inspectCommand = "inspect-root"

type inspectRootCmd struct {
	Path string `arg:""`
}

// inspected is what the child says.
type inspected struct {
	Root    []byte // raw, where all is well
	Problem *walk.Problem
	Text    string // of the error
}

// Run looks at a root and says what it is.
func (c inspectRootCmd) Run(ctx context.Context, a *app) error {
	mount, err := walk.Inspect(ctx, c.Path)
	said := inspected{Root: []byte(mount.Root)}
	if problem, ok := errors.AsType[*walk.RootError](err); ok {
		said.Problem, said.Text = &problem.Problem, problem.Err.Error()
	} else if err != nil {
		return err
	}
	return json.NewEncoder(a.stdout).Encode(said)
}

// inspectPatience is longer than the child's own: it tells more.
const inspectPatience = walk.InspectTimeout + 5*time.Second

// inspect returns the real path of a root that can be scanned, or a
// *walk.RootError. It asks in a child process: a process with a thread that
// hangs in a dead mount cannot even exit, and this one has to tell its caller.
func (a *app) inspect(ctx context.Context, path string) (root string, err error) {
	if a.executable == "" { // a test that runs in its own process
		mount, err := walk.Inspect(ctx, path)
		return mount.Root, err
	}
	child := exec.Command(a.executable, inspectCommand, "--", path) //nolint:noctx // its end may never come; see below
	stdout, err := child.StdoutPipe()
	if err != nil {
		return "", fmt.Errorf("inspect %s: %w", path, err)
	}
	if err := child.Start(); err != nil {
		return "", fmt.Errorf("inspect %s: %w", path, err)
	}
	answers := make(chan inspected, 1)
	go func() { // is left behind with a child that cannot die
		var said inspected
		if err := json.NewDecoder(stdout).Decode(&said); err != nil {
			unusable := walk.Unusable
			said = inspected{Problem: &unusable, Text: "it could not be looked at: " + err.Error()}
		}
		answers <- said
		_ = child.Wait()
	}()
	timeout := time.NewTimer(inspectPatience)
	defer timeout.Stop()
	select {
	case said := <-answers:
		if said.Problem != nil {
			return "", &walk.RootError{Path: path, Problem: *said.Problem, Err: errors.New(said.Text)}
		}
		return string(said.Root), nil
	case <-timeout.C:
		_ = child.Process.Kill()
		return "", &walk.RootError{Path: path, Problem: walk.NotAnswering, Err: context.DeadlineExceeded}
	case <-ctx.Done():
		_ = child.Process.Kill()
		return "", fmt.Errorf("inspect %s: %w", path, ctx.Err())
	}
}
