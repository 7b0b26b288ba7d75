package postgres

import (
	"fmt"
	"math"
	"strings"

	"fstally/internal/usage"
)

// outcome is what a scan found, as far as its verdict depends on it.
type outcome struct {
	Entries   int64
	Inodes    int64
	Allocated usage.Bytes
	Squashed  int64    // inodes of squashed ids
	Errors    int64    // of reading
	Identity  string   // of the file system, "" where unknown
	Parts     []string // that were scanned, where it was not all
	Suspicion string   // the scan's own, "" where it was believed
}

// judgement is a verdict with its reason.
type judgement struct {
	verdict   usage.Verdict
	suspicion string // the rules that a suspect scan broke, for comparison with other scans
	reason    string // for people: what is wrong and what to do; "" for clean
}

// squashedIDs are what servers turn the ids of those into whom they do not trust:
// nobody of Linux, and -2 and -1 as unsigned numbers.
func squashedIDs() []uint32 { return []uint32{65534, math.MaxUint32 - 1, math.MaxUint32} }

// squashed reports whether most inodes belong to squashed ids.
func (o outcome) squashed() bool { return o.Squashed > o.Inodes/2 }

// near reports whether two scans agree within 5% in entries and bytes.
func (o outcome) near(p outcome) bool {
	within := func(a, b float64) bool { return math.Abs(a-b) <= 0.05*max(a, b) }
	return within(float64(o.Entries), float64(p.Entries)) && within(o.Allocated.Float64(), p.Allocated.Float64())
}

// judge decides how far a scan can be believed (design.md, section 5). identity
// is the recorded one of the file system; previous is the published scan before
// this one, nil for none; earlier are the scans since then, the latest first.
//
// A suspicion that the two scans before had too, with nearly the same numbers,
// is believed: whatever happened is there to stay.
func judge(now outcome, identity string, previous *outcome, earlier []outcome) judgement {
	var rules, reasons []string
	suspect := func(rule, reason string) {
		rules, reasons = append(rules, rule), append(reasons, reason)
	}
	if identity != "" && now.Identity != "" && identity != now.Identity {
		suspect("identity", fmt.Sprintf(
			"This is another file system (%s) than before (%s): check what is mounted at the root.",
			usage.Escape(now.Identity), usage.Escape(identity)))
	}
	if previous != nil {
		switch {
		case now.Entries <= 1 && previous.Entries > 1:
			suspect("empty", fmt.Sprintf(
				"Nothing was found where the scan before found %s entries: check that it is mounted and readable.",
				usage.FormatCount(previous.Entries)))
		case now.Entries < previous.Entries-previous.Entries/2:
			suspect("shrunk", fmt.Sprintf(
				"%s entries were found, fewer than half of the %s of the scan before: "+
					"check that all of it is mounted and readable.",
				usage.FormatCount(now.Entries), usage.FormatCount(previous.Entries)))
		}
		if now.squashed() && !previous.squashed() {
			suspect("squashed", "Most of it belongs to nobody, and did not before: "+
				"check the id mapping and root squashing of the mount.")
		}
	}
	if len(now.Parts) > 0 && previous != nil {
		suspect("parts", partsReason(now.Parts))
	}
	j := judgement{verdict: usage.Clean, suspicion: strings.Join(rules, ",")}
	if len(now.Parts) > 0 && previous == nil {
		j.verdict = usage.Unverified
		reasons = append(reasons, partsReason(now.Parts))
	}
	if now.Errors > 0 {
		j.verdict = usage.Partial
		reasons = append(reasons, partialReason(now))
	}
	if j.suspicion != "" {
		if len(now.Parts) == 0 && confirmed(now, j.suspicion, earlier) { // a part never becomes the whole
			reasons = append(reasons, "It is believed because the two scans before found the same.")
			j.suspicion = ""
		} else {
			j.verdict = usage.Suspect
		}
	}
	j.reason = strings.Join(reasons, " ")
	return j
}

func partsReason(parts []string) string {
	return fmt.Sprintf("Only a part was scanned (%d directories, the first %s): what is elsewhere is missing.",
		len(parts), usage.Escape(parts[0]))
}

func partialReason(now outcome) string {
	if now.Entries <= 1 {
		return "Nothing below the root could be read: run the scan as a user who may read it."
	}
	return fmt.Sprintf("%s entries could not be read, and what they use is missing: "+
		"run the scan as a user who may read all directories.",
		usage.FormatCount(now.Errors))
}

func confirmed(now outcome, suspicion string, earlier []outcome) bool {
	if len(earlier) < 2 {
		return false
	}
	for _, e := range earlier[:2] {
		if e.Suspicion != suspicion || !e.near(now) {
			return false
		}
	}
	return true
}
