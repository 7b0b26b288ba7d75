// Package aggregate turns a stream of entries into totals.
//
// Each walker has a [Shard] of its own and shares nothing with the others while
// the walk runs. [Finish] adds the shards up to a [Partial]: the cube, the
// histograms, the directory tree and the hard links of which a name is still
// missing. Partials of disjoint subtrees add up with [Partial.Merge] to what
// one scan of both gives, and [Partial.Summary] makes the final numbers.
//
// All of it is addition, so neither the number of walkers nor their timing
// changes anything. The two rules that are no sums are made so: an inode with
// several names is added only when all names have been seen, under the bytewise
// smallest of its paths; and when a merge shows a smaller path, what the larger
// one had added is subtracted again.
package aggregate
