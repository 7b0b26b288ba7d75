// Package result is the container that carries a scan from where it ran to the
// store: one file, versioned, self-describing, verified as a whole before
// anything of it is used. docs/result-format.md describes it byte by byte.
//
// The child process that scans writes it and needs no database; whoever holds
// the database reads it. That keeps rights apart, lets results travel, and
// lets a complete result survive a database that is away.
package result
