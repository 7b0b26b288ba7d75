// Package usage holds the words of fstally as types: what an entry is, what a
// key is, which measures are kept, where the classes lie, how a name is shown.
//
// It is pure: no I/O, no clock, no imports of ours. Everything else in the
// project speaks in these types, so that a rule such as "an inode of a FIFO has
// no size" or "1048575 bytes are shown as 1023.9 KiB" is written down once.
package usage
