// Package scan runs one scan from a path to a result: it inspects the mount,
// walks it, adds up, asks for the names of the ids that were found, and hands
// back what package result writes to a file. It knows no database and no
// terminal; progress goes to a function of the caller's.
package scan
