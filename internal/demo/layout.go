package demo

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"fstally/internal/usage"
)

// ages are the age classes of files that are not from the future.
const ages = int(usage.AgeFuture)

// unit is a number of equal entries: one user's of one type in one directory.
type unit struct {
	key   usage.Key // without the age class
	area  *area     // nil for what root made, which does not change
	entry usage.EntryType

	size, allocated int64   // of each, bytes
	base            float64 // how many there are at level 1
	wobble          float64 // relative deviation from the area's level
	future          bool    // written by a machine whose clock is wrong
	read            int64   // of 256 files of an age, how many were read since
	stock           [ages]int64

	dir           int // of the layout
	bars          [6]int
	user, fileset int // places in the tables of ages
}

// dir is a directory of the tree, in preorder with the names sorted.
type dir struct {
	parent   int // -1 for the root
	name     string
	fileset  string
	uid, gid uint32
}

// layout is one file system as it changes from night to night.
type layout struct {
	volume
	rand   *rand.Rand
	nights int
	areas  []*area
	units  []unit  // in the order of the cube
	cells  []group // units of one key
	dirs   []dir
	bars   []usage.SizeCell // all that can occur, in the order of aggregate.Partial
	users  []uint32         // that have files, ascending
	sets   []string         // filesets that have files, ascending

	cellsBefore int // rows of the cube in the night before
}

// group is a range of units with one key.
type group struct{ from, to int }

// newLayout invents what is on the volume at the beginning of so many nights.
func newLayout(r *rand.Rand, v volume, s site, nights int) (*layout, error) {
	profiles, err := profilesByField()
	if err != nil {
		return nil, err
	}
	l := &layout{volume: v, rand: r, nights: nights}
	shares := l.addAreas(s)
	l.addDirs()
	for i, a := range l.areas {
		l.addUnits(a, shares[i]*v.bytes, profiles)
	}
	l.addRoot()
	l.scale()
	l.index()
	return l, nil
}

// addAreas decides who has how much in which fileset, and returns the shares.
func (l *layout) addAreas(s site) (shares []float64) {
	r, sets := l.rand, l.filesets()
	type claim struct {
		owner   person
		fileset string
		weight  float64
	}
	var claims []claim
	held := make(map[[2]string]bool)
	take := func(p person, f fileset, weight float64) {
		if id := [2]string{strconv.Itoa(int(p.uid)), f.name}; !held[id] {
			held[id] = true
			claims = append(claims, claim{p, f.name, weight})
		}
	}
	for _, p := range s.people {
		if r.Float64() > l.members {
			continue
		}
		var own []fileset
		for _, f := range sets {
			if f.field == p.field {
				own = append(own, f)
			}
		}
		weight := p.weight * math.Exp(0.4*r.NormFloat64())
		take(p, own[r.IntN(len(own))], 0.7*weight)
		for range r.IntN(4) {
			others := own
			if r.IntN(4) == 0 {
				others = sets
			}
			take(p, others[r.IntN(len(others))], 0.3*weight*r.Float64())
		}
	}
	for i, f := range sets { // somebody leads each
		p := s.people[(i*len(s.people)/len(sets)+3)%len(s.people)]
		take(p, f, 0.2*p.weight)
	}
	var sum float64
	for _, c := range claims {
		sum += c.weight
	}
	for _, c := range claims {
		share := c.weight / sum
		shares = append(shares, share)
		l.areas = append(l.areas, newArea(r, c.owner, c.fileset, share, l.nights, l.growth))
	}
	return shares
}

// addDirs makes the tree: filesets, in them a directory of each user, in those
// some of their own.
func (l *layout) addDirs() {
	inside := make(map[string][]*area)
	for _, a := range l.areas {
		inside[a.fileset] = append(inside[a.fileset], a)
	}
	l.dirs = []dir{{parent: -1}}
	names := make([]string, 0, len(inside))
	for name := range inside {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		set := len(l.dirs)
		l.dirs = append(l.dirs, dir{parent: 0, name: name, fileset: name})
		areas := inside[name]
		slices.SortFunc(areas, func(a, b *area) int { return cmp.Compare(a.owner.home(), b.owner.home()) })
		for _, a := range areas {
			home := dir{parent: set, name: a.owner.home(), fileset: name, uid: a.owner.uid, gid: a.owner.gid}
			a.dirs = []int{len(l.dirs)}
			l.dirs = append(l.dirs, home)
			for _, sub := range []string{"2024", "archive", "data", "envs", "results", "runs"} {
				if l.rand.IntN(3) == 0 {
					a.dirs = append(a.dirs, len(l.dirs))
					l.dirs = append(l.dirs, dir{parent: a.dirs[0], name: sub, fileset: name, uid: home.uid, gid: home.gid})
				}
			}
		}
	}
}

