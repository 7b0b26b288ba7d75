package page

import (
	"fmt"
	"slices"
	"strconv"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/component"
)

// sizesData is what the histogram of sizes is drawn from.
type sizesData struct {
	Fine bool        `json:"fine"`
	Bars []sizesItem `json:"bars"`
}

type sizesItem struct {
	Label     string          `json:"label"`
	Words     string          `json:"words,omitempty"`
	Files     component.Value `json:"files"`
	Allocated component.Value `json:"allocated"`
	// The shares are those of all bars, as text.
	FilesShare     string `json:"files_share"`
	AllocatedShare string `json:"allocated_share"`
}

func (p Files) usersHead() component.CardHead {
	head := cardHead(p.Frame, "users", p.Users, true)
	head.Sub = "of " + usage.FormatCount(p.Users.Total.Files) + " files · " + scanDay(p.Frame)
	return head
}

func (p Files) usersLabel() string {
	first := p.Users.Items[0]
	return fmt.Sprintf("Doughnut chart: %s by files. The first is %s with %s. All values are in the table below.",
		topTitle(p.Users), component.ShownName(usage.User, first.Row), usage.FormatShare(first.Share))
}

// typeLink narrows the histogram to a file type, and back where it is already.
func (p Files) typeLink(item report.Item) string {
	switch {
	case !isFileType(item.Key):
		return ""
	case item.Key == p.Sizes.Type:
		return p.Here("type", "")
	default:
		return p.Here("type", item.Key)
	}
}

// typeOptions are the types to pick from, with the present one in any case.
func (p Files) typeOptions() []string {
	types := slices.DeleteFunc(slices.Clone(p.Sizes.Types), func(t string) bool { return !isFileType(t) })
	if t := p.Sizes.Type; t != "" && !slices.Contains(types, t) {
		types = append([]string{t}, types...)
	}
	return types
}

// sizeBars are the bars that the page shows.
func (p Files) sizeBars() []report.Bar {
	if p.Sizes.Fine {
		return report.Bars(p.Sizes.Rows)
	}
	return report.ClassBars(p.Scan.SizeClasses, p.Sizes.Rows)
}

func total(bars []report.Bar) usage.Measures {
	var sum usage.Measures
	for _, b := range bars {
		sum.Add(usage.Measures{Files: b.Files, Size: b.Size, Allocated: b.Allocated})
	}
	return sum
}

func (p Files) barLabel(i int, bar report.Bar) string {
	if !p.Sizes.Fine {
		return p.Scan.SizeClasses.Label(usage.SizeClass(i))
	}
	return sizeRange(bar.Over, bar.UpTo)
}

// words says what the i-th class means on this file system; "" where unknown,
// and for the bars of the fine histogram.
func (p Files) words(i int) string {
	if p.Sizes.Fine || i >= len(p.Sizes.Words) {
		return ""
	}
	return p.Sizes.Words[i]
}

func (p Files) hasWords() bool {
	return !p.Sizes.Fine && slices.ContainsFunc(p.Sizes.Words, func(w string) bool { return w != "" })
}

func (p Files) sizesData() sizesData {
	data := sizesData{Fine: p.Sizes.Fine}
	for i, bar := range p.sizeBars() {
		m := usage.Measures{Files: bar.Files, Allocated: bar.Allocated}
		data.Bars = append(data.Bars, sizesItem{
			Label:          p.barLabel(i, bar),
			Words:          p.words(i),
			Files:          component.NewValue(usage.Files, m),
			Allocated:      component.NewValue(usage.Allocated, m),
			FilesShare:     usage.FormatShare(bar.FilesShare),
			AllocatedShare: usage.FormatShare(bar.AllocatedShare),
		})
	}
	return data
}

func (p Files) sizesTitle() string {
	if p.Sizes.Type != "" {
		return p.Sizes.Type + " files by size"
	}
	return "Files by size"
}

func (p Files) sizesLabel() string {
	sum := total(p.sizeBars())
	return fmt.Sprintf("Bar chart: %s, %s that hold %s. All values are in the table.",
		p.sizesTitle(), component.Plural(sum.Files, "file", "files"), usage.FormatBytes(sum.Allocated))
}

// sizesNote relates what the files hold to what they take up: what small files
// waste, and what compression or holes save.
func (p Files) sizesNote() string {
	sum := total(p.sizeBars())
	note := fmt.Sprintf("%s with %s of content on %s of disk",
		component.Plural(sum.Files, "file", "files"), usage.FormatBytes(sum.Size), usage.FormatBytes(sum.Allocated))
	switch sum.Allocated.Cmp(sum.Size) {
	case 1:
		note += fmt.Sprintf(": %s more than the content.", usage.FormatBytes(sum.Allocated.Sub(sum.Size)))
	case -1:
		less := sum.Size.Sub(sum.Allocated)
		note += fmt.Sprintf(": %s less than the content, by holes or compression.", usage.FormatBytes(less))
	default:
		note += "."
	}
	return note
}

func scanID(f component.Frame) string { return strconv.FormatInt(f.Scan.ID, 10) }
