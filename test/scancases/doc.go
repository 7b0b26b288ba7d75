// Package scancases holds whole scans of real trees to the faults that people
// reported against tools of this kind. The tests name the cases, which are numbered:
// C001 and so on. Each runs with every walk engine and several numbers of walkers,
// is held to the oracle, and to what the case says.
package scancases
