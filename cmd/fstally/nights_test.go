package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever pages and API do about nights, the command line does too: schedules,
// settings, scan now, cancel, verdicts, retention. One program runs for all.
func TestCommandsOfNights(t *testing.T) {
	dir := t.TempDir()
	dataDir, root := filepath.Join(dir, "data"), filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	p := serve(t, dataDir)
	for _, step := range []struct {
		command string // words, of which '' is an empty one
		code    int
		wants   []string
	}{
		{"fs add lab " + root, exitOK, []string{"File system lab"}},

		{"schedule list", exitOK, []string{"No schedule yet"}},
		{"schedule show lab", exitNotFound, []string{"schedule set lab"}},
		{"schedule show nope", exitNotFound, []string{"fs list"}},
		{"schedule set lab nightly 25:00", exitUsage, []string{`"nightly 25:00"`}},
		{"schedule set lab nightly 01:30 --zone Mars/Base", exitUsage, []string{"Mars/Base"}},
		{"schedule set lab nightly 01:30 --catch-up 90m", exitUsage, []string{"whole hours"}},
		{"schedule set lab nightly 01:30", exitOK, []string{"nightly 01:30", "Europe/Berlin", "enabled", "12 h"}},
		{"schedule set lab weekly sun 22:00 --zone America/New_York --catch-up 0 --disabled", exitOK,
			[]string{"weekly sun 22:00", "America/New_York", "disabled", "none"}},
		{"schedule enable lab", exitOK, []string{"enabled"}},
		{"schedule set lab every 6h", exitOK, []string{"every 6h", "America/New_York", "none"}}, // zone and catch-up stay
		{"schedule list", exitOK, []string{"lab", "every 6h", "EST", ":00"}},
		{"schedule disable lab", exitOK, []string{"disabled"}},
		{"fs show lab", exitOK, []string{"every 6h in America/New_York, disabled"}},
		{"schedule remove lab", exitOK, []string{"no longer"}},
		{"schedule remove lab", exitNotFound, []string{"no schedule"}},

		{"fs set lab", exitUsage, []string{"nothing to set"}},
		{"fs set nope --nice 1", exitNotFound, []string{"fs list"}},
		{"fs set lab --nice 20", exitUsage, []string{"0 to 19"}},
		{"fs set lab --walkers 2000", exitUsage, []string{"1024"}},
		{"fs set lab --memory-limit 2GB", exitUsage, []string{"2GiB"}},
		{"fs set lab --stall-after 90s", exitUsage, []string{"whole minutes"}},
		{"fs set lab --worker No.1", exitUsage, []string{"No.1"}},
		{"fs set lab --walkers 3 --stall-after 1h --nice 5 --no-idle-io --memory-limit 2GiB --worker node7", exitOK,
			[]string{"fstally worker node7"}},
		{"fs show lab", exitOK, []string{"60 minutes", "2 GiB", "fstally worker node7", "idle I/O", "no"}},

		// No such worker runs, so what is queued for it stays so.
		{"fs cancel lab", exitConflict, []string{"no scan of lab"}},
		{"fs scan lab", exitOK, []string{"Scan 1 of lab is queued", "fstally worker node7"}},
		{"fs scan lab", exitConflict, []string{"scan 1"}},
		{"fs list", exitOK, []string{"NEWEST SCAN", "queued"}},
		{"fs cancel lab", exitOK, []string{"Scan 1 of lab is cancelled"}},
		{"fs cancel lab 1", exitConflict, []string{"ended"}},
		{"fs cancel lab 4711", exitNotFound, []string{"no scan 4711"}},

		{"fs set lab --worker ''", exitOK, []string{"fstally serve runs it"}},
		{"fs reject lab", exitConflict, []string{"not suspect"}},

		{"retention", exitOK, []string{"60 days", "400 days", "for ever"}},
		{"retention --nightly 500", exitUsage, []string{"500 days and 400 days"}},
		{"retention --nightly 30 --monthly 3650", exitOK, []string{"30 days", "400 days", "3650 days"}},
	} {
		words := strings.Fields(step.command)
		for i, word := range words {
			if word == "''" {
				words[i] = ""
			}
		}
		code, said := tried(t, dataDir, words...)
		if code != step.code {
			t.Errorf("fstally %s: exit code %d, want %d; it said: %s", step.command, code, step.code, said)
		}
		for _, want := range step.wants {
			if !strings.Contains(said, want) {
				t.Errorf("fstally %s does not say %q: %s", step.command, want, said)
			}
		}
	}
	fstally(t, dataDir, "fs", "scan", "lab")
	await(t, "scanned", func() bool { return p.scans("lab")[0].State == "complete" })
	p.stop()
	if _, said := tried(t, dataDir, "fs", "scan", "lab"); !strings.Contains(said, "no fstally serve runs") {
		t.Errorf("nobody is told that nobody scans: %s", said)
	}
}

// tried runs a command, which may fail.
func tried(t *testing.T, dataDir string, args ...string) (code int, said string) {
	t.Helper()
	cmd := command(t.Context(), t, dataDir, args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatalf("fstally %q: %v", args, err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func TestNamedZone(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct{ name, target, want string }{
		{"Local", "../usr/share/zoneinfo/America/Indiana/Knox", "America/Indiana/Knox"},
		{"Local", "/usr/share/zoneinfo/Etc/UTC", "Etc/UTC"},
		{"Local", "/etc/my-own-zone", "Local"},
		{"Local", "", "Local"},
		{"UTC", "/usr/share/zoneinfo/Europe/Prague", "UTC"},
		{"Europe/Prague", "", "Europe/Prague"},
		{"/usr/share/zoneinfo/Europe/Prague", "", "Europe/Prague"}, // TZ=:/usr/...
		{"CET-1CEST", "", "Local"},
	} {
		link := filepath.Join(dir, "none")
		if tc.target != "" {
			link = filepath.Join(dir, "localtime")
			_ = os.Remove(link) // of the row before
			if err := os.Symlink(tc.target, link); err != nil {
				t.Fatal(err)
			}
		}
		if got := namedZone(tc.name, link).String(); got != tc.want {
			t.Errorf("%s, %s: the zone is %s, want %s", tc.name, tc.target, got, tc.want)
		}
	}
}
