// Package classify turns an entry into the key that its usage is summed under:
// the file type from its name, its size class and its age class.
//
// It runs once per entry, so it allocates nothing for a type that it has seen.
package classify
