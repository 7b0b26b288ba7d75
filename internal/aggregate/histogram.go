package aggregate

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"fstally/internal/usage"
)

// histograms are the bars and ages of users, types and filesets that all shards
// pour into. Each dimension has a lock of its own, so that several shards can pour
// at a time.
type histograms struct {
	users    dimension // by uid
	types    dimension // by number; without ages
	filesets dimension // by number
}

// dimension holds the histograms of the values of one dimension.
type dimension struct {
	mu     sync.Mutex
	of     func(*cell) uint32
	ages   bool
	values map[uint32]*breakdown
	beyond map[place]usage.Measures // what does not fit into 64 bits, and is rare
}

// breakdown holds the histograms of one user, type or fileset.
type breakdown struct {
	bars pages
	ages *[2][usage.AgeClasses]measured // by mtime, by atime; nil where there are none
}

// pages is an array of a pair of bars for each size bucket, made in pages as they
// are touched: most users and types keep to a few neighbouring buckets.
type pages [(usage.SizeBuckets + pageSize - 1) / pageSize]*[pageSize]bars

const pageSize = 8

// bars are those of one bucket by size and by allocated. They stand together, as a
// file is mostly in the same bucket by both.
type bars [2]bar

// bar and measured hold sums below 2^63.
type bar struct {
	files           int64
	size, allocated uint64
}

type measured struct {
	bar
	slack uint64
}

// place is a bar or an age in the histograms of a dimension.
type place struct {
	value    uint32
	ages     bool
	by, slot uint8 // index of the bar or clock; bucket or class
}

func (h *histograms) init() {
	h.users.init(true, func(c *cell) uint32 { uid, _ := unpair(c.owner); return uid })
	h.types.init(false, func(c *cell) uint32 { typ, _ := unpair(c.kind); return typ })
	h.filesets.init(true, func(c *cell) uint32 { _, fileset := unpair(c.kind); return fileset })
}

func (d *dimension) init(ages bool, of func(*cell) uint32) {
	d.of, d.ages = of, ages
	d.values = make(map[uint32]*breakdown)
	d.beyond = make(map[place]usage.Measures)
}

// pour adds the regular files in cells of a buffer.
func (h *histograms) pour(from []cell) {
	h.users.pour(from)
	h.types.pour(from)
	h.filesets.pour(from)
}

func (d *dimension) pour(from []cell) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range from {
		if c := &from[i]; c.count > 0 && c.isFile() {
			d.add(c)
		}
	}
}

func (d *dimension) add(c *cell) {
	value := d.of(c)
	b := d.values[value]
	if b == nil {
		b = new(breakdown)
		if d.ages {
			b.ages = new([2][usage.AgeClasses]measured)
		}
		d.values[value] = b
	}
	for by, bucket := range c.buckets() {
		bar := &b.bars.at(bucket)[by]
		if bar.add(c) {
			d.spill(place{value, false, uint8(by), uint8(bucket)}, bar, 0)
		}
	}
	if !d.ages {
		return
	}
	for clock, class := range c.ages() {
		m := &b.ages[clock][class]
		m.slack += c.slack
		if m.add(c) || m.slack>>63 != 0 {
			d.spill(place{value, true, uint8(clock), uint8(class)}, &m.bar, m.slack)
			m.slack = 0
		}
	}
}

func (c *cell) buckets() [2]usage.SizeBucket {
	return [2]usage.SizeBucket{c.class.size(), c.class.allocated()}
}

func (c *cell) ages() [2]usage.AgeClass { return [2]usage.AgeClass{c.class.mtime(), c.class.atime()} }

// add reports that the sums have to be moved before the next one.
func (b *bar) add(c *cell) (full bool) {
	b.files += int64(c.count)
	b.size += c.size
	b.allocated += c.allocated
	return (b.size|b.allocated)>>63 != 0
}

func (p *pages) at(b usage.SizeBucket) *bars {
	page := &p[b/pageSize]
	if *page == nil {
		*page = new([pageSize]bars)
	}
	return &(*page)[b%pageSize]
}

