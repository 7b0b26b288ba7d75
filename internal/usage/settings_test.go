package usage_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/usage"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "1023 B": 1023, "1k": 1024, "1KiB": 1024, "2GiB": 2 << 30, " 2 gib ": 2 << 30, "1.5 GiB": 3 << 29,
		"512M": 512 << 20, "7EiB": 7 << 60, "9223372036854775807": 1<<63 - 1, "5.7 KiB": 5836,
	} {
		if got, err := usage.ParseSize(text); err != nil || got != want {
			t.Errorf("%q = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, bad := range []string{"", "-1", "1GB", "GiB", "1 2", "1e3", "8EiB", "9223372036854775808", "1.5.2M", "0x10", "٣"} {
		if got, err := usage.ParseSize(bad); err == nil {
			t.Errorf("%q is taken as %d", bad, got)
		}
	}
}

func TestSettings(t *testing.T) {
	fs := usage.NewFileSystem("scratch", "/gpfs/scratch")
	if err := fs.Validate(); err != nil {
		t.Fatalf("a new file system: %v", err)
	}
	for _, tc := range []struct {
		name    string
		change  func(*usage.FileSystem)
		setting string
		want    string
	}{
		{"name", func(f *usage.FileSystem) { f.Name = "1a" }, usage.SettingName, "lower-case letter"},
		{"no root", func(f *usage.FileSystem) { f.Root = "" }, usage.SettingRoot, "/gpfs/scratch"},
		{"relative root", func(f *usage.FileSystem) { f.Root = "a/b" }, usage.SettingRoot, "from the root of the host"},
		{"unclean root", func(f *usage.FileSystem) { f.Root = "/a/../b/" }, usage.SettingRoot, "write /b"},
		{"NUL in the root", func(f *usage.FileSystem) { f.Root = "/a\x00" }, usage.SettingRoot, "NUL"},
		{"long root", func(f *usage.FileSystem) { f.Root = "/" + strings.Repeat("a", 4095) }, usage.SettingRoot, "4096 bytes"},
		{"walkers", func(f *usage.FileSystem) { f.Walkers = -1 }, usage.SettingWalkers, "0 to 1024"},
		{"operations", func(f *usage.FileSystem) { f.OpsLimit = -2 }, usage.SettingOpsLimit, "-1 is no limit"},
		{"half a minute", func(f *usage.FileSystem) { f.StallAfter = 30 * time.Second }, usage.SettingStall, "whole minutes"},
		{"nice", func(f *usage.FileSystem) { f.Nice = 20 }, usage.SettingNice, "0 to 19"},
		{"memory", func(f *usage.FileSystem) { f.MemoryLimit = 1 }, usage.SettingMemory, "64 MiB"},
		{"worker", func(f *usage.FileSystem) { f.Worker = "Node 7" }, usage.SettingWorker, "a worker"},
		{"size classes", func(f *usage.FileSystem) { f.SizeClasses[1] = 5000 }, usage.SettingSizeClasses, "2^n or 3*2^n"},
		{"depth", func(f *usage.FileSystem) { f.Filesets.Depth = 65 }, usage.SettingFilesetDepth, "1 to 64"},
		{"filesets", func(f *usage.FileSystem) {
			f.Filesets.Named = []usage.NamedFileset{{Path: "a", Name: "x"}, {Path: "b", Name: "x"}}
		}, usage.SettingFilesets, "same name"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			changed := fs
			tc.change(&changed)
			problems := usage.SettingProblems(fmt.Errorf("set: %w", changed.Validate()))
			if len(problems) != 1 || !strings.Contains(problems[tc.setting], tc.want) {
				t.Errorf("problems %v, want %q of %s", problems, tc.want, tc.setting)
			}
		})
	}
}

func TestEveryProblemOfSettingsIsTold(t *testing.T) {
	fs := usage.NewFileSystem("scratch", "/gpfs/scratch")
	fs.Nice, fs.Walkers, fs.Filesets.Depth = -1, 2000, -1
	told := slices.Sorted(maps.Keys(usage.SettingProblems(fs.Validate())))
	want := []string{usage.SettingFilesetDepth, usage.SettingNice, usage.SettingWalkers}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	if problems := usage.SettingProblems(errors.New("another")); len(problems) > 0 {
		t.Errorf("problems of another error: %v", problems)
	}
}