// home returns what a person's directories are called.
func (p person) home() string {
	if p.name == "" {
		return fmt.Sprintf("u%d", p.uid)
	}
	return p.name
}

// addUnits fills an area with files that take about so many bytes, and with
// directories and symlinks.
func (l *layout) addUnits(a *area, bytes float64, fields map[string][]profile) {
	r := l.rand
	type chosen struct {
		profile
		weight float64
	}
	var types []chosen
	var sum float64
	choose := func(list []profile, odds, factor float64, always int) {
		for i, p := range list {
			if r.Float64() < odds || i == always {
				weight := factor * p.share * math.Exp(0.9*r.NormFloat64())
				types, sum = append(types, chosen{p, weight}), sum+weight
			}
		}
	}
	field := fields[a.owner.field]
	shares := make([]float64, len(field))
	for i, p := range field {
		if p.size > float64(8*mib) { // large data needs a type of large files
			shares[i] = p.share
		}
	}
	choose(field, l.variety, 1, weighted(r, shares))
	choose(fields[common], 0.05, l.small, -1)
	var files float64
	for _, t := range types {
		files += l.addFiles(a, t.fileType, bytes*t.weight/sum, t.size*math.Exp2(1.2*r.NormFloat64()))
	}
	extra := func(fileType string, entry usage.EntryType, n float64, size, allocated int64) {
		l.units = append(l.units, unit{
			key: usage.Key{
				UID: a.owner.uid, GID: a.owner.gid, Type: fileType, Fileset: a.fileset,
				SizeClass: usage.SizeNotFile, AgeClass: usage.AgeNotFile,
			},
			area: a, entry: entry, base: n, size: size, allocated: allocated, dir: a.dirs[0],
		})
	}
	extra(usage.TypeDir, usage.Directory, float64(len(a.dirs))+files/(15+60*r.Float64()), 0, 4*kib)
	if r.IntN(2) == 0 {
		extra(usage.TypeSymlink, usage.Symlink, 1+files/(400+900*r.Float64()), 20+r.Int64N(60), 0)
	}
	if r.IntN(25) == 0 {
		extra(usage.TypeSpecial, usage.Special, 1+float64(r.IntN(4)), 0, 0)
	}
}

// addFiles adds files of one type as three units around the typical size, and
// some empty ones where files are small. It returns how many there are.
func (l *layout) addFiles(a *area, fileType string, bytes, size float64) float64 {
	r := l.rand
	count := max(1, bytes/(size*(0.3*0.35+0.5+0.2*2.9)))
	for _, part := range []struct{ files, size float64 }{{0.3, 0.35}, {0.5, 1}, {0.2, 2.9}, {0.04, 0}} {
		n := count * part.files
		if n < 0.6 && part.size != 1 || part.size == 0 && (size > float64(256*kib) || r.IntN(3) > 0) {
			continue
		}
		each := int64(size * part.size * math.Exp2(0.5*(r.Float64()-0.5)))
		l.units = append(l.units, unit{
			key: usage.Key{
				UID: a.owner.uid, GID: a.owner.gid, Type: fileType, Fileset: a.fileset,
				SizeClass: usage.DefaultSizeClasses().Of(each),
			},
			area: a, base: n, size: each, allocated: l.geometry(each), read: 20 + r.Int64N(120),
			future: r.IntN(4000) == 0, dir: a.dirs[r.IntN(len(a.dirs))],
		})
	}
	return count
}

