package usage

import "time"

// Schedule says when a file system is scanned by itself. Package schedule knows what
// a plan means.
type Schedule struct {
	FileSystemID int64
	Plan         string // such as "nightly 01:30"
	Zone         string // name in the IANA time zone database
	Enabled      bool
	CatchUp      time.Duration // how old a missed occurrence may be to be run late; whole hours, 0 for none
	NextRun      time.Time     // zero while it is not known yet
}

// Due is what a look at the clock finds of a schedule.
type Due struct {
	// Run is the occurrence to run now; zero for none. Of several that were
	// missed it is the latest.
	Run time.Time
	// Missed counts occurrences that are not run: they are too old, or Run stands
	// for them. LastMissed is the latest of them.
	Missed     int
	LastMissed time.Time
	// Next is when to look again: the first occurrence after now, zero for none.
	Next time.Time
}
