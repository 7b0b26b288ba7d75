// Package demo invents a site: two file systems of an HPC centre, scanned every
// night for years. It is what a stranger sees first, what pictures and browser
// tests show, and what pages are timed on, so it has to look like a real site and
// be the same each time.
//
// What it makes is what a scan hands over, an aggregate.Partial with its
// usage.Meta, and it goes into the store by the import of a real result. Only the
// walk is left out: nobody could write 400 million files.
//
// From the outside in:
//
//   - site.go: the people, their groups and fields of research.
//   - profiles.go, profiles.txt: which file types a field has, and how large.
//   - area.go: an area is what one user has in one fileset, and how it grows.
//   - layout.go: a file system as units, groups of equal files, in the order of
//     the cube, with the directories that hold them.
//   - night.go: how units age and change from one night to the next.
//   - partial.go: a night as a scan would have seen it.
//   - calendar.go: which nights there are, and what went wrong in some.
//   - fill.go: all of it, into a store.
//
// Details of old nights are left out as retention would have left them.
package demo
