package main

import (
	"errors"
	"os"
	"strings"
	"time"

	"fstally/internal/schedule"
)

// localtime is what says the zone of a machine, see localtime(5).
const localtime = "/etc/localtime"

// namedZone returns the zone of this machine under its name in the IANA time zone
// database: schedules are kept by name, as their zone must be the same on every host.
// name is what Go calls time.Local: by TZ, or UTC where nothing says more, or else
// "Local", and then link tells. Where nothing does the zone is time.Local.
func namedZone(name, link string) *time.Location {
	if name == "Local" {
		target, err := os.Readlink(link)
		if err != nil {
			return time.Local
		}
		name = target
	}
	if _, after, ok := strings.Cut(name, "zoneinfo/"); ok {
		name = after
	}
	zone, err := schedule.Zone(name)
	if err != nil {
		return time.Local
	}
	return zone
}

// zoneName returns the name of the site's zone, for schedules without one of their own.
func (a *app) zoneName() (string, error) {
	name := a.location.String()
	if _, err := schedule.Zone(name); err != nil {
		return "", usageError{errors.New("the name of this machine's time zone cannot be told: " +
			"give one with --zone, such as Europe/Berlin, or set FSTALLY_TIMEZONE")}
	}
	return name, nil
}
