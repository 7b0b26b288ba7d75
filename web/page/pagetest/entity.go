package pagetest

import (
	"slices"

	"fstally/internal/report"
	"fstally/internal/usage"
	"fstally/web/component"
	"fstally/web/page"
)

// entityPages are pages of a user, a type and a fileset in all states.
func entityPages(base string) []Page {
	of := func(p page.Entity) page.Entity {
		p.Frame = at(base, p.Frame)
		return p
	}
	return []Page{
		{"user", page.EntityPage(of(entity(usage.User, users(), 0)))},
		{"user-nameless", page.EntityPage(of(entity(usage.User, users(), 7)))},
		{"type", page.EntityPage(of(entity(usage.Type, types(), 0)))},
		{"fileset", page.EntityPage(of(entity(usage.Fileset, filesets(), 9)))},
		{"fileset-hostile", page.EntityPage(of(hostileEntity()))},
		{"user-first-scan", page.EntityPage(of(newEntity()))},
		{"user-gone", page.EntityPage(of(goneEntity()))},
		{"type-unknown", page.EntityPage(of(unknownEntity()))},
		{"user-thinned", page.EntityPage(of(thinnedEntity()))},
	}
}

// entity is the i-th of the shares.
func entity(d usage.Dimension, shares []share, i int) page.Entity {
	points := history()
	f := frame("", "", points)
	f.Measures = []usage.Measure{usage.Allocated, usage.Size, usage.Files, usage.Inodes, usage.Slack}
	f.By = usage.Allocated
	series, points := courseOf(points, shares[i:i+1])
	f.Path = f.EntityPath(d, shares[i].key)
	p := page.Entity{
		Frame: f, Dimension: d, Row: series[0], Rank: i + 1, Count: 733, Range: page.RangeAll,
		Course: page.Course{By: f.By, GroupBy: d, Series: series, Points: points, Past: points},
	}
	p.Title = component.ShownName(d, p.Row)
	last := len(points) - 1
	for _, e := range []struct {
		label string
		ago   int
	}{{"1 day", 1}, {"7 days", 7}, {"30 days", 30}} {
		point := points[last-e.ago]
		p.Earlier = append(p.Earlier, page.Earlier{Label: e.label, Since: point.Scan, Was: point.Rows[0]})
	}
	p.Earlier[1].Was = nil
	parts := map[usage.Dimension][]share{usage.User: users(), usage.Type: types(), usage.Fileset: filesets()}
	classes := usage.DefaultSizeClasses()
	for c := range usage.SizeClass(5) {
		parts[usage.SizeClassDim] = append(parts[usage.SizeClassDim],
			share{int64(c), classes.Key(c), classes.Label(c), float64(c) * 30, 4})
	}
	for c := range usage.AgeOlder + 1 {
		parts[usage.AgeClassDim] = append(parts[usage.AgeClassDim],
			share{int64(c), c.Key(), c.Label(), float64(c) * 15, 4})
	}
	for _, other := range page.SplitsOf(d) {
		p.Splits = append(p.Splits, split(other, p.Row.Measures, parts[other]))
	}
	return p
}

// split spreads a sum over the shares by their size.
func split(d usage.Dimension, sum usage.Measures, shares []share) component.Ranking {
	table := usage.Table{Total: sum, Count: int64(len(shares))}
	var whole float64
	for _, s := range shares {
		whole += s.tib
	}
	var given usage.Measures
	for i, s := range shares {
		m := usage.Measures{Allocated: tib(sum.Allocated.Float64() / (1 << 40) * s.tib / whole)}
		if i == len(shares)-1 {
			m = sum.Sub(given)
		}
		given.Add(m)
		table.Rows = append(table.Rows, usage.Row{ID: s.id, Key: s.key, Name: s.name, Measures: m})
	}
	if len(shares) > 10 {
		slices.SortFunc(table.Rows, usage.Allocated.Compare)
		table.Rows = table.Rows[:10]
	}
	return component.Ranking{Top: report.NewTop(d, usage.Allocated, table)}
}

func hostileEntity() page.Entity {
	shares := filesets()
	shares[0].key, shares[0].name = hostileNames()[1], hostileNames()[1]
	p := entity(usage.Fileset, shares, 0)
	for _, r := range p.Splits {
		for i := range r.Items {
			name := hostileNames()[i%len(hostileNames())]
			r.Items[i].Name = name
			if r.Dimension == usage.Type {
				r.Items[i].Key = name
			}
		}
	}
	return p
}

// newEntity is in the first scan of all.
func newEntity() page.Entity {
	p := entity(usage.User, users(), 1)
	p.Course.Points = p.Course.Points[len(p.Course.Points)-1:]
	p.Course.Past, p.Earlier = p.Course.Points, nil
	p.Scan.Previous = 0
	return p
}

// goneEntity has nothing in the shown scan.
func goneEntity() page.Entity {
	p := entity(usage.User, users(), 2)
	p.Row.Measures, p.Rank, p.Splits = usage.Measures{}, 0, nil
	p.Course.Points[len(p.Course.Points)-1].Rows[0] = &usage.Measures{}
	return p
}

func unknownEntity() page.Entity {
	p := entity(usage.Type, types(), 3)
	p.Row.Measures, p.Rank, p.Splits, p.Unknown = usage.Measures{}, 0, nil, true
	p.Course.Points[len(p.Course.Points)-1].Rows[0] = nil
	return p
}

func thinnedEntity() page.Entity {
	p := entity(usage.User, users(), 3)
	p.Splits, p.Thinned = nil, true
	p.State.Set("scan", "1200")
	p.Scan.Latest = false
	return p
}
