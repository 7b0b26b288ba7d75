package pagetest

import (
	"net/url"
	"slices"
	"time"

	"github.com/a-h/templ"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// Page is one page in one state.
type Page struct {
	Name string // unique, fit for an address
	templ.Component
}

// Pages returns all pages in all states, for a site at the base path.
func Pages(base string) []Page {
	bare := func(title string) component.Frame { return at(base, bareFrame(title)) }
	capacity := func(p page.Capacity) templ.Component {
		p.Frame = at(base, p.Frame)
		return page.CapacityPage(p)
	}
	files := func(p page.Files) templ.Component {
		p.Frame = at(base, p.Frame)
		return page.FilesPage(p)
	}
	scan := func(p page.Scan) templ.Component {
		p.Frame = at(base, p.Frame)
		return page.ScanPage(p)
	}
	pages := []Page{
		{"capacity", capacity(Capacity())},
		{"capacity-by-files", capacity(capacityBy(usage.Files))},
		{"capacity-older", capacity(olderCapacity())},
		{"capacity-first-scan", capacity(firstCapacity())},
		{"capacity-three-scans", capacity(youngCapacity())},
		{"capacity-empty", capacity(emptyCapacity())},
		{"capacity-hostile", capacity(HostileCapacity())},
		{"capacity-huge", capacity(HugeCapacity())},
		{"files", files(Files())},
		{"files-type", files(typedFiles())},
		{"files-fine", files(fineFiles())},
		{"files-hostile", files(hostileFiles())},
		{"files-few", files(fewFiles())},
		{"files-empty", files(emptyFiles())},
		{"scan-complete", scan(endedScan(usage.Complete, usage.Partial))},
		{"scan-suspect", scan(endedScan(usage.Complete, usage.Suspect))},
		{"scan-failed", scan(endedScan(usage.Failed, ""))},
		{"scan-running", scan(runningScan(usage.Running))},
		{"scan-queued", scan(runningScan(usage.Queued))},
		{"scan-waiting", scan(waitingScan())},
		{"scan-retried", scan(retriedScan())},
		{"scan-stalled", scan(stalledScan())},
		{"scan-cancelled", scan(cancelledScan())},
		{"scan-rejected", scan(rejectedScan())},
		{"scan-skipped", scan(skippedScan())},
		{"first-run", page.FirstRunPage(page.FirstRun{Frame: bare("Welcome")})},
		{"first-run-scanning", page.FirstRunPage(firstRun(bare("First scan")))},
		{"login", page.LoginPage(page.Login{Frame: bare("Access token")})},
		{"login-refused", page.LoginPage(page.Login{Frame: bare("Access token"), Refused: true, Next: "/"})},
		{"error-404", page.ErrorPage(page.Error{
			Frame: bare("Not found"), Status: 404, Message: `There is no file system "scrtach".`,
			Remedy: "Choose one of those on the first page, or add it with fstally fs add scrtach PATH.",
		})},
		{"error-503", page.ErrorPage(page.Error{
			Frame: bare("Service Unavailable"), Status: 503, Message: "The database does not answer",
			Remedy: "It may be starting: try again in a minute.", RequestID: "kX2bQ9", Again: true,
		})},
		{"error-500", page.ErrorPage(page.Error{
			Frame: bare("Failure"), Status: 500, Message: "The page could not be made.",
			Remedy: "Load it again. If that does not help, the log says more.", RequestID: "host/kX2bQ9-000042",
		})},
	}
	return slices.Concat(pages, scansPages(base), timelinePages(base), entityPages(base), overviewPages(base),
		peoplePages(base), referencePages(base), schedulePages(base), settingsPages(base))
}

func zone() *time.Location { return time.FixedZone("CET", 3600) }

// now is the time of every request here.
func now() time.Time { return time.Date(2026, 11, 30, 10, 42, 0, 0, zone()) }

func at(base string, f component.Frame) component.Frame {
	f.Base = base
	return f
}

func bareFrame(title string) component.Frame {
	return component.Frame{Title: title, Now: now(), Version: "0.1.0", State: url.Values{}}
}

func scratch() *usage.FileSystem {
	return &usage.FileSystem{
		ID: 1, Name: "scratch", Root: "/gpfs/scratch", Type: "gpfs",
		SizeClasses: usage.DefaultSizeClasses(), CurrentScanID: 2608,
	}
}

// frame is of the newest scan of scratch.
func frame(title string, section component.Section, points []usage.Point) component.Frame {
	f := bareFrame(title)
	f.Section, f.FileSystem = section, scratch()
	f.FileSystems = []usage.FileSystem{
		{ID: 2, Name: "home", Root: "/gpfs/home"}, *scratch(),
		{ID: 3, Name: "tape-cache.project-long-term-archive-of-the-institute", Root: "/srv/tape/with/a/path/that/is/long"},
	}
	last := points[len(points)-1].Scan
	f.Scan = &component.ShownScan{Scan: last, Latest: true}
	for i := len(points) - 1; i >= 0 && len(f.Scans) < 60; i-- {
		f.Scans = append(f.Scans, points[i].Scan)
	}
	if len(points) > 1 {
		f.Scan.Previous = points[len(points)-2].Scan.ID
	}
	return f
}

// Capacity is a file system of 3.6 PiB after seven years of nightly scans.
func Capacity() page.Capacity { return capacityBy(usage.Allocated) }

func capacityBy(by usage.Measure) page.Capacity {
	points := history()
	last := points[len(points)-1].Scan
	f := frame("Capacity", component.Capacity, points)
	f.Measures = []usage.Measure{usage.Allocated, usage.Size, usage.Files}
	f.By = by
	if by != usage.Allocated {
		f.State.Set("by", string(by))
	}
	samples := report.UsedSamples(points)
	return page.Capacity{
		Frame:    f,
		Users:    ranking(usage.User, by, users(), last.Totals, 1214, 1, 7),
		Types:    ranking(usage.Type, by, types(), last.Totals, 733, 1),
		Filesets: ranking(usage.Fileset, by, filesets(), last.Totals, 86, 1),
		Growth: []page.Growth{
			{Label: "30 days", Change: report.Change{By: by, From: points[len(points)-31].Total, To: last.Totals}},
			{Label: "1 day", Change: report.Change{By: by, From: points[len(points)-2].Total, To: last.Totals}},
		},
		Forecast: report.NewForecast(report.NewTrend(samples), last.Started, last.Capacity.Used(), last.Capacity.Size),
		History:  page.History{By: by, Range: page.RangeAll, Points: points},
		Skipped:  []usage.Skipped{{Reason: usage.SkipSnapshot, Count: 3, Paths: []string{".snapshots"}}},
	}
}

func olderCapacity() page.Capacity {
	p := Capacity()
	p.State.Set("scan", "1800")
	p.Scan.Latest, p.Scan.Next = false, 1801
	p.Scan.Verdict, p.Scan.Reason = usage.Partial, "12 directories could not be read"
	p.Scan.Counters.Errors = 12
	running := runningScan(usage.Running).Of
	p.Running = &running
	p.Anonymous = true
	return p
}

// firstCapacity is what is shown after the first scan of a small directory.
func firstCapacity() page.Capacity {
	scan := smallScan()
	points := []usage.Point{{Scan: scan, Total: scan.Totals}}
	f := frame("Capacity", component.Capacity, points)
	f.Measures, f.By = []usage.Measure{usage.Allocated, usage.Size, usage.Files}, usage.Allocated
	f.FileSystems = []usage.FileSystem{{ID: 1, Name: "share", Root: "/usr/share"}}
	f.FileSystem = &f.FileSystems[0]
	row := usage.Row{ID: 0, Key: "0", Name: "root", Measures: scan.Totals}
	top := func(d usage.Dimension, rows ...usage.Row) component.Ranking {
		table := usage.Table{Rows: rows, Total: scan.Totals, Count: int64(len(rows))}
		return component.Ranking{Top: report.NewTop(d, usage.Allocated, table)}
	}
	none := usage.Row{Key: usage.None, Name: usage.None, Measures: scan.Totals}
	return page.Capacity{
		Frame: f, Users: top(usage.User, row), Types: top(usage.Type, none), Filesets: top(usage.Fileset, none),
		History: page.History{By: usage.Allocated, Range: page.RangeAll, Points: points},
	}
}

// youngCapacity is a small directory of a large file system after three nights:
// what is used dwarfs what was found.
func youngCapacity() page.Capacity {
	p := firstCapacity()
	first := p.History.Points[0]
	p.History.Points = nil
	for i := range 3 {
		point := first
		point.Scan.ID = int64(i + 1)
		point.Scan.Started = first.Scan.Started.AddDate(0, 0, i-2)
		point.Total.Allocated = first.Total.Allocated.Sub(usage.ByteCount(int64(2-i) << 22))
		p.History.Points = append(p.History.Points, point)
	}
	change := report.Change{By: usage.Allocated, From: p.History.Points[0].Total, To: first.Total}
	p.Growth = []page.Growth{{Label: "2 days", Change: change}}
	return p
}

func emptyCapacity() page.Capacity {
	p := firstCapacity()
	scan := p.Scan.Scan
	scan.Totals = usage.Measures{}
	scan.Capacity = usage.Capacity{}
	p.Scan.Scan = scan
	p.Users, p.Types, p.Filesets = none(usage.User), none(usage.Type), none(usage.Fileset)
	p.History = page.History{By: usage.Allocated, Range: page.RangeYear}
	return p
}

func none(d usage.Dimension) component.Ranking {
	return component.Ranking{Top: report.NewTop(d, usage.Allocated, usage.Table{})}
}

// HostileCapacity has names that would do harm if they were not text.
func HostileCapacity() page.Capacity {
	p := Capacity()
	for _, r := range []*component.Ranking{&p.Users, &p.Types, &p.Filesets} {
		for i := range r.Items {
			name := hostileNames()[i%len(hostileNames())]
			r.Items[i].Name = name
			if r.Dimension != usage.User {
				r.Items[i].Key = name
			}
		}
	}
	fs := *p.FileSystem
	fs.Root = "/data/<script>window.hit=1</script>\xff\x1b[31m"
	p.FileSystem = &fs
	p.Scan.Root = fs.Root
	return p
}

// hostileNames are escaped, as all names of view models are.
func hostileNames() []string {
	raw := []string{
		`<img src=x onerror="window.hit=1">`, `</script><script>window.hit=1</script>`, `"onmouseover="window.hit=1`,
		"{{constructor.constructor('window.hit=1')()}}", "exe.\u202egnp", "a\nb\x1b[31mred", "d\xff\xfe", "others",
		"{c|rich} {a} {b0|x} \\n", "a-name-that-is-far-too-long-for-any-column-of-any-table-and-has-no-place-to-break",
	}
	names := make([]string, len(raw))
	for i, r := range raw {
		names[i] = usage.Escape(r)
	}
	return names
}

// HugeCapacity has sums beyond 64 bits and a single file over 2^53 bytes.
func HugeCapacity() page.Capacity {
	p := Capacity()
	exact := usage.ByteCount(9007199254740993)
	for _, r := range []*component.Ranking{&p.Users, &p.Types, &p.Filesets} {
		rows := []usage.Row{
			{Key: "1001", Name: "big", Measures: usage.Measures{Files: 1 << 62, Allocated: usage.MaxBytes().Sub(exact)}},
			{Key: "1002", Name: "exact", Measures: usage.Measures{Files: 1, Allocated: exact}},
		}
		total := usage.Measures{Files: 1<<62 + 1, Allocated: usage.MaxBytes()}
		r.Top = report.NewTop(r.Dimension, usage.Allocated, usage.Table{Rows: rows, Total: total, Count: 2})
		r.Compared = nil
	}
	p.Scan.Totals = p.Users.Total
	return p
}

// Files is the view of the same file system by files.
func Files() page.Files {
	points := history()
	last := points[len(points)-1].Scan
	f := frame("Files", component.Files, points)
	f.By = usage.Files
	keys := []string{}
	for _, s := range types() {
		keys = append(keys, s.key)
	}
	return page.Files{
		Frame:    f,
		Users:    ranking(usage.User, usage.Files, users(), last.Totals, 1214),
		Types:    ranking(usage.Type, usage.Files, types(), last.Totals, 733),
		Filesets: ranking(usage.Fileset, usage.Files, filesets(), last.Totals, 86),
		AllSizes: buckets(last.Totals.Files),
		Sizes: page.Sizes{
			Types: keys, Rows: buckets(last.Totals.Files),
			Words: []string{"data can live in the inode", "up to one sub-block", "up to one block"},
		},
	}
}

func typedFiles() page.Files {
	p := Files()
	p.Sizes.Type = "py"
	p.State.Set("type", "py")
	p.Sizes.Rows = buckets(212_000_000)
	return p
}

func fineFiles() page.Files {
	p := Files()
	p.Sizes.Fine = true
	p.State.Set("histogram", "fine")
	return p
}

func hostileFiles() page.Files {
	p := typedFiles()
	for _, r := range []*component.Ranking{&p.Users, &p.Types, &p.Filesets} {
		for i := range r.Items {
			name := hostileNames()[i%len(hostileNames())]
			r.Items[i].Name = name
			if r.Dimension != usage.User {
				r.Items[i].Key = name
			}
		}
	}
	p.Sizes.Type = hostileNames()[1]
	p.Sizes.Types = hostileNames()
	p.State.Set("type", p.Sizes.Type)
	return p
}

func fewFiles() page.Files {
	p := Files()
	p.Users.Items, p.Users.Others = p.Users.Items[:2], nil
	p.Types.Items, p.Types.Others = p.Types.Items[:3], nil
	p.Filesets.Items, p.Filesets.Others = p.Filesets.Items[:1], nil
	p.Sizes.Rows = []usage.BucketRow{{Bucket: 0, Files: 1}}
	p.Sizes.Words = nil
	p.AllSizes = p.Sizes.Rows
	p.Scan.Capacity = usage.Capacity{}
	return p
}

func emptyFiles() page.Files {
	p := Files()
	p.Users, p.Types, p.Filesets = none(usage.User), none(usage.Type), none(usage.Fileset)
	p.AllSizes, p.Sizes = nil, page.Sizes{Type: "xyz"}
	p.Scan.Totals = usage.Measures{}
	return p
}

func endedScan(state usage.ScanState, verdict usage.Verdict) page.Scan {
	points := history()
	scan := points[len(points)-1].Scan
	scan.State, scan.Verdict = state, verdict
	f := bareFrame("Scan")
	f.FileSystem = scratch()
	f.FileSystems = []usage.FileSystem{*scratch()}
	p := page.Scan{Frame: f, Of: scan}
	switch {
	case state != usage.Complete:
		p.Of.Reason = "the root /gpfs/scratch did not answer within 30 seconds: is the mount alive? Try stat -f /gpfs/scratch"
		p.Of.Verdict = ""
		return p
	case verdict == usage.Suspect:
		p.Of.Reason = "96.2% of the entries of the scan before are gone. Accept it if that is so."
	default:
		p.Of.Reason = "14 entries could not be read"
	}
	p.Of.Counters.Errors, p.Of.Counters.Skipped, p.Of.Counters.Vanished = 14, 4, 213
	p.Errors = []usage.ScanError{
		{
			Op: "open", Errno: "EACCES", Message: "permission denied", Count: 12,
			Paths: []string{"proj/a/<b>bold</b>", "proj/\xff/secret", "x\ny"},
		},
		{Op: "stat", Errno: "EIO", Message: "input/output error", Count: 2, Paths: []string{"", "astro/run7/dump.0001"}},
	}
	p.Skipped = []usage.Skipped{
		{Reason: usage.SkipSnapshot, Count: 3, Paths: []string{".snapshots", "proj/nwp/.snapshots", "proj/cfd/.snapshots"}},
		{Reason: usage.SkipMount, Count: 1, Paths: []string{"mnt/nfs"}},
	}
	return p
}

func runningScan(state usage.ScanState) page.Scan {
	p := endedScan(usage.Complete, usage.Clean)
	before := p.Of
	p.Before = &before
	p.Errors, p.Skipped = nil, nil
	p.Of = usage.Scan{ID: 2609, State: state, FileSystemID: 1, Root: "/gpfs/scratch"}
	if state == usage.Running {
		p.Of.Started = now().Add(-37 * time.Minute)
		p.Of.Progress = usage.Progress{
			Entries: 389_204_117, Allocated: tib(1012), Errors: 3, Walkers: 4, OpsLimit: 20000, FSType: "gpfs",
			Directory: usage.Escape("proj/nwp/ens/2026112912/<i>member</i>/\x1b[2J"), Phase: "walking",
		}
	}
	return p
}

// waitingScan waits for others to end.
func waitingScan() page.Scan {
	p := runningScan(usage.Queued)
	p.Of.Origin, p.Of.Occurrence, p.Of.Attempt = usage.BySchedule, time.Date(2026, 11, 30, 1, 30, 0, 0, zone()), 1
	p.Waits = []string{"home", "proj", "tape-cache.project-long-term-archive-of-the-institute"}
	return p
}

// retriedScan is the second attempt at an occurrence, which waits a little.
func retriedScan() page.Scan {
	p := runningScan(usage.Queued)
	p.Of.Origin, p.Of.Occurrence, p.Of.Attempt = usage.BySchedule, time.Date(2026, 11, 30, 1, 30, 0, 0, zone()), 2
	p.Of.NotBefore = now().Add(time.Minute)
	p.Attempts = []usage.Scan{
		{ID: 2608, State: usage.Interrupted, Attempt: 1, Reason: "the process that ran the scan went away"},
	}
	return p
}

// stalledScan gets no answer from its file system.
func stalledScan() page.Scan {
	p := runningScan(usage.Running)
	p.FileSystem.StallAfter = 30 * time.Minute
	g := &p.Of.Progress
	g.Stalled, g.LastAnswer = true, now().Add(-250*time.Second)
	for i, name := range hostileNames() {
		g.Blocked = append(g.Blocked, usage.Blocked{Directory: "proj/" + name, Op: "readdir", Seconds: int64(250 - i)})
	}
	return p
}

// cancelledScan had got somewhere.
func cancelledScan() page.Scan {
	p := endedScan(usage.Cancelled, "")
	p.Of.Progress, p.Of.Reason, p.Of.Origin = runningScan(usage.Running).Of.Progress, "", usage.ByHand
	return p
}

func rejectedScan() page.Scan {
	p := endedScan(usage.Complete, usage.Suspect)
	p.Of.Rejected = true
	p.Of.Reason += " It was looked at and rejected."
	return p
}

// skippedScan is an occurrence without a scan.
func skippedScan() page.Scan {
	p := endedScan(usage.NotRun, "")
	p.Of = usage.Scan{
		ID: 2610, FileSystemID: 1, State: usage.NotRun, Origin: usage.BySchedule, Attempt: 1,
		Occurrence: time.Date(2026, 11, 30, 1, 30, 0, 0, zone()), Reason: "Scan 2609 was not over yet.",
	}
	return p
}

func firstRun(f component.Frame) page.FirstRun {
	running := runningScan(usage.Running).Of
	failed := endedScan(usage.Failed, "").Of
	return page.FirstRun{
		Frame: f,
		Waiting: []page.Waiting{
			{FileSystem: *scratch(), Scan: &running},
			{FileSystem: usage.FileSystem{ID: 2, Name: "home", Root: "/gpfs/home"}},
			{FileSystem: usage.FileSystem{ID: 3, Name: "tape", Root: "/srv/tape"}, Scan: &failed},
		},
	}
}
