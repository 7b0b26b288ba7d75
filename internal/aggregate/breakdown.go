package aggregate

import "fstally/internal/usage"

// breakdown holds the histograms of one user, type or fileset.
type breakdown struct {
	bySize      histogram
	byAllocated histogram
	ages        *[2][usage.AgeClasses]usage.Measures // by mtime, by atime; nil before the first
}

// histogram is an array of one bar per size bucket, made in pages as they are
// touched: most users and types keep to a few neighbouring buckets, and there
// is a histogram for each of them in every shard.
type histogram [(usage.SizeBuckets + pageSize - 1) / pageSize]*[pageSize]bar

const pageSize = 8

type bar struct {
	files           int64
	size, allocated usage.Bytes
}

func (h *histogram) bar(b usage.SizeBucket) *bar {
	page := &h[b/pageSize]
	if *page == nil {
		*page = new([pageSize]bar)
	}
	return &(*page)[b%pageSize]
}

func (b *bar) add(o bar) {
	b.files += o.files
	b.size = b.size.Add(o.size)
	b.allocated = b.allocated.Add(o.allocated)
}

func (b *bar) remove(o bar) {
	b.files -= o.files
	b.size = b.size.Sub(o.size)
	b.allocated = b.allocated.Sub(o.allocated)
}

// each calls f for every bar that holds a file, by bucket.
func (h *histogram) each(f func(usage.SizeBucket, bar)) {
	for i, page := range h {
		if page == nil {
			continue
		}
		for j, b := range page {
			if b.files != 0 {
				f(usage.SizeBucket(i*pageSize+j), b)
			}
		}
	}
}

func (b *breakdown) addSize(m usage.Measures) {
	one := bar{1, m.Size, m.Allocated}
	b.bySize.bar(usage.BucketOf(m.Size)).add(one)
	b.byAllocated.bar(usage.BucketOf(m.Allocated)).add(one)
}

func (b *breakdown) removeSize(m usage.Measures) {
	one := bar{1, m.Size, m.Allocated}
	b.bySize.bar(usage.BucketOf(m.Size)).remove(one)
	b.byAllocated.bar(usage.BucketOf(m.Allocated)).remove(one)
}

func (b *breakdown) age(clock int, class usage.AgeClass) *usage.Measures {
	if b.ages == nil {
		b.ages = new([2][usage.AgeClasses]usage.Measures)
	}
	return &b.ages[clock][class]
}

func (b *breakdown) addAges(mtime, atime usage.AgeClass, m usage.Measures) {
	b.age(0, mtime).Add(m)
	b.age(1, atime).Add(m)
}

func (b *breakdown) removeAges(mtime, atime usage.AgeClass, m usage.Measures) {
	for clock, class := range [2]usage.AgeClass{mtime, atime} {
		sum := b.age(clock, class)
		*sum = sum.Sub(m)
	}
}

func (b *breakdown) merge(o *breakdown) {
	o.bySize.each(func(i usage.SizeBucket, n bar) { b.bySize.bar(i).add(n) })
	o.byAllocated.each(func(i usage.SizeBucket, n bar) { b.byAllocated.bar(i).add(n) })
	if o.ages == nil {
		return
	}
	for clock, classes := range o.ages {
		for class, m := range classes {
			b.age(clock, usage.AgeClass(class)).Add(m)
		}
	}
}
