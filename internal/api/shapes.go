package api

import (
	"time"

	"github.com/danielgtaylor/huma/v2"

	"fstally/internal/usage"
)

// bytesSchema describes usage.Bytes, whose digits no fixed format holds.
type bytesSchema struct{}

// Schema has no format: int64 would be too small.
func (bytesSchema) Schema(huma.Registry) *huma.Schema {
	least := 0.0
	return &huma.Schema{
		Type: huma.TypeInteger, Minimum: &least,
		Description: "An exact number of bytes of up to 128 bits.",
	}
}

// value is a value of any measure, or null where it is unknown.
type value struct{ of *usage.Bytes }

// Schema is that of bytes, or null.
func (value) Schema(r huma.Registry) *huma.Schema {
	s := bytesSchema{}.Schema(r)
	s.Nullable = true
	s.Description = "An exact number, of bytes or of files or inodes; null where it is unknown."
	return s
}

// MarshalJSON writes the digits or null.
func (v value) MarshalJSON() ([]byte, error) {
	if v.of == nil {
		return []byte("null"), nil
	}
	return v.of.MarshalJSON()
}

// cell writes the digits or nothing.
func (v value) cell() cell {
	if v.of == nil {
		return ""
	}
	return number(*v.of)
}

// Measures are the sums of a part or of the whole.
type Measures struct {
	Files     int64        `json:"files" doc:"Regular files, each inode once."`
	Inodes    int64        `json:"inodes" doc:"Entries of any type, each inode once."`
	Size      usage.Bytes  `json:"size" doc:"Apparent bytes of files and symlinks."`
	Allocated usage.Bytes  `json:"allocated" doc:"Bytes on disk of every entry, replicas included where the file system counts them."`
	Slack     usage.Bytes  `json:"slack" doc:"Bytes allocated beyond the size of files."`
	Offline   *usage.Bytes `json:"offline,omitempty" doc:"Size of files whose data is not on disk; absent where the scan could not tell."`
}

// newMeasures leaves out what the scan did not measure.
func newMeasures(m usage.Measures, scan *usage.Scan) Measures {
	out := Measures{Files: m.Files, Inodes: m.Inodes, Size: m.Size, Allocated: m.Allocated, Slack: m.Slack}
	if scan != nil && scan.Offline {
		out.Offline = &m.Offline
	}
	return out
}

// measureColumns are the heads of the measures in CSV, in the order of cells.
func measureColumns() []string {
	return []string{"files", "inodes", "size_bytes", "allocated_bytes", "slack_bytes", "offline_bytes"}
}

func (m *Measures) cells() []cell {
	return []cell{
		number(m.Files), number(m.Inodes), number(m.Size), number(m.Allocated), number(m.Slack),
		value{m.Offline}.cell(),
	}
}

// column is the head of one measure in CSV.
func column(m usage.Measure) string {
	if m.IsBytes() {
		return string(m) + "_bytes"
	}
	return string(m)
}

// scanRef says which scan an answer comes from.
type scanRef struct {
	ID         int64     `json:"id" doc:"Number of the scan."`
	Started    time.Time `json:"started" doc:"When its walk began."`
	Day        string    `json:"day" format:"date" doc:"Date of the start in the site's zone."`
	Verdict    string    `json:"verdict" doc:"clean, partial, unverified or suspect."`
	AgeSeconds int64     `json:"age_seconds" doc:"Seconds since the start."`
}

func (a *api) newScanRef(scan *usage.Scan) *scanRef {
	if scan == nil {
		return nil
	}
	return &scanRef{
		ID: scan.ID, Started: scan.Started.UTC(), Day: scan.Day, Verdict: string(scan.Verdict),
		AgeSeconds: int64(max(0, a.Clock().Sub(scan.Started)) / time.Second),
	}
}

// timeOrNil leaves a time that has not come out of the answer.
func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	utc := t.UTC()
	return &utc
}

// timeFormat is that of times in CSV; JSON has the same, with fractions.
const timeFormat = time.RFC3339

// nullable lets properties that are objects be null, which huma has no tag for.
func nullable(s *huma.Schema, properties ...string) *huma.Schema {
	for _, name := range properties {
		p := s.Properties[name]
		s.Properties[name] = &huma.Schema{
			Description: p.Description,
			OneOf:       []*huma.Schema{{Ref: p.Ref}, {Type: "null"}},
		}
	}
	return s
}
