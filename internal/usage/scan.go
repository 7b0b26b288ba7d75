package usage

import "time"

// ScanState is where a scan stands in its life.
type ScanState string

// The states.
const (
	Queued    ScanState = "queued"
	Running   ScanState = "running"
	Complete  ScanState = "complete"
	Failed    ScanState = "failed"
	Cancelled ScanState = "cancelled"
	// Interrupted is a failure of whoever ran the scan, not of the scan: its
	// process or machine went away.
	Interrupted ScanState = "interrupted"
	// NotRun is an occurrence of a schedule for which there was no scan, because
	// the one before was not over, or nobody was there to run it.
	NotRun ScanState = "skipped"
)

// Ended reports a state that no longer changes by itself.
func (s ScanState) Ended() bool { return s != Queued && s != Running }

// Verdict says how far the numbers of a complete scan can be believed.
type Verdict string

// The verdicts.
const (
	Clean      Verdict = "clean"      // everything was read
	Partial    Verdict = "partial"    // something could not be read
	Unverified Verdict = "unverified" // completeness cannot be shown
	Suspect    Verdict = "suspect"    // not to be believed without a look
)

// Origin says what asked for a scan.
type Origin string

// The origins. That of scans from before it was recorded is "".
const (
	BySchedule Origin = "schedule"
	ByHand     Origin = "manual"  // "scan now", on a page, by the API or on the command line
	ByCommand  Origin = "command" // fstally scan, which runs it itself
	ByImport   Origin = "import"  // of a result file
	ByPush     Origin = "push"    // of a result that came over HTTP
)

// Scan is one pass over one file system.
type Scan struct {
	ID           int64
	FileSystemID int64
	Origin       Origin
	Occurrence   time.Time // when it was due; zero for results that were made elsewhere
	Attempt      int       // at this occurrence, 1 for the first
	NotBefore    time.Time // of a queued one: when it may begin; zero for at once
	State        ScanState
	Verdict      Verdict // only of complete scans
	Rejected     bool    // it is suspect, somebody looked, and it is not to be believed
	Reason       string  // why it failed, or why the verdict is not clean
	Day          string  // 2006-01-02, the date of Started in the site's zone
	Queued       time.Time
	Started      time.Time // zero while queued
	Finished     time.Time // end of the walk; zero while it runs
	Published    time.Time
	Progress     Progress // while it runs
	Totals       Measures
	Counters     Counters
	Capacity     Capacity
	SizeClasses  SizeClasses
	Root         string // raw, as it was
	Identity     string
	FSType       string
	Engine       string
	Walkers      int
	OpsLimit     int // ceiling of file-system operations per second, 0 for none
	Host         string
	Freshness    string   // of the attributes: exact or cached
	Offline      bool     // whether Offline was measured
	Distinct     Distinct // how many values each dimension has
	Thinned      bool     // its details are no longer kept: filters answer ErrThinned
}

// Distinct counts the values of a scan, for words such as "1,214 users".
type Distinct struct{ Users, Groups, Types, Filesets int64 }

// Duration returns how long the walk took or, given now, has taken so far.
func (s *Scan) Duration(now time.Time) time.Duration {
	switch {
	case s.Started.IsZero():
		return 0
	case s.Finished.IsZero():
		return max(0, now.Sub(s.Started))
	default:
		return max(0, s.Finished.Sub(s.Started))
	}
}

// Progress is what a running scan tells every second or so.
type Progress struct {
	Entries   int64  `json:"entries"`
	Allocated Bytes  `json:"allocated"`
	Errors    int64  `json:"errors"`
	Directory string `json:"directory"` // one that is being read, escaped
	Walkers   int    `json:"walkers"`
	OpsLimit  int    `json:"ops_limit"` // 0 for none
	FSType    string `json:"fs_type"`
	Phase     string `json:"phase"` // walking, naming, writing, importing

	// LastAnswer is when the file system last answered a walker, to the second; zero
	// before and after the walk.
	LastAnswer time.Time `json:"last_answer,omitzero"`
	// Stalled: no answer for a minute or more. What is waited for is in Blocked.
	Stalled bool      `json:"stalled,omitempty"`
	Blocked []Blocked `json:"blocked,omitempty"` // for 5 s or more; the longest first, at most MaxBlocked
}

// MaxBlocked is how many blocked walkers a Progress names.
const MaxBlocked = 20

// Blocked is a walker that waits for an answer of the file system.
type Blocked struct {
	Directory string `json:"directory"` // escaped, cut in the middle where it is very long; "." for the root
	Op        string `json:"op"`        // open, readdir, stat; read where it is one of the first two
	Seconds   int64  `json:"seconds"`   // for how long so far
}
