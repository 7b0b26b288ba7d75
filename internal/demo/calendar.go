package demo

import (
	"fmt"
	"math"
	"time"
)

// Options size a demo. Equal options make equal stores, but for the times of the
// import.
type Options struct {
	Years    float64 // of nightly scans, MinYears at least
	Users    int     // MinUsers at least
	Seed     uint64
	Until    time.Time      // the last night is the latest that is over by then
	Location *time.Location // the site's zone
}

// The smallest demo that has all that a demo shows.
const (
	MinYears = 0.1
	MinUsers = 10
	maxYears = 50
	maxUsers = 100_000
)

// Validate reports options that make no demo.
func (o Options) Validate() error {
	if !(o.Years >= MinYears && o.Years <= maxYears) { // not De Morgan: NaN must not pass
		return fmt.Errorf("%g years of nightly scans: choose %g to %d", o.Years, MinYears, maxYears)
	}
	if o.Users < MinUsers || o.Users > maxUsers {
		return fmt.Errorf("%d users: choose %d to %d", o.Users, MinUsers, maxUsers)
	}
	return nil
}

// nights returns how many nights there are, those without a scan included.
func (o Options) nights() int { return int(math.Round(o.Years * nightsPerYear)) }

// occasion is what makes a night different from others.
type occasion int

const (
	ordinary  occasion = iota
	missed             // no scan
	tidied             // users were asked to clean up, the day before
	shrunk             // most of the file system was not there: a suspect scan
	forbidden          // some directories could not be read: a partial scan
)

// missedNights is the length of the one long gap, a week of maintenance.
const missedNights = 7

// occasionOf returns what happened in a night, 0 being the first of n.
func (v volume) occasionOf(night, n int) occasion {
	gap := n * 35 / 100
	switch {
	case night >= gap && night < gap+missedNights:
		return missed
	case night%211 == 190 && night < n-60: // the machine was down
		return missed
	case night == n*62/100:
		return tidied
	case night == n-11 && v.fsType == "gpfs":
		return shrunk
	case night == n-4 && v.fsType == "nfs":
		return forbidden
	}
	return ordinary
}

// scanTime is about what the larger scan takes.
const scanTime = 4 * time.Hour

// startOf returns when the scan of a night begins.
func (o Options) startOf(v volume, night int) time.Time {
	last := o.Until.Add(-scanTime).In(o.Location)
	year, month, day := last.Date()
	if last.Hour() < v.startHour {
		day--
	}
	return time.Date(year, month, day-(o.nights()-1-night), v.startHour, 30, night%23, 0, o.Location)
}
