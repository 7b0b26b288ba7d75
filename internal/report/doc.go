// Package report turns stored usage into what people compare: top-N lists that
// are parts of a whole, changes since an earlier scan, the pace of growth, the
// histogram over size classes, and how a scan adds up with the file system.
//
// It is pure: no I/O, no clock, no words for pages. Pages and the API share it,
// so that both give the same numbers.
package report
