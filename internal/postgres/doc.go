// Package postgres is the store: all SQL of the project, and nothing else knows
// any. It imports what a scan hands over, publishes it, and answers the readers.
//
// # One way in
//
// Import is the only way for numbers to get in. One transaction copies all of
// them and, at its end, completes the scan's row and turns
// filesystem.current_scan_id; until it commits every reader sees the previous
// scan. Dictionaries (file types, categories, names) and partitions are made in
// short transactions before it: they show nothing, and would block others if
// they were held for as long as a copy takes. An import holds the row of its
// file system, so imports of one file system queue up.
//
// # What is kept
//
//   - usage is the cube, one row per usage.Cell. Only filters read it. It has a
//     BRIN index, which holds because a scan is copied in one go.
//   - marginal has the sums over all dimensions but one. Pages and histories read
//     nothing else. Its second index carries the measures: the history of one
//     user touches the index alone.
//   - scan carries the totals, so the history of a file system is rows of scan.
//   - size_total has the fine histogram of the whole scan.
//   - usage, size_histogram, age_histogram and directory are details: partitioned
//     by retention tier and day (partition.go), dropped a partition at a time.
//     A scan without them is thinned, and readers of details say so. The other
//     tables are kept for ever.
//
// # Words
//
// A published scan has published_at set: it is complete and not suspect, it
// counts as history and may be the current one. A suspect scan (verdict.go) is
// kept, can be opened by its id, and is none of these.
//
// Every reader takes a usage.Scope and answers usage.ErrNotFound for what is
// outside of it, takes one snapshot for all its statements, and has a time-out.
// Leases live on the database's clock alone (lease.go).
//
// docs/adr/0002-store.md weighs the alternatives.
package postgres
