//go:build linux

// Command scan times scans of this machine's file systems beside other programs that
// do as much or less:
//
//	test/bench/scan/run [-dir DIR] [-scale 0.1] [-n 5] [-only mdtest/life]
//
// It makes trees of three shapes, each with two ways to give attributes, and runs all
// programs on one tree in turns, again and again, so that what else the machine does
// hits all of them alike. The table is of medians, and of ratios to the yardstick and
// to du. Each program is run once before, which warms the caches and shows whether it
// counts right.
//
// The yardstick is yardstick/cwalk.c: a C program that lists and stats a tree with as
// many threads as there are cores and sums up nothing, the floor under whatever stats
// each entry.
//
//   - shape.go: how directories lie in a tree, and how many files are in each.
//   - attributes.go: whose the files are, how they are called and how large they are.
//   - plant.go: makes a tree, unless it is there already.
//   - program.go: the programs and how they are run.
//   - report.go: the table.
//   - memory.go: peak memory of scans of 10^5 and more files, with -memory.
//
// It is a report, not a test.
package main
