package page

import (
	"strconv"
	"strings"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/component"
)

// List is the view model of /fs/{fs}/users, groups, types, categories and
// filesets: everything that the top-N lists are the head of, a page at a time.
type List struct {
	component.Frame // Scan is set; Measures are those of Timeline; By is the order

	Ranking component.Ranking // the rows of this page
	Number  int               // of this page, from 1
	// Grown are the Days of the comparison whose growth the order is by; 0 for the
	// order by size.
	Grown int
}

// ListRows is how many rows a page of a List has.
const ListRows = 100

// ListDimensions are those that have a List.
func ListDimensions() []usage.Dimension {
	return []usage.Dimension{usage.User, usage.Group, usage.Type, usage.Category, usage.Fileset}
}

// pages is how many pages there are, at least 1.
func (p List) pages() int { return max(1, int((p.Ranking.Count()+ListRows-1)/ListRows)) }

// first is the rank of the first row.
func (p List) first() int { return (p.Number-1)*ListRows + 1 }

// ListTitle heads the list of a dimension.
func ListTitle(d usage.Dimension) string { return capitalise(component.DimensionWords(d)) }

// sub says what the list holds, and which part of it this is.
func (p List) sub() string {
	d := p.Ranking.Dimension
	of := component.Plural(p.Ranking.Count(), component.DimensionWord(d), component.DimensionWords(d))
	if p.pages() == 1 {
		return of + ", by " + string(p.By) + " · " + scanDay(p.Frame)
	}
	return component.Count(int64(p.first())) + " to " + component.Count(int64(p.first()+len(p.Ranking.Items)-1)) +
		" of " + of + ", by " + string(p.By) + " · " + scanDay(p.Frame)
}

func (p List) head() component.CardHead {
	order, since := "", sinceDays(p.Ranking)
	if p.Grown != 0 {
		order, since = "change", strconv.Itoa(p.Grown)
	}
	return component.CardHead{
		ID: "list", Title: ListTitle(p.Ranking.Dimension) + " of " + p.FileSystem.Name, Sub: p.sub(),
		CSV: p.API("usage", "group_by", string(p.Ranking.Dimension), "by", string(p.By), "limit", strconv.Itoa(ListRows),
			"offset", offset(p.first()), "scan", scanID(p.Frame), "since_days", since, "order", order, "format", "csv"),
	}
}

func (p List) orderWords() string {
	if p.Grown != 0 {
		return "what grew most first"
	}
	return "largest first"
}

// offset is the parameter that passes over the rows before the one of a rank;
// "" for none.
func offset(first int) string {
	if first == 1 {
		return ""
	}
	return strconv.Itoa(first - 1)
}

func (p List) page(number int) string {
	if number == 1 {
		return p.Here("page", "")
	}
	return p.Here("page", strconv.Itoa(number))
}

// othersWords names the row of what is on the other pages.
func (p List) othersWords() string {
	return component.OthersName(p.Ranking.Others.Count) + " on other pages"
}

// link leads to the page of a value, where it has one.
func (p List) link(item report.Item) string { return p.EntityURL(p.Ranking.Dimension, item.Key) }

// dimensionPlural is the word of a link to the list of a dimension.
func dimensionPlural(d usage.Dimension) string {
	return strings.TrimPrefix(component.DimensionWords(d), "file ")
}