// addRoot adds what belongs to the administrators.
func (l *layout) addRoot() {
	for i, d := range l.dirs {
		if d.uid == root {
			l.units = append(l.units, unit{
				key: usage.Key{
					Type: usage.TypeDir, Fileset: d.fileset, SizeClass: usage.SizeNotFile, AgeClass: usage.AgeNotFile,
				},
				entry: usage.Directory, base: 1, allocated: 4 * kib, dir: i,
			})
		}
	}
	for fileType, size := range map[string]int64{usage.None: 2 * mib, "txt": 1877, "sh": 5120} {
		l.units = append(l.units, unit{
			key:  usage.Key{Type: fileType, SizeClass: usage.DefaultSizeClasses().Of(size)},
			base: 3, size: size, allocated: l.geometry(size),
		})
	}
}

// scale makes the file system as large as it is meant to be.
func (l *layout) scale() {
	var bytes float64
	for i := range l.units {
		bytes += l.units[i].base * float64(l.units[i].allocated)
	}
	for i := range l.units {
		if u := &l.units[i]; u.area != nil {
			u.base = max(u.base*l.bytes/bytes, 0.6)
		}
	}
}

// index sorts the units and gives each its places in the tables of a partial.
func (l *layout) index() {
	slices.SortStableFunc(l.units, func(a, b unit) int {
		return cmp.Or(
			cmp.Compare(a.key.UID, b.key.UID), cmp.Compare(a.key.GID, b.key.GID),
			cmp.Compare(a.key.Type, b.key.Type), cmp.Compare(a.key.Fileset, b.key.Fileset),
			cmp.Compare(a.key.SizeClass, b.key.SizeClass), cmp.Compare(a.size, b.size))
	})
	for i := range l.units {
		u := &l.units[i]
		if i == 0 || u.key != l.units[i-1].key {
			l.cells = append(l.cells, group{i, i})
		}
		l.cells[len(l.cells)-1].to = i + 1
		if u.entry == usage.File {
			l.users, l.sets = append(l.users, u.key.UID), append(l.sets, u.key.Fileset)
			for _, bar := range u.barsOf() {
				l.bars = append(l.bars, bar)
			}
		}
	}
	slices.Sort(l.users)
	slices.Sort(l.sets)
	slices.SortFunc(l.bars, compareBars)
	l.users, l.sets, l.bars = slices.Compact(l.users), slices.Compact(l.sets), slices.Compact(l.bars)
	for i := range l.units {
		u := &l.units[i]
		if u.entry != usage.File {
			continue
		}
		u.user, _ = slices.BinarySearch(l.users, u.key.UID)
		u.fileset, _ = slices.BinarySearch(l.sets, u.key.Fileset)
		for k, bar := range u.barsOf() {
			u.bars[k], _ = slices.BinarySearchFunc(l.bars, bar, compareBars)
		}
	}
}

// barsOf returns the bars of the histograms that the files of u count in.
func (u *unit) barsOf() (bars [6]usage.SizeCell) {
	for i, by := range []usage.Measure{usage.Size, usage.Allocated} {
		bytes := u.size
		if by == usage.Allocated {
			bytes = u.allocated
		}
		bar := usage.SizeCell{By: by, Bucket: usage.BucketOf(usage.ByteCount(bytes))}
		bar.Dimension, bar.Value = usage.User, usage.Value{ID: u.key.UID}
		bars[i] = bar
		bar.Dimension, bar.Value = usage.Type, usage.Value{Text: u.key.Type}
		bars[2+i] = bar
		bar.Dimension, bar.Value = usage.Fileset, usage.Value{Text: u.key.Fileset}
		bars[4+i] = bar
	}
	return bars
}

// compareBars orders bars as aggregate.Partial has them.
func compareBars(a, b usage.SizeCell) int {
	order := func(d usage.Dimension) int {
		return slices.Index([]usage.Dimension{usage.User, usage.Type, usage.Fileset}, d)
	}
	return cmp.Or(
		cmp.Compare(order(a.Dimension), order(b.Dimension)),
		cmp.Compare(a.Value.ID, b.Value.ID), cmp.Compare(a.Value.Text, b.Value.Text),
		-cmp.Compare(a.By, b.By), cmp.Compare(a.Bucket, b.Bucket)) // size comes before allocated
}
