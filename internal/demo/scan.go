package demo

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"

	"fstally/internal/aggregate"
	"fstally/internal/classify"
	"fstally/internal/postgres"
	"fstally/internal/usage"
)

// scan brings the file system to the next night and returns what the scan of it
// hands over, nil where there was none. Nights come in their order.
func (l *layout) scan(o Options, s site, night int) (*postgres.ImportRequest, error) {
	start := o.startOf(l.volume, night)
	weekend := start.Weekday() == time.Sunday || start.Weekday() == time.Monday // of what was done the day before
	l.step(night, weekend)
	occasion := l.occasionOf(night, l.nights)
	if occasion == missed {
		return nil, nil //nolint:nilnil // no scan is an answer
	}
	hidden := func(*area) bool { return false }
	var failures []usage.ScanError
	switch occasion {
	case tidied:
		l.cleanUp(0.1)
		l.step(night, weekend)
	case shrunk:
		hidden = l.lost()
	case forbidden:
		hidden, failures = l.closed()
	case ordinary, missed:
	}
	p := l.partial(start.Unix(), hidden)
	l.count(p, rand.New(rand.NewPCG(o.Seed, uint64(start.Unix())))) //nolint:gosec // the same each time on purpose
	p.Errors = failures
	for _, e := range failures {
		p.Counters.Errors += e.Count
	}
	p.Categories = make(map[string]string)
	categories := classify.BuiltInCategories()
	for _, c := range p.Cells {
		if _, ok := p.Categories[c.Type]; !ok {
			p.Categories[c.Type] = categories.Of(c.Type)
		}
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	summary := p.Summary()
	return &postgres.ImportRequest{
		Meta: l.meta(o, s, night, start, summary), Summary: summary, DetailFrom: detailFrom(l.nights - 1 - night),
	}, nil
}

// count sets the counters but that of errors.
func (l *layout) count(p *aggregate.Partial, r *rand.Rand) {
	var sum usage.Measures
	for i := range p.Cells {
		c := &p.Cells[i]
		sum.Add(c.Measures)
		switch c.Type {
		case usage.TypeDir:
			p.Counters.Directories += c.Inodes
		case usage.TypeSymlink:
			p.Counters.Symlinks += c.Inodes
		case usage.TypeSpecial:
			p.Counters.Specials += c.Inodes
		}
	}
	second := sum.Files / 1400 // names of files that have another one
	p.Counters.Links = sum.Files + second
	p.Counters.Entries = sum.Inodes + second
	p.Counters.Vanished = r.Int64N(1 + sum.Files/1_000_000)
	p.Skipped = l.skipped()
	for _, s := range p.Skipped {
		p.Counters.Skipped += s.Count
	}
}

// skipped is what every scan leaves out.
func (l *layout) skipped() []usage.Skipped {
	var skipped []usage.Skipped
	if len(l.mounts) > 0 {
		skipped = append(skipped, usage.Skipped{Reason: usage.SkipMount, Count: int64(len(l.mounts)), Paths: l.mounts})
	}
	paths := []string{l.snapshots}
	for _, d := range l.dirs {
		if d.parent == 0 {
			paths = append(paths, d.name+"/"+l.snapshots)
		}
	}
	slices.Sort(paths)
	return append(skipped, usage.Skipped{
		Reason: usage.SkipSnapshot, Count: int64(len(paths)), Paths: paths[:min(len(paths), usage.MaxSamples)],
	})
}

// lost returns what is not there in the night when a part of the disks was
// away: whole filesets, with much more than half of all entries.
func (l *layout) lost() func(*area) bool {
	inodes := make(map[string]int64)
	var total, seen int64
	for i := range l.units {
		u := &l.units[i]
		inodes[u.key.Fileset] += u.target()
		total += u.target()
	}
	there := make(map[string]bool)
	for _, name := range slices.Sorted(maps.Keys(inodes)) {
		if seen+inodes[name] < total*38/100 {
			seen += inodes[name]
			there[name] = true
		}
	}
	return func(a *area) bool { return !there[a.fileset] }
}

// closed returns what cannot be read in the night after some users had closed
// their directories, and what the scan says of it.
func (l *layout) closed() (func(*area) bool, []usage.ScanError) {
	denied := usage.ScanError{Op: "open", Errno: "EACCES", Message: "permission denied"}
	failed := usage.ScanError{Op: "stat", Errno: "EIO", Message: "input/output error"}
	closed := make(map[*area]bool)
	for i, a := range l.areas {
		home := a.fileset + "/" + a.owner.home()
		switch {
		case a.level > 0 && i%97 == 8:
			closed[a] = true
			denied.Count++
			denied.Paths = append(denied.Paths, home)
		case a.level > 0 && i%61 == 5:
			for k := range 3 {
				failed.Count++
				failed.Paths = append(failed.Paths, fmt.Sprintf("%s/run%03d.dat", home, 3*k+i%7))
			}
		}
	}
	var failures []usage.ScanError
	for _, e := range []usage.ScanError{denied, failed} {
		if e.Count > 0 {
			slices.Sort(e.Paths)
			e.Paths = e.Paths[:min(len(e.Paths), usage.MaxSamples)]
			failures = append(failures, e)
		}
	}
	return func(a *area) bool { return closed[a] }, failures
}

// identitiesEvery is after how many nights the names of ids are stored anew. They
// do not change, and to note 2,000 times that each still has its name takes time.
const identitiesEvery = 7

// meta describes the scan.
func (l *layout) meta(o Options, s site, night int, start time.Time, sum *usage.Summary) *usage.Meta {
	seconds := float64(sum.Counters.Entries) / (l.entriesPerSecond * (0.9 + 0.02*float64(night%11)))
	size := l.capacity[0]
	if night >= l.nights*55/100 {
		size = l.capacity[1]
	}
	capacity := usage.Capacity{Size: usage.ByteCount(size), BlockSize: l.blockSize, Source: "statfs"}
	// Metadata, logs and what is deleted but still open are in no directory.
	used := sum.Totals.Allocated.Add(usage.ByteCount(sum.Totals.Inodes*4*kib + 3*tib))
	capacity.Free = capacity.Size.Sub(used)
	capacity.Available = capacity.Free
	if l.inodes > 0 {
		capacity.InodesTotal, capacity.InodesFree = l.inodes, l.inodes-sum.Totals.Inodes
	}
	var identities []usage.Identity
	if night%identitiesEvery == 0 || night == l.nights-1 {
		identities = s.identities
	}
	id := fmt.Sprintf("%d %s %g %d %s", o.Seed, l.name, o.Years, o.Users, start.UTC().Format(time.RFC3339))
	return &usage.Meta{
		ResultID: uuid.NewSHA1(uuid.NameSpaceURL, []byte("fstally demo "+id)).String(), Version: "demo",
		Root: l.root, Parts: []string{""}, Identity: l.identity, FSType: l.fsType, Host: "mgmt1", Engine: "linux",
		Walkers: l.walkers, OpsLimit: max(0, l.opsLimit), Freshness: "exact",
		Started: start, Finished: start.Add(time.Duration(cmp.Or(seconds, 1) * float64(time.Second))),
		SizeClasses: usage.DefaultSizeClasses(), Capacity: capacity, Identities: identities,
	}
}
