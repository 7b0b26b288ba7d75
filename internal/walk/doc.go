// Package walk reads a mounted tree and hands its entries, with the attributes
// of their inodes, to sinks.
//
// It knows the rules of what belongs to a scan (one file system, no snapshots,
// no symbolic link followed, nothing but directories opened) and turns what
// goes wrong on the way into data, so that a scan of 10^9 entries does not stop
// for one of them. What entries mean is not its business: see classify and
// aggregate.
//
// An [Engine] decides how directories are listed and attributes read: [Linux] is
// for use, [Fastwalk] is what it is held against. The rules (rules.go), what a
// walk in progress needs (run.go), the folding of failures (report.go) and the
// inspection of the mount (mount.go) are the same for all. [FS] lies under the
// engines, so that tests can make a file system fail: see walktest.
package walk
