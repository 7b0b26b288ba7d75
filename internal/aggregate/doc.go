// Package aggregate turns a stream of entries into totals.
//
// A [Tally] holds the sums of one walk. Each walker adds through a [Shard] of its
// own, which sums cells of the finest grain in a small table and pours them into
// the tally when it is full; see buffer.go for why. What the shards share otherwise
// is the directories that are being read (directories.go) and the inodes that have
// several names (links.go), a lock for each call of Add and each such name.
// [Tally.Finish] makes a [Partial] of it: the cube, the histograms, the directory
// tree and the hard links of which a name is still missing. Partials of disjoint
// subtrees add up with [Partial.Merge] to what one scan of both gives, and
// [Partial.Summary] makes the final numbers.
//
// All of it is addition, so neither the number of walkers nor their timing changes
// anything. The two rules that are no sums are made so: an inode with several names
// is added only when all names have been seen, under the bytewise smallest of its
// paths; and when a merge shows a smaller path, what the larger one had added is
// subtracted again.
//
// # Memory
//
// What a walk takes follows from what it meets, on 64-bit machines:
//
//	for each                                   bytes
//	cell of the cube, at most Options.MaxCells  64 to 130 while the walk runs, 136 more in the Partial
//	file type, at most classify.MaxTypes        110, and 500 to 2,500 for its histogram
//	user, fileset                               1,000 to 4,000, as they use few or many size buckets
//	directory that was listed and not yet left  80
//	directory that is being read                270, and 90 for each further owner below it
//	directory that was left                     0, or 300 where it is worth a row (tree.go)
//	inode with several names                    130, and the Dir of its smallest path
//	shard                                       400 KiB
//
// An engine that never calls Leave leaves every directory "being read".
package aggregate
