package report

import "fstally/internal/usage"

// Space says how what a scan found adds up with what the file system says.
// Found + Unseen + Free = Size, unless Excess is more than 0.
type Space struct {
	Known  bool        // false where nothing told the size; the rest is then 0, but for Found
	Size   usage.Bytes // of the file system
	Used   usage.Bytes // as df shows it
	Found  usage.Bytes // allocated to the entries of the scan
	Unseen usage.Bytes // used, but not found: snapshots, metadata, unreadable directories, deleted open files
	Free   usage.Bytes // space for root included
	// Excess is by how much Found is more than Used, which happens when data
	// is deleted or written during the scan, or shared by clones.
	Excess usage.Bytes
}

// NewSpace compares the allocated bytes of a scan with the statfs at its start.
func NewSpace(c usage.Capacity, found usage.Bytes) Space {
	if c.Size.IsZero() {
		return Space{Found: found}
	}
	used := c.Used()
	return Space{
		Known:  true,
		Size:   c.Size,
		Used:   used,
		Found:  found,
		Unseen: used.Sub(found),
		Free:   c.Size.Sub(used),
		Excess: found.Sub(used),
	}
}

// ShareOf returns the share of one of the parts in the size, at most 1: found
// can be more than there is. It is 0 where the size is unknown.
func (s Space) ShareOf(part usage.Bytes) float64 {
	if s.Size.IsZero() {
		return 0
	}
	return min(1, part.Float64()/s.Size.Float64())
}

// InodesUsed returns the inodes in use and their share of the limit; ok is
// false where the file system has no limit or does not tell.
func InodesUsed(c usage.Capacity) (used int64, share float64, ok bool) {
	if c.InodesTotal <= 0 || c.InodesFree < 0 || c.InodesFree > c.InodesTotal {
		return 0, 0, false
	}
	used = c.InodesTotal - c.InodesFree
	return used, float64(used) / float64(c.InodesTotal), true
}
