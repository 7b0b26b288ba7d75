// Package fileset decides which fileset a directory belongs to, by rules over
// its path: each directory at one depth is a fileset, and named paths override
// that inside their subtrees.
package fileset
