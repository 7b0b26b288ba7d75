package report

import (
	"math/big"
	"slices"

	"fstally/internal/usage"
)

// Bar is one bar of a histogram of regular files by size: what is over Over
// bytes and up to UpTo bytes.
type Bar struct {
	Over, UpTo     int64 // bytes; Over is -1 for the bar that holds empty files
	Files          int64
	Size           usage.Bytes
	Allocated      usage.Bytes
	FilesShare     float64 // of all bars, 0..1
	AllocatedShare float64
}

// Bars returns one bar for each fine bucket from the first to the last that
// holds a file, empty ones between them included; none where there is no file.
func Bars(rows []usage.BucketRow) []Bar {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r usage.BucketRow) bool { return r.Files == 0 })
	if len(rows) == 0 {
		return nil
	}
	byBucket := func(a, b usage.BucketRow) int { return int(a.Bucket) - int(b.Bucket) }
	first := slices.MinFunc(rows, byBucket).Bucket
	last := slices.MaxFunc(rows, byBucket).Bucket
	bars := make([]Bar, int(last)-int(first)+1)
	for i := range bars {
		b := first + usage.SizeBucket(i)
		bars[i] = Bar{Over: below(b), UpTo: usage.BucketBound(b)}
	}
	for _, row := range rows {
		bars[row.Bucket-first].add(row)
	}
	return withShares(bars)
}

// ClassBars folds the fine buckets into the five size classes of a scan. The
// bounds of classes are bounds of buckets, so nothing has to be estimated.
func ClassBars(classes usage.SizeClasses, rows []usage.BucketRow) []Bar {
	bars := make([]Bar, len(classes)+1)
	over := int64(-1)
	for i := range bars {
		upTo := usage.BucketBound(usage.SizeBuckets - 1)
		if i < len(classes) {
			upTo = classes[i]
		}
		bars[i] = Bar{Over: over, UpTo: upTo}
		over = upTo
	}
	for _, row := range rows {
		bars[classes.Of(usage.BucketBound(row.Bucket))].add(row)
	}
	return withShares(bars)
}

// below returns the exclusive lower bound of a bucket.
func below(b usage.SizeBucket) int64 {
	if b == 0 {
		return -1
	}
	return usage.BucketBound(b - 1)
}

func (b *Bar) add(row usage.BucketRow) {
	b.Files += row.Files
	b.Size = b.Size.Add(row.Size)
	b.Allocated = b.Allocated.Add(row.Allocated)
}

func withShares(bars []Bar) []Bar {
	var total usage.Measures
	for _, b := range bars {
		total.Add(b.Measures())
	}
	for i, b := range bars {
		bars[i].FilesShare = usage.Files.Share(b.Measures(), total)
		bars[i].AllocatedShare = usage.Allocated.Share(b.Measures(), total)
	}
	return bars
}

// Measures returns what the bar counts; the measures that no bar has are 0.
func (b *Bar) Measures() usage.Measures {
	return usage.Measures{Files: b.Files, Size: b.Size, Allocated: b.Allocated}
}

// Range is where a size lies as far as the fine buckets tell: over Over bytes
// and up to UpTo. A bucket of one size only has Over = UpTo - 1.
type Range struct{ Over, UpTo int64 }

// Exact reports a range that holds a single size, UpTo.
func (r Range) Exact() bool { return r.UpTo-r.Over == 1 }

// Quantile returns the bucket of the smallest size that at least the share q,
// over 0 and up to 1, of all files does not exceed: 0.5 is the median. It
// reports false where there is no file.
func Quantile(rows []usage.BucketRow, q float64) (Range, bool) {
	var counts [usage.SizeBuckets]int64
	var total int64
	for _, row := range rows {
		counts[row.Bucket] += row.Files
		total += row.Files
	}
	var sum int64
	for i, n := range counts {
		sum += n
		if n > 0 && float64(sum) >= q*float64(total) {
			b := usage.SizeBucket(i)
			return Range{Over: below(b), UpTo: usage.BucketBound(b)}, true
		}
	}
	return Range{}, false
}

// Mean returns the mean size of the files in bytes, rounded down, and reports
// false where there is no file.
func Mean(rows []usage.BucketRow) (usage.Bytes, bool) {
	var files int64
	var size usage.Bytes
	for _, row := range rows {
		files += row.Files
		size = size.Add(row.Size)
	}
	if files == 0 {
		return usage.Bytes{}, false
	}
	mean, err := usage.BytesFromBig(new(big.Int).Div(size.Big(), big.NewInt(files)))
	return mean, err == nil
}

// Empty returns how many files hold nothing.
func Empty(rows []usage.BucketRow) int64 {
	var files int64
	for _, row := range rows {
		if row.Bucket == 0 {
			files += row.Files
		}
	}
	return files
}
