package usage

import (
	"cmp"
	"fmt"
)

// Measures are the six sums kept for every key of a scan. Files and Inodes are
// counts, each inode once; the others are bytes.
type Measures struct {
	Files     int64 // regular files
	Inodes    int64 // entries of any type
	Size      Bytes // st_size of files and symlinks
	Allocated Bytes // st_blocks x 512 of every entry
	Slack     Bytes // max(0, allocated - size) of files
	Offline   Bytes // size of files whose data is not on disk; 0 where unknown
}

// Add adds n to m.
func (m *Measures) Add(n Measures) {
	m.Files += n.Files
	m.Inodes += n.Inodes
	m.Size = m.Size.Add(n.Size)
	m.Allocated = m.Allocated.Add(n.Allocated)
	m.Slack = m.Slack.Add(n.Slack)
	m.Offline = m.Offline.Add(n.Offline)
}

// Sub returns m - n, each measure at least 0.
func (m Measures) Sub(n Measures) Measures {
	return Measures{
		Files:     max(0, m.Files-n.Files),
		Inodes:    max(0, m.Inodes-n.Inodes),
		Size:      m.Size.Sub(n.Size),
		Allocated: m.Allocated.Sub(n.Allocated),
		Slack:     m.Slack.Sub(n.Slack),
		Offline:   m.Offline.Sub(n.Offline),
	}
}

// IsZero reports whether nothing was counted.
func (m Measures) IsZero() bool { return m == Measures{} }

// Measure names one of the six measures; its text is the one of addresses, the
// API and CSV heads.
type Measure string

// The measures.
const (
	Files     Measure = "files"
	Inodes    Measure = "inodes"
	Size      Measure = "size"
	Allocated Measure = "allocated"
	Slack     Measure = "slack"
	Offline   Measure = "offline"
)

// AllMeasures lists the measures in the order of every table and export.
func AllMeasures() []Measure {
	return []Measure{Files, Inodes, Size, Allocated, Slack, Offline}
}

// ParseMeasure reads the name of a measure.
func ParseMeasure(s string) (Measure, error) {
	for _, m := range AllMeasures() {
		if string(m) == s {
			return m, nil
		}
	}
	return "", fmt.Errorf("%q is not a measure: use one of %v", s, AllMeasures())
}

// IsBytes reports whether the measure is a number of bytes and not a count.
func (m Measure) IsBytes() bool { return m != Files && m != Inodes }

// Of returns the value of this measure, counts included, as a 128-bit number.
func (m Measure) Of(v Measures) Bytes {
	switch m {
	case Files:
		return ByteCount(v.Files)
	case Inodes:
		return ByteCount(v.Inodes)
	case Size:
		return v.Size
	case Slack:
		return v.Slack
	case Offline:
		return v.Offline
	default:
		return v.Allocated
	}
}

// Share returns part/whole of the measure in 0..1, and 0 where the whole is 0.
func (m Measure) Share(part, whole Measures) float64 {
	w := m.Of(whole)
	if w.IsZero() {
		return 0
	}
	return m.Of(part).Float64() / w.Float64()
}

// Row is the usage of one value of one dimension.
type Row struct {
	// ID is the number behind the key of users, groups, pools and classes; 0
	// for types, categories and filesets, which are ordered by Key.
	ID int64
	// Key identifies the value in filters and addresses, escaped.
	Key string
	// Name is what a person reads, escaped; it is the key where there is none.
	Name string
	Measures
}

// Compare orders rows for tables and top-N lists: measure descending, then
// numeric id, then bytewise key. No two rows of one dimension compare equal.
func (m Measure) Compare(a, b Row) int {
	return cmp.Or(-m.Of(a.Measures).Cmp(m.Of(b.Measures)), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Key, b.Key))
}
