// Package oracle counts a tree slowly and simply, as the truth that scans are
// held against.
//
// It lists with find(1) and folds the listing by the counting rules,
// written a second time and without regard to speed. Nothing of walk, classify,
// fileset or aggregate may be imported here: a fault that both sides share would
// not be found.
package oracle
