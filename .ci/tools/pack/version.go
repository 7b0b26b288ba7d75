package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

var (
	// A tag with a dot, and what follows it after a minus. A number without a dot
	// may be the hash of a commit.
	tag = regexp.MustCompile(`^v?(\d+(?:\.\d+)+)(?:-([0-9A-Za-z.-]+))?$`)
	// What git describe adds for commits since the tag.
	since = regexp.MustCompile(`-(\d+)-g([0-9a-f]{4,64})$`)
	hash  = regexp.MustCompile(`^[0-9a-f]{4,64}$`)
)

// packageVersion turns the output of git describe --tags --always --dirty into a
// version that deb and rpm both take (no minus: it would divide off a revision)
// and both sort by age: before a release what leads to it (~), after it what was
// committed since (+). Commits without any tag before them sort before all
// releases, by their time.
//
// See deb-version(7) and the versioning guide of Fedora's packaging guidelines.
func packageVersion(described string, when time.Time) (string, error) {
	name, dirty := strings.CutSuffix(described, "-dirty")
	added := ""
	if commits := since.FindStringSubmatch(name); commits != nil {
		name = strings.TrimSuffix(name, commits[0])
		added = "." + commits[1] + ".g" + commits[2]
	}
	if dirty {
		added += ".dirty"
	}
	var version string
	switch parts := tag.FindStringSubmatch(name); {
	case name == "devel": // no git
		version = "0.0.0~devel"
	case hash.MatchString(name):
		version = "0.0.0~" + when.UTC().Format("20060102150405") + ".g" + name
	case parts != nil && parts[2] != "":
		version = parts[1] + "~" + strings.ReplaceAll(parts[2], "-", ".")
	case parts != nil:
		version = parts[1]
	default:
		return "", fmt.Errorf("no version for a package can be made of %q: name tags vMAJOR.MINOR.PATCH or "+
			"vMAJOR.MINOR.PATCH-rc.N", described)
	}
	if added != "" {
		version += "+" + added[1:]
	}
	return version, nil
}
