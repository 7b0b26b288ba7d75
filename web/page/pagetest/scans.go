package pagetest

import (
	"time"

	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// scansPages is the list of scans in all states.
func scansPages(base string) []Page {
	of := func(p page.Scans) page.Scans {
		p.Frame = at(base, p.Frame)
		return p
	}
	return []Page{
		{"scans", page.ScansPage(of(scans()))},
		{"scans-running", page.ScansPage(of(runningScans()))},
		{"scans-older", page.ScansPage(of(olderScans()))},
		{"scans-one", page.ScansPage(of(oneScan()))},
		{"scans-none", page.ScansPage(of(noScans()))},
		{"scans-past-the-last", page.ScansPage(of(pastTheLast()))},
	}
}

func scansFrame() component.Frame {
	f := bareFrame("Scans")
	f.Section, f.FileSystem = component.Scans, scratch()
	f.FileSystems = []usage.FileSystem{*scratch()}
	return f
}

// scans are two months of nights with every outcome, hostile reasons and a gap.
func scans() page.Scans {
	p := page.Scans{Frame: scansFrame(), Newest: true, Older: 2548}
	points := history()
	for i := len(points) - 1; i >= len(points)-60; i-- {
		scan := points[i].Scan
		scan.Queued = scan.Started.Add(-3 * time.Second)
		scan.Published = scan.Finished.Add(40 * time.Second)
		p.Items = append(p.Items, scan)
	}
	outcome := func(i int, state usage.ScanState, verdict usage.Verdict, reason string) {
		s := &p.Items[i]
		s.State, s.Verdict, s.Reason = state, verdict, reason
		if state != usage.Complete || verdict == usage.Suspect {
			s.Published = time.Time{}
		}
	}
	outcome(2, usage.Complete, usage.Partial, "14 entries could not be read")
	p.Items[2].Counters.Errors = 14
	outcome(4, usage.Complete, usage.Suspect, "96.2% of the entries of the scan before are gone")
	outcome(5, usage.Failed, "",
		"the root /gpfs/scratch did not answer within 30 seconds: is the mount alive? Try stat -f /gpfs/scratch")
	outcome(6, usage.Interrupted, "", "the process that ran it is gone")
	outcome(7, usage.Cancelled, "", "")
	p.Items[7].Progress = runningScan(usage.Running).Of.Progress
	outcome(8, usage.NotRun, "", "Scan 2601 was not over yet.")
	p.Items[8].Occurrence = p.Items[8].Started
	outcome(11, usage.Complete, usage.Suspect,
		"96.2% of the entries of the scan before are gone. It was looked at and rejected.")
	p.Items[11].Rejected = true
	outcome(9, usage.Complete, usage.Unverified, hostileNames()[0])
	outcome(10, usage.Failed, "", hostileNames()[len(hostileNames())-1])
	return p
}

func runningScans() page.Scans {
	p := scans()
	running := runningScan(usage.Running).Of
	p.Running, p.Before = &running, &p.Items[0]
	queued := usage.Scan{ID: 2610, State: usage.Queued, FileSystemID: 1}
	p.Items = append([]usage.Scan{queued, running}, p.Items...)
	return p
}

func olderScans() page.Scans {
	p := scans()
	p.Newest, p.Older = false, 0
	p.State.Set("before", "2549")
	return p
}

func oneScan() page.Scans {
	p := page.Scans{Frame: scansFrame(), Newest: true}
	scan := smallScan()
	scan.Published = scan.Finished
	p.Items = []usage.Scan{scan}
	return p
}

func noScans() page.Scans { return page.Scans{Frame: scansFrame(), Newest: true} }

func pastTheLast() page.Scans {
	p := noScans()
	p.Newest = false
	p.State.Set("before", "1")
	return p
}
