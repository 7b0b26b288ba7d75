package jobs

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/usage"
)

// scanner returns a supervisor whose scanner is a shell script; $out is where
// the result goes.
func scanner(t *testing.T, script string) *Supervisor {
	t.Helper()
	file := filepath.Join(t.TempDir(), "scanner")
	script = "#!/bin/sh\nfor a; do case $a in --out=*) out=${a#--out=};; esac; done\n" + script
	if err := os.WriteFile(file, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return &Supervisor{Scanner: []string{file}, Logger: slog.New(slog.DiscardHandler)}
}

func TestChildTellsProgress(t *testing.T) {
	s := scanner(t, `echo '{"entries":5,"allocated":18446744073709551614}'; echo noise; echo '{"entries":7,"phase":"naming"}'; echo x >$out`)
	var told []usage.Progress
	out := filepath.Join(t.TempDir(), "result")
	err := s.scanInChild(t.Context(), usage.FileSystem{Root: "/data"}, out, func(p usage.Progress) { told = append(told, p) })
	if err != nil {
		t.Fatal(err)
	}
	want := []usage.Progress{{Entries: 5, Allocated: usage.BytesFromWords(0, 18446744073709551614)}, {Entries: 7, Phase: "naming"}}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("progress: %s", diff)
	}
	if _, err := os.Stat(out); err != nil {
		t.Error(err)
	}
}

func TestChildFails(t *testing.T) {
	for script, want := range map[string]string{
		"echo 'fstally: /data is gone' >&2; exit 3": "/data is gone",
		"exit 1":     "without a word: exit status 1",
		"kill -9 $$": "killed",
		"yes 0123456789 | head -c 100000 >&2; echo X >&2; exit 1": "X",
	} {
		err := scanner(t, script).scanInChild(t.Context(), usage.FileSystem{Root: "/data"}, filepath.Join(t.TempDir(), "out"), func(usage.Progress) {})
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 2*tailSize {
			t.Errorf("%q: %v, want %q", script, err, want)
		}
		if got := errors.Is(err, errKilled); got != strings.HasPrefix(script, "kill") {
			t.Errorf("%q: killed = %t", script, got)
		}
	}
}

func TestChildIsStopped(t *testing.T) {
	s := scanner(t, `echo '{"entries":1}'; cat >/dev/null & wait`)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	err := s.scanInChild(ctx, usage.FileSystem{Root: "/data"}, filepath.Join(t.TempDir(), "out"), func(usage.Progress) { cancel(errCancelled) })
	if !errors.Is(err, errCancelled) {
		t.Errorf("a cancelled scan ends with %v", err)
	}
}

func TestChildHasNoSecrets(t *testing.T) {
	t.Setenv("FSTALLY_TOKEN", "secret")
	t.Setenv("FSTALLY_DATABASE_URL", "postgres://secret")
	s := scanner(t, `env | grep secret >&2 && exit 1; exit 0`)
	if err := s.scanInChild(t.Context(), usage.FileSystem{Root: "/data"}, filepath.Join(t.TempDir(), "out"), func(usage.Progress) {}); err != nil {
		t.Errorf("the scanner sees %v", err)
	}
}

func TestScanArgs(t *testing.T) {
	args := ScanArgs(usage.FileSystem{
		SizeClasses: usage.DefaultSizeClasses(), Walkers: 3, OpsLimit: -1,
		Filesets: usage.FilesetRules{Depth: 2, Named: []usage.NamedFileset{{Path: "a=b/c"}, {Path: "p/q", Name: "Project"}}},
	})
	for _, want := range []string{
		"--size-classes=3072,32768,8388608,1073741824", "--walkers=3", "--ops-limit=-1", "--fileset-depth=2",
		"--fileset=./a=b/c", "--fileset=Project=./p/q",
	} {
		if !slices.Contains(args, want) {
			t.Errorf("%s is missing in %q", want, args)
		}
	}
}
