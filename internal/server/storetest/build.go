package storetest

import (
	"time"

	"fstally/internal/usage"
)

// Tree is what a scan found: one line per user, type and fileset.
type Tree []Line

// Line stands for some equal files.
type Line struct {
	UID     uint32
	Type    string
	Fileset string // raw
	Files   int64
	Size    int64 // of each file, in bytes; as much is allocated, in whole blocks of 4 KiB
}

// Watch adds a file system with the next id.
func (s *Store) Watch(name, root string) int64 {
	id := int64(len(s.Systems) + 1)
	s.Systems = append(s.Systems, usage.FileSystem{
		ID: id, Name: name, Root: root, Type: "xfs", SizeClasses: usage.DefaultSizeClasses(),
		Filesets: usage.FilesetRules{Depth: 1}, Created: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC),
	})
	return id
}

// AddScan appends a clean scan of the tree that started at a time and took two
// hours. It becomes current. The day is that of the time's own zone.
func (s *Store) AddScan(fsID int64, started time.Time, tree Tree) *usage.Scan {
	scan := s.add(usage.Scan{
		FileSystemID: fsID, Attempt: 1, State: usage.Complete, Verdict: usage.Clean,
		Day: started.Format(time.DateOnly), Queued: started, Started: started,
		Finished: started.Add(2 * time.Hour), Published: started.Add(2*time.Hour + time.Minute),
		SizeClasses: usage.DefaultSizeClasses(), Root: s.Systems[fsID-1].Root, FSType: "xfs",
		Engine: "fastwalk", Host: "node1", Freshness: "exact",
	})
	sum := tree.Summary()
	if s.Content == nil {
		s.Content = map[int64]*usage.Summary{}
	}
	s.Content[scan.ID] = sum
	scan.Totals, scan.Counters = sum.Totals, sum.Counters
	scan.Distinct = usage.Distinct{
		Users: int64(len(sum.Marginal(usage.User))), Groups: 1,
		Types: int64(len(sum.Marginal(usage.Type))), Filesets: int64(len(sum.Marginal(usage.Fileset))),
	}
	s.Systems[fsID-1].CurrentScanID = scan.ID
	return scan
}

// AddState appends a scan that is not complete.
func (s *Store) AddState(fsID int64, started time.Time, state usage.ScanState) *usage.Scan {
	return s.add(usage.Scan{
		FileSystemID: fsID, Attempt: 1, State: state, Queued: started, Started: started,
		Root: s.Systems[fsID-1].Root, Progress: usage.Progress{Entries: 12345, Directory: "some/dir", Phase: "walking"},
	})
}

func (s *Store) add(scan usage.Scan) *usage.Scan {
	scan.ID = int64(len(s.AllScans) + 1)
	s.AllScans = append(s.AllScans, scan)
	return &s.AllScans[len(s.AllScans)-1]
}

// Summary returns what a scan of the tree hands over.
func (tree Tree) Summary() *usage.Summary {
	sum := &usage.Summary{Categories: map[string]string{}}
	classes := usage.DefaultSizeClasses()
	for _, l := range tree {
		size := usage.ByteCount(l.Size)
		allocated := usage.ByteCount((l.Size + 4095) / 4096 * 4096)
		m := usage.Measures{Files: l.Files, Inodes: l.Files}
		for range l.Files {
			m.Size, m.Allocated = m.Size.Add(size), m.Allocated.Add(allocated)
			m.Slack = m.Slack.Add(allocated.Sub(size))
		}
		sum.Totals.Add(m)
		sum.Counters.Entries += l.Files
		sum.Counters.Links += l.Files
		sum.Categories[l.Type] = "data"
		sum.Cells = append(sum.Cells, usage.Cell{
			Key:      usage.Key{UID: l.UID, GID: 100, Type: l.Type, Fileset: l.Fileset, SizeClass: classes.Of(l.Size)},
			Measures: m,
		})
		for d, v := range map[usage.Dimension]usage.Value{
			usage.User: {ID: l.UID}, usage.Type: {Text: l.Type}, usage.Fileset: {Text: l.Fileset},
		} {
			sum.Sizes = append(sum.Sizes, usage.SizeCell{
				Dimension: d, Value: v, By: usage.Size, Bucket: usage.BucketOf(size),
				Files: l.Files, Size: m.Size, Allocated: m.Allocated,
			})
		}
	}
	return sum
}
