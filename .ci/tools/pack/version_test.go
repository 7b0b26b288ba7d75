package main

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sassoftware/go-rpmutils"
)

var commitTime = time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("", 3600))

func TestPackageVersion(t *testing.T) {
	for _, c := range []struct{ described, want string }{
		{"v1.2.3", "1.2.3"},
		{"1.2.3", "1.2.3"},
		{"v1.2", "1.2"},
		{"v1.2.3-rc.1", "1.2.3~rc.1"},
		{"v1.2.3-rc1", "1.2.3~rc1"},
		{"v1.2.3-beta-2", "1.2.3~beta.2"},
		{"v1.2.3-4-gabc1234", "1.2.3+4.gabc1234"},
		{"v1.2.3-4-gabc1234-dirty", "1.2.3+4.gabc1234.dirty"},
		{"v1.2.3-dirty", "1.2.3+dirty"},
		{"v1.2.3-rc.1-14-g0abc", "1.2.3~rc.1+14.g0abc"},
		{"v1.2.3-rc.1-14-g0abc-dirty", "1.2.3~rc.1+14.g0abc.dirty"},
		{"abc1234", "0.0.0~20260304040607.gabc1234"},
		{"1234567", "0.0.0~20260304040607.g1234567"}, // a hash, not version 1234567
		{"1234567-dirty", "0.0.0~20260304040607.g1234567+dirty"},
		{"devel", "0.0.0~devel"},
	} {
		got, err := packageVersion(c.described, commitTime)
		if err != nil || got != c.want {
			t.Errorf("packageVersion(%q) = %q, %v, want %q", c.described, got, err, c.want)
		}
	}
	for _, described := range []string{
		"", "-", "-dirty", "release", "v", "v1", "v1.", "v1.2.3_4", "v1.2.3-", "v1.2.3 ", "v1.2.3\n", "v1.2.3+build", "va.b.c",
		"v1.2.3-ü", "v1.2.3~rc1", "1:2.3", "v1.2.3;id", "feature/x-1-gabc1234",
	} {
		if got, err := packageVersion(described, commitTime); err == nil {
			t.Errorf("packageVersion(%q) = %q, want an error", described, got)
		}
	}
}

// TestPackageVersionOrder asks the package managers themselves: an upgrade must
// look like one to both.
func TestPackageVersionOrder(t *testing.T) {
	var versions []string
	for i, described := range []string{
		"abc1234", "abc0234", // in the order of their time, not of their names
		"v1.2.3-rc.1", "v1.2.3-rc.1-2-gabc1234", "v1.2.3-rc.2", "v1.2.3-rc.10",
		"v1.2.3", "v1.2.3-1-gfff1234", "v1.2.3-2-gabc1234", "v1.2.3-10-gabc1234", "v1.2.4", "v1.10.0",
	} {
		version, err := packageVersion(described, commitTime.Add(time.Duration(i)*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, version)
	}
	sorted := slices.SortedFunc(slices.Values(versions), rpmutils.Vercmp)
	if diff := cmp.Diff(versions, sorted); diff != "" {
		t.Errorf("rpm sorts otherwise (-made +sorted):\n%s", diff)
	}
	needProgram(t, "dpkg")
	for i, version := range versions {
		if out, err := exec.CommandContext(t.Context(), "dpkg", "--validate-version", version).CombinedOutput(); err != nil {
			t.Errorf("dpkg refuses %s: %s", version, out)
		}
		if i > 0 && exec.CommandContext(t.Context(), "dpkg", "--compare-versions", versions[i-1], "lt", version).Run() != nil {
			t.Errorf("dpkg does not sort %s before %s", versions[i-1], version)
		}
	}
}