// pourBeyond adds one regular file whose sums do not fit into c.
func (h *histograms) pourBeyond(c *cell, m usage.Measures) {
	if !c.isFile() {
		return
	}
	for _, d := range []*dimension{&h.users, &h.types, &h.filesets} {
		d.pourBeyond(c, m)
	}
}

func (d *dimension) pourBeyond(c *cell, m usage.Measures) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.add(c)
	m.Files, m.Inodes = 0, 0 // they are in c
	for by, bucket := range c.buckets() {
		d.addBeyond(place{d.of(c), false, uint8(by), uint8(bucket)}, m)
	}
	if d.ages {
		for clock, class := range c.ages() {
			d.addBeyond(place{d.of(c), true, uint8(clock), uint8(class)}, m)
		}
	}
}

// spill moves sums that would soon not fit to those of 128 bits.
func (d *dimension) spill(p place, b *bar, slack uint64) {
	d.addBeyond(p, usage.Measures{
		Size:      usage.BytesFromWords(0, b.size),
		Allocated: usage.BytesFromWords(0, b.allocated),
		Slack:     usage.BytesFromWords(0, slack),
	})
	b.size, b.allocated = 0, 0
}

func (d *dimension) addBeyond(p place, m usage.Measures) {
	sum := d.beyond[p]
	sum.Add(m)
	d.beyond[p] = sum
}

// rows appends the histograms in the order of Partial.Sizes and Partial.Ages. name
// tells the value of a number, and may be the same for two.
func (d *dimension) rows(
	sizes []usage.SizeCell, ages []usage.AgeCell, of usage.Dimension, name func(uint32) usage.Value,
) ([]usage.SizeCell, []usage.AgeCell) {
	names := make(map[uint32]usage.Value, len(d.values))
	for n := range d.values {
		names[n] = name(n)
	}
	for _, n := range slices.SortedFunc(maps.Keys(d.values), func(a, b uint32) int {
		return cmp.Or(cmp.Compare(names[a].ID, names[b].ID), cmp.Compare(names[a].Text, names[b].Text))
	}) {
		b := d.values[n]
		delete(d.values, n)
		for by, measure := range [2]usage.Measure{usage.Size, usage.Allocated} {
			b.bars.each(by, func(bucket usage.SizeBucket, bar *bar) {
				m := d.measures(place{n, false, uint8(by), uint8(bucket)}, bar, 0)
				sizes = append(sizes, usage.SizeCell{
					Dimension: of, Value: names[n], By: measure, Bucket: bucket,
					Files: m.Files, Size: m.Size, Allocated: m.Allocated,
				})
			})
		}
		if b.ages == nil {
			continue
		}
		for i, clock := range [2]usage.Clock{usage.ByMtime, usage.ByAtime} {
			for class := range b.ages[i] {
				m := &b.ages[i][class]
				if m.files > 0 {
					ages = append(ages, usage.AgeCell{
						Dimension: of, Value: names[n], Clock: clock, Class: usage.AgeClass(class),
						Measures: d.measures(place{n, true, uint8(i), uint8(class)}, &m.bar, m.slack),
					})
				}
			}
		}
	}
	return sizes, ages
}

// each calls f for every bar that holds a file, by bucket.
func (p *pages) each(by int, f func(usage.SizeBucket, *bar)) {
	for i, page := range p {
		if page == nil {
			continue
		}
		for j := range page {
			if b := &page[j][by]; b.files > 0 {
				f(usage.SizeBucket(i*pageSize+j), b)
			}
		}
	}
}

// measures returns the whole sums at a place.
func (d *dimension) measures(p place, b *bar, slack uint64) usage.Measures {
	m := usage.Measures{
		Files:     b.files,
		Inodes:    b.files,
		Size:      usage.BytesFromWords(0, b.size),
		Allocated: usage.BytesFromWords(0, b.allocated),
		Slack:     usage.BytesFromWords(0, slack),
	}
	if len(d.beyond) > 0 {
		m.Add(d.beyond[p])
	}
	return m
}
