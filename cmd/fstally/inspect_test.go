package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"fstally/internal/walk"
)

// inspector returns an app whose child is a shell script.
func inspector(t *testing.T, script string) *app {
	t.Helper()
	file := filepath.Join(t.TempDir(), "child")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return &app{executable: file}
}

func TestInspectBelievesItsChild(t *testing.T) {
	root, err := inspector(t, `echo '{"Root":"L2RhdGEv/w=="}'`).inspect(t.Context(), "/data")
	if err != nil || root != "/data/\xff" {
		t.Errorf("a good root is %q, %v", root, err)
	}
	for script, want := range map[string]walk.Problem{
		`echo '{"Problem":4,"Text":"no answer"}'; exec sleep 3`: walk.NotAnswering, // and does not end
		"exit 1":        walk.Unusable,
		"echo nonsense": walk.Unusable,
	} {
		_, err := inspector(t, script).inspect(t.Context(), "/data")
		var root *walk.RootError
		if !errors.As(err, &root) || root.Problem != want || exitCode(err) != exitRoot {
			t.Errorf("%q: %v, want problem %d", script, err, want)
		}
	}
}

func TestInspectDoesNotOutliveItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := inspector(t, "exec sleep 1000").inspect(ctx, "/data"); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled inspection ends with %v", err)
	}
}
