package aggregate

import (
	"cmp"
	"slices"

	"fstally/internal/usage"
)

// Summary returns the final numbers: file types limited to usage.MaxTypes, and
// directories to those worth keeping in the whole. It shares rows with p.
func (p *Partial) Summary() *usage.Summary {
	th := newThresholds()
	for i := range p.Cells {
		th.add(&p.Cells[i].Key, &p.Cells[i].Measures)
	}
	limited := p
	var kept map[string]bool
	if len(p.Categories) > usage.MaxTypes {
		kept = keptTypes(p.Cells)
	}
	if kept != nil {
		r := p.rows(&Partial{})
		r.limitTypes(kept)
		limited = &Partial{Cells: r.cells, Sizes: r.sizes, Ages: r.ages}
	}
	s := &usage.Summary{
		Counters:    p.Counters,
		Cells:       limited.Cells,
		Sizes:       limited.Sizes,
		Ages:        limited.Ages,
		Directories: p.Root.rows(nil, -1, &th),
		Errors:      p.Errors,
		Skipped:     p.Skipped,
		Categories:  make(map[string]string),
	}
	for _, c := range s.Cells {
		s.Totals.Add(c.Measures)
		if _, seen := s.Categories[c.Type]; !seen {
			s.Categories[c.Type] = p.Categories[c.Type]
		}
	}
	if kept != nil {
		s.Categories[usage.Rest] = usage.Rest
	}
	return s
}

// keptTypes returns the file types that are kept when there are more than
// usage.MaxTypes: the largest by the larger of their share of allocated and of
// files, then by name. Reserved types do not count. It returns nil when all
// can stay.
func keptTypes(cells []usage.Cell) map[string]bool {
	sums := make(map[string]*usage.Measures)
	var total usage.Measures
	for _, c := range cells {
		total.Add(c.Measures)
		if c.Type[0] != '(' {
			m := sums[c.Type]
			if m == nil {
				m = new(usage.Measures)
				sums[c.Type] = m
			}
			m.Add(c.Measures)
		}
	}
	if len(sums) <= usage.MaxTypes {
		return nil
	}
	type ranked struct {
		name  string
		share float64
	}
	types := make([]ranked, 0, len(sums))
	for name, m := range sums {
		share := max(usage.Allocated.Share(*m, total), usage.Files.Share(*m, total))
		types = append(types, ranked{name, share})
	}
	slices.SortFunc(types, func(a, b ranked) int {
		return cmp.Or(-cmp.Compare(a.share, b.share), cmp.Compare(a.name, b.name))
	})
	kept := make(map[string]bool, usage.MaxTypes)
	for _, t := range types[:usage.MaxTypes] {
		kept[t.name] = true
	}
	return kept
}
