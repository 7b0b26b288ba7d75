package page

import (
	"net/url"
	"slices"
	"strings"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/component"
)

// Person is the view model of /users/{uid}: what one user has, over all file
// systems, as of their latest scans.
type Person struct {
	component.Frame // of no file system; Measures are those of Timeline

	UID      string
	Holdings []Holding // where the user ever had anything, by Frame.By descending, then by name
	Range    Range     // of the charts
	Charts   int       // charts at most, of the first Holdings
}

// Holding is what the user has in one file system.
type Holding struct {
	FileSystem usage.FileSystem
	Scan       usage.Scan // the latest published
	Row        usage.Row  // in that scan; zero where the user has nothing any more
	// Earlier are the points about 1, 7 and 30 days before Scan, in that order;
	// nil ones are not there. Their only row is the user's.
	Earlier [3]*usage.Point
	Course  Course // of the user alone, in Range
}

// Name is what the hosts call the user: the first name, or the number.
func (p Person) Name() string {
	if names := p.names(); len(names) > 0 {
		return names[0]
	}
	return "uid " + p.UID
}

// names are the different names that the hosts know, in the order of Holdings.
func (p Person) names() []string {
	var names []string
	for _, h := range p.Holdings {
		if h.Row.Name != h.Row.Key && !slices.Contains(names, h.Row.Name) {
			names = append(names, h.Row.Name)
		}
	}
	return names
}

// about says which number that is, and other names that it has elsewhere.
func (p Person) about() string {
	about := "uid " + p.UID + " over all file systems"
	if names := p.names(); len(names) > 1 {
		about += "; elsewhere called " + strings.Join(names[1:], ", ")
	}
	return about
}

// total sums what the user has.
func (p Person) total() usage.Measures {
	var sum usage.Measures
	for _, h := range p.Holdings {
		sum.Add(h.Row.Measures)
	}
	return sum
}

func (p Person) facts() []component.Fact {
	sum := p.total()
	having := 0
	for _, h := range p.Holdings {
		if !h.Row.IsZero() {
			having++
		}
	}
	facts := []component.Fact{
		{
			Term: "Allocated, in all", Value: usage.FormatBytes(sum.Allocated), Exact: component.ExactBytes(sum.Allocated),
			Notes: []string{usage.FormatBytes(sum.Size) + " of size"},
		},
		{
			Term: "Files, in all", Value: usage.FormatCount(sum.Files), Exact: component.ExactCount(sum.Files, "files"),
			Notes: []string{inodesWords(sum.Inodes)},
		},
		{
			Term: "File systems", Value: component.Count(int64(having)),
			Notes: []string{"of " + component.Count(int64(len(p.FileSystems)))},
		},
	}
	for i, label := range []string{"1 day", "7 days", "30 days"} {
		if c := p.totalChange(i); c != nil {
			facts = append(facts, component.Fact{
				Term: "Growth in " + label, Value: c.Format(), Exact: c.Exact(), Notes: []string{string(p.By)},
			})
		}
	}
	return facts
}

// totalChange is the change of the sum since the i-th of Holding.Earlier; nil
// where it is not known in every file system.
func (p Person) totalChange(i int) *report.Change {
	sum := &report.Change{By: p.By}
	for _, h := range p.Holdings {
		c := h.change(p.By, i)
		if c == nil {
			return nil
		}
		sum.From.Add(c.From)
		sum.To.Add(c.To)
	}
	return sum
}

// change is the change since the i-th of Earlier; nil where it is unknown.
func (h Holding) change(by usage.Measure, i int) *report.Change {
	was := h.was(h.Earlier[i])
	if was == nil {
		return nil
	}
	return &report.Change{By: by, From: *was, To: h.Row.Measures}
}

// was is what the user had at a point; nil where that is unknown.
func (h Holding) was(p *usage.Point) *usage.Measures {
	if p == nil || len(p.Rows) == 0 {
		return nil
	}
	return p.Rows[0]
}

func (h Holding) spark(by usage.Measure) spark {
	return newSpark(by, h.Course.Past, func(p usage.Point) *usage.Measures { return h.was(&p) })
}

// of returns the frame of one of the file systems, for its links.
func (p Person) of(h Holding) component.Frame {
	f := p.Frame
	f.FileSystem = &h.FileSystem
	return f
}

// entity is the page of the user in one file system.
func (p Person) entity(h Holding) string { return p.of(h).EntityURL(usage.User, p.UID) }

func (p Person) csv() string {
	return p.URL("/api/v1/users/"+p.UID, url.Values{"by": {string(p.By)}, "format": {"csv"}})
}

// charted are the holdings that have a chart.
func (p Person) charted() []Holding { return p.Holdings[:min(p.Charts, len(p.Holdings))] }

func (p Person) chartHead(h Holding) component.CardHead {
	return component.CardHead{
		ID: "history-" + h.FileSystem.Name, Title: capitalise(string(p.By)) + " on " + h.FileSystem.Name, Sub: h.Course.sub(),
		CSV: p.of(h).API("history", "group_by", string(usage.User), "key", p.UID, "by", string(p.By),
			"from", firstDayOf(h.Course), "format", "csv"),
		Chart: len(h.Course.Points) > 1,
	}
}

// firstDayOf is the day of the first point, "" for none.
func firstDayOf(c Course) string {
	if len(c.Points) == 0 {
		return ""
	}
	return c.Points[0].Scan.Day
}

// shows is the page of the user in a file system, for one of its scans.
func (p Person) shows(h Holding) func(usage.Scan) string {
	return func(scan usage.Scan) string {
		f := p.of(h)
		return f.URL(f.EntityPath(usage.User, p.UID), url.Values{"scan": {scanParameter(scan)}, "by": {string(p.By)}})
	}
}
