package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

var (
	// A tag with a dot, what follows it after a minus, and what git describe adds
	// for commits since. A number without a dot may be the hash of a commit.
	tagged = regexp.MustCompile(`^v?(\d+(?:\.\d+)+)(?:-([0-9A-Za-z.-]+?))?(?:-(\d+)-g([0-9a-f]{4,64}))?$`)
	hash   = regexp.MustCompile(`^[0-9a-f]{4,64}$`)
)

// packageVersion turns the output of git describe --tags --always --dirty into a
// version that deb and rpm both take (no minus: it would divide off a revision)
// and both sort by age: before a release what leads to it (~), after it what was
// committed since (+). Commits without any tag before them sort before all
// releases, by their time.
//
// See deb-version(7) and the versioning guide of Fedora's packaging guidelines.
func packageVersion(described string, when time.Time) (string, error) {
	described, dirty := strings.CutSuffix(described, "-dirty")
	var version string
	switch parts := tagged.FindStringSubmatch(described); {
	case described == "devel": // no git
		version = "0.0.0~devel"
	case hash.MatchString(described):
		version = "0.0.0~" + when.UTC().Format("20060102150405") + ".g" + described
	case parts != nil:
		version = parts[1]
		if parts[2] != "" {
			version += "~" + strings.ReplaceAll(parts[2], "-", ".")
		}
		if parts[3] != "" {
			version += "+" + parts[3] + ".g" + parts[4]
		}
	default:
		return "", fmt.Errorf("no version for a package can be made of %q: name tags vMAJOR.MINOR.PATCH or "+
			"vMAJOR.MINOR.PATCH-rc.N", described)
	}
	switch {
	case dirty && strings.Contains(version, "+"):
		version += ".dirty"
	case dirty:
		version += "+dirty"
	}
	return version, nil
}
