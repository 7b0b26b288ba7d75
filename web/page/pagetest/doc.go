// Package pagetest holds every page in every state that a viewer can meet, with
// invented data: a rich file system, a first scan, nothing at all, hostile names,
// numbers beyond 64 bits. Tests check them, and the command web/preview serves
// them to whoever works on the looks.
package pagetest
