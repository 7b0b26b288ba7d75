package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/component"
)

// Entity is the view model of the page of one user, file type or fileset, at
// /fs/{fs}/users/{uid}, /types/{type} and /filesets/{key}.
type Entity struct {
	component.Frame // Scan is set; Measures are those of Timeline

	Dimension usage.Dimension // User, Type or Fileset
	Row       usage.Row       // in the shown scan; zero where it has none
	// Unknown says that the shown scan cannot tell: its file types were limited.
	Unknown bool
	Rank    int   // by Frame.By, from 1; 0 where it is beyond RankLimit or has nothing
	Count   int64 // values of the dimension in the scan

	// Earlier are the scans that it is compared with: about 1, 7 and 30 days
	// before the shown one, as far as there are any.
	Earlier []Earlier
	Course  Course // of this value alone
	Range   Range
	From    string // first day of Range; "" for all

	Splits []component.Ranking // by the other dimensions
	// Thinned says that the details of the scan are no longer kept, so that
	// there are no Splits.
	Thinned bool
}

// RankLimit is up to which place a rank is told.
const RankLimit = 1000

// Earlier is what a value was in an earlier scan.
type Earlier struct {
	Label string // "1 day"
	Since usage.Scan
	Was   *usage.Measures // nil where that scan does not know
}

// SplitsOf lists what a page of a value of d splits it by.
func SplitsOf(d usage.Dimension) []usage.Dimension {
	all := []usage.Dimension{usage.User, usage.Type, usage.Fileset, usage.SizeClassDim, usage.AgeClassDim}
	return slices.DeleteFunc(all, func(other usage.Dimension) bool { return other == d })
}

// name is what the page is about.
func (p Entity) name() string { return component.ShownName(p.Dimension, p.Row) }

// about says what kind of thing that is, and its key where the name hides it.
func (p Entity) about() string {
	words := capitalise(component.DimensionWord(p.Dimension)) + " of " + p.FileSystem.Name
	switch {
	case p.Dimension == usage.User:
		return words + ", uid " + p.Row.Key
	case p.Row.Name != p.Row.Key:
		return words + ", " + p.Row.Key
	default:
		return words
	}
}

// share is the part of the file system in the measure shown.
func (p Entity) share(by usage.Measure) string {
	return usage.FormatShare(by.Share(p.Row.Measures, p.Scan.Totals))
}

func (p Entity) facts() []component.Fact {
	m := p.Row.Measures
	fact := func(term string, by usage.Measure) component.Fact {
		return component.Fact{
			Term: term, Value: by.Format(m), Exact: by.Exact(m),
			Notes: []string{p.share(by) + " of the file system"},
		}
	}
	facts := []component.Fact{fact("Allocated", usage.Allocated), fact("Files", usage.Files), p.rankFact(), p.meanFact()}
	for _, e := range slices.Backward(p.Earlier) {
		if c := p.change(p.By, e); c != nil {
			growth := component.Fact{
				Term: "Growth in " + e.Label, Value: c.Format(), Exact: c.Exact(), Notes: []string{string(p.By)},
			}
			if share, ok := c.Share(); ok {
				growth.Notes[0] += ", " + signedShare(share)
			}
			return append(facts, growth)
		}
	}
	return facts
}

func (p Entity) rankFact() component.Fact {
	one, many := component.DimensionWord(p.Dimension), component.DimensionWords(p.Dimension)
	fact := component.Fact{
		Term: "Rank by " + string(p.By), Value: "–", Notes: []string{"of " + component.Plural(p.Count, one, many)},
	}
	switch {
	case p.Rank > 0:
		fact.Value = "#" + strconv.Itoa(p.Rank)
	case !p.Row.IsZero():
		fact.Value = "over " + component.Count(RankLimit)
	}
	return fact
}

func (p Entity) meanFact() component.Fact {
	fact := component.Fact{Term: "Mean file", Value: "–", Notes: []string{"there are no files"}}
	if p.Row.Files > 0 {
		mean := p.Row.Size.Float64() / float64(p.Row.Files)
		fact.Value = usage.FormatBytes(usage.ByteCount(int64(mean)))
		fact.Notes = []string{usage.FormatBytes(p.Row.Slack) + " of slack in all"}
	}
	return fact
}

// change is how a measure went since an earlier scan; nil where that is unknown.
func (p Entity) change(by usage.Measure, e Earlier) *report.Change {
	if e.Was == nil || p.Unknown {
		return nil
	}
	return &report.Change{By: by, From: *e.Was, To: p.Row.Measures}
}

// measures are the rows of the table: those that the scan measured.
func (p Entity) measures() []usage.Measure {
	all := usage.AllMeasures()
	if !p.Scan.Offline {
		all = slices.DeleteFunc(all, func(m usage.Measure) bool { return m == usage.Offline })
	}
	return all
}

func (p Entity) courseTitle() string {
	return capitalise(string(p.By)) + " of " + p.name() + " over time"
}

func (p Entity) courseCSV() string {
	return p.API("history", "group_by", string(p.Dimension), "key", p.Row.Key, "by", string(p.By),
		"from", p.From, "format", "csv")
}

// shows is this page for one of the scans.
func (p Entity) shows(scan usage.Scan) string { return p.Here("scan", scanParameter(scan)) }

// splitHead heads the table of one of the splits.
func (p Entity) splitHead(r component.Ranking) component.CardHead {
	return component.CardHead{
		ID:    "by-" + strings.ReplaceAll(string(r.Dimension), "_", "-"),
		Title: splitTitle(r),
		Sub:   string(p.By) + " of " + p.name() + " · " + scanDay(p.Frame),
		CSV: p.API("usage", "group_by", string(r.Dimension), string(p.Dimension), p.Row.Key, "by", string(p.By),
			"limit", "1000", "scan", scanID(p.Frame), "format", "csv"),
	}
}

func splitTitle(r component.Ranking) string {
	if r.Dimension == usage.AgeClassDim {
		return "By age, since the last change"
	}
	if r.Dimension == usage.SizeClassDim {
		return "By size of the files"
	}
	return topTitle(r)
}

// splitLink leads to the page of a value of one of the splits.
func (p Entity) splitLink(d usage.Dimension) func(report.Item) string { return entityLink(p.Frame, d) }

// entityLink leads from the items of a list to their pages.
func entityLink(f component.Frame, d usage.Dimension) func(report.Item) string {
	return func(item report.Item) string { return f.EntityURL(d, item.Key) }
}

// nothing says why there is nothing to show of the shown scan.
func (p Entity) nothing() string {
	if p.Unknown {
		return fmt.Sprintf("This scan kept only its largest file types, and %s is not among them: "+
			"what it had then is not known.", p.name())
	}
	return fmt.Sprintf("This scan found nothing of %s; others did, see below.", p.name())
}
