package storetest

import (
	"cmp"
	"context"
	"slices"

	"fstally/internal/usage"
)

// ExistsError is the error for a name or a root that another file system has.
type ExistsError struct{}

func (ExistsError) Error() string { return "already exists" }

// Conflict reports true.
func (ExistsError) Conflict() bool { return true }

func (s *Store) taken(f usage.FileSystem) bool {
	return slices.ContainsFunc(s.Systems, func(other usage.FileSystem) bool {
		return other.ID != f.ID && (other.Name == f.Name || other.Root == f.Root)
	})
}

// AddFileSystem registers a file system as a store does; for a test's own there is Watch.
func (s *Store) AddFileSystem(_ context.Context, f usage.FileSystem) (usage.FileSystem, error) {
	if s.taken(f) {
		return f, ExistsError{}
	}
	for _, other := range s.Systems {
		f.ID = max(f.ID, other.ID)
	}
	f.ID++
	s.Systems = append(s.Systems, f)
	return f, s.Err
}

// UpdateFileSystem writes the settings of a file system.
func (s *Store) UpdateFileSystem(_ context.Context, f usage.FileSystem) error {
	if s.taken(f) {
		return ExistsError{}
	}
	for i := range s.Systems {
		if s.Systems[i].ID == f.ID {
			s.Systems[i] = f
			return s.Err
		}
	}
	return cmp.Or(s.Err, usage.ErrNotFound)
}

// RemoveFileSystem removes a file system and its scans.
func (s *Store) RemoveFileSystem(_ context.Context, id int64) error {
	for _, scan := range s.AllScans {
		if scan.FileSystemID == id && !scan.State.Ended() {
			return BusyError(scan.ID)
		}
	}
	s.Systems = slices.DeleteFunc(s.Systems, func(f usage.FileSystem) bool { return f.ID == id })
	s.AllScans = slices.DeleteFunc(s.AllScans, func(scan usage.Scan) bool { return scan.FileSystemID == id })
	s.Plans = slices.DeleteFunc(s.Plans, func(p usage.Schedule) bool { return p.FileSystemID == id })
	return s.Err
}

// Schedules lists those in the scope, by file system.
func (s *Store) Schedules(_ context.Context, scope usage.Scope) ([]usage.Schedule, error) {
	var seen []usage.Schedule
	for _, p := range s.Plans {
		if scope.Sees(p.FileSystemID) {
			seen = append(seen, p)
		}
	}
	slices.SortFunc(seen, func(a, b usage.Schedule) int { return cmp.Compare(a.FileSystemID, b.FileSystemID) })
	return seen, s.Err
}

// SetSchedule gives a file system a schedule.
func (s *Store) SetSchedule(ctx context.Context, schedule usage.Schedule) error {
	_ = s.RemoveSchedule(ctx, schedule.FileSystemID) // if there is one
	s.Plans = append(s.Plans, schedule)
	return s.Err
}

// RemoveSchedule takes it away.
func (s *Store) RemoveSchedule(_ context.Context, fileSystemID int64) error {
	before := len(s.Plans)
	s.Plans = slices.DeleteFunc(s.Plans, func(p usage.Schedule) bool { return p.FileSystemID == fileSystemID })
	if len(s.Plans) == before {
		return cmp.Or(s.Err, usage.ErrNotFound)
	}
	return s.Err
}

// RejectScan marks a suspect scan as not to be believed.
func (s *Store) RejectScan(ctx context.Context, scope usage.Scope, id int64) (usage.Scan, error) {
	scan, err := s.Scan(ctx, scope, id)
	if err != nil {
		return scan, err
	}
	if scan.Verdict != usage.Suspect {
		return scan, EndedError{}
	}
	for i := range s.AllScans {
		if s.AllScans[i].ID == id {
			s.AllScans[i].Rejected = true
			scan = s.AllScans[i]
		}
	}
	return scan, nil
}

// QueueDepth counts the scans that wait and those that run.
func (s *Store) QueueDepth(context.Context) (queued, running int64, err error) {
	for _, scan := range s.AllScans {
		switch scan.State {
		case usage.Queued:
			queued++
		case usage.Running:
			running++
		default:
		}
	}
	return queued, running, s.Err
}

// Retention returns Kept.
func (s *Store) Retention(context.Context) (usage.Retention, error) { return s.Kept, s.Err }

// SetRetention sets Kept.
func (s *Store) SetRetention(_ context.Context, r usage.Retention) error {
	s.Kept = r
	return s.Err
}
