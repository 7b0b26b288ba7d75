package pagetest

import (
	"fstally/internal/usage"
	"fstally/web/page"
)

// peoplePages are the whole lists, and one user over all file systems, in all
// states.
func peoplePages(base string) []Page {
	list := func(p page.List) page.List {
		p.Frame = at(base, p.Frame)
		return p
	}
	person := func(p page.Person) page.Person {
		p.Frame = at(base, p.Frame)
		return p
	}
	return []Page{
		{"users", page.ListPage(list(List(usage.User)))},
		{"types", page.ListPage(list(List(usage.Type)))},
		{"users-second-page", page.ListPage(list(secondList()))},
		{"filesets-hostile", page.ListPage(list(hostileList()))},
		{"users-empty", page.ListPage(list(emptyList()))},
		{"person", page.PersonPage(person(Person()))},
		{"person-hostile", page.PersonPage(person(hostilePerson()))},
		{"person-first-scan", page.PersonPage(person(newPerson()))},
	}
}

// List is the first page of a list.
func List(d usage.Dimension) page.List {
	points := history()
	f := frame("", "", points)
	f.Measures = []usage.Measure{usage.Allocated, usage.Size, usage.Files, usage.Inodes, usage.Slack}
	f.By = usage.Allocated
	f.Path, f.Title = f.ListPath(d), page.ListTitle(d)
	shares := map[usage.Dimension][]share{usage.User: users(), usage.Type: types(), usage.Fileset: filesets()}[d]
	return page.List{
		Frame: f, Number: 1, Ranking: ranking(d, f.By, shares, points[len(points)-1].Scan.Totals, 1214, 1, 7),
	}
}

func secondList() page.List {
	p := List(usage.User)
	p.Number = 2
	p.State.Set("page", "2")
	return p
}

func hostileList() page.List {
	p := List(usage.Fileset)
	for i := range p.Ranking.Items {
		p.Ranking.Items[i].Name = hostileNames()[i%len(hostileNames())]
		p.Ranking.Items[i].Key = p.Ranking.Items[i].Name
	}
	return p
}

func emptyList() page.List {
	p := List(usage.User)
	p.Ranking = none(usage.User)
	return p
}

// Person is a user of three file systems.
func Person() page.Person {
	f := bareFrame("jdoe")
	f.Measures = []usage.Measure{usage.Allocated, usage.Size, usage.Files, usage.Inodes, usage.Slack}
	f.By, f.Path = usage.Allocated, "/users/1801"
	f.FileSystems = frame("", "", history()).FileSystems
	p := page.Person{Frame: f, UID: users()[0].key, Range: page.RangeAll, Charts: 2}
	for i, fs := range f.FileSystems {
		e := entity(usage.User, users(), 0)
		points := e.Course.Points
		last := len(points) - 1
		h := page.Holding{FileSystem: fs, Scan: points[last].Scan, Row: e.Row, Course: e.Course}
		for j, ago := range []int{1, 7, 30} {
			h.Earlier[j] = &points[last-ago]
		}
		if i == 2 { // nothing is left there
			h.Row.Measures = usage.Measures{}
		}
		p.Holdings = append(p.Holdings, h)
	}
	p.Title = p.Name()
	return p
}

func hostilePerson() page.Person {
	p := Person()
	for i := range p.Holdings {
		p.Holdings[i].Row.Name = hostileNames()[i]
		p.Holdings[i].Course.Series = []usage.Row{p.Holdings[i].Row}
	}
	p.Title = p.Name()
	return p
}

// newPerson is a nameless user after the first scan.
func newPerson() page.Person {
	p := Person()
	p.Holdings = p.Holdings[:1]
	h := &p.Holdings[0]
	h.Row.Name = h.Row.Key
	h.Earlier = [3]*usage.Point{}
	h.Course.Points = h.Course.Points[len(h.Course.Points)-1:]
	h.Course.Past = h.Course.Points
	p.Title = p.Name()
	return p
}
