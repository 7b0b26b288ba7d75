package report

import (
	"cmp"
	"slices"
	"strconv"

	"fstally/internal/usage"
)

// Rows returns one dimension of a summary that is not stored, named by what the
// scan itself found out. The rows are in the order of by; classes in their own.
func Rows(meta *usage.Meta, s *usage.Summary, d usage.Dimension, by usage.Measure) []usage.Row {
	names := namesOf(meta, d)
	var rows []usage.Row
	for v, m := range s.Marginal(d) {
		row := usage.Row{Measures: m}
		switch d {
		case usage.User, usage.Group, usage.Pool:
			row.ID, row.Key = int64(v.ID), strconv.FormatUint(uint64(v.ID), 10)
			row.Name = cmp.Or(usage.Escape(names[v]), row.Key)
		case usage.Fileset:
			row.Key = usage.EscapeKey(v.Text)
			row.Name = cmp.Or(usage.Escape(names[v]), row.Key)
		case usage.SizeClassDim:
			row.ID = int64(v.ID)
			row.Key, row.Name = meta.SizeClasses.Key(usage.SizeClass(v.ID)), meta.SizeClasses.Label(usage.SizeClass(v.ID))
		case usage.AgeClassDim:
			row.ID = int64(v.ID)
			row.Key, row.Name = usage.AgeClass(v.ID).Key(), usage.AgeClass(v.ID).Label()
		case usage.Type, usage.Category:
			row.Key, row.Name = v.Text, v.Text
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b usage.Row) int {
		if d == usage.SizeClassDim || d == usage.AgeClassDim {
			return cmp.Compare(a.ID, b.ID)
		}
		return by.Compare(a, b)
	})
	return rows
}

func namesOf(meta *usage.Meta, d usage.Dimension) map[usage.Value]string {
	names := make(map[usage.Value]string)
	for _, i := range meta.Identities {
		if d == usage.User && i.Kind == usage.UserIdentity || d == usage.Group && i.Kind == usage.GroupIdentity {
			names[usage.Value{ID: i.ID}] = i.Name
		}
	}
	if d == usage.Fileset {
		for _, f := range meta.Filesets {
			names[usage.Value{Text: f.Path}] = f.Name
		}
	}
	return names
}
