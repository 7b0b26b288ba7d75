package result

import (
	"math/big"
	"time"

	"github.com/fxamacker/cbor/v2"

	"fstally/internal/aggregate"
	"fstally/internal/usage"
)

// The types of this file are the format: each is a CBOR array of its fields in
// their order. They stand apart from the types of the program so that a change
// of those cannot change the format unseen. Names and paths are byte strings.

// number is an unsigned integer of up to 128 bits: a CBOR integer, or a bignum
// where 64 bits are not enough.
type number usage.Bytes

func (n number) MarshalCBOR() ([]byte, error) {
	hi, lo := usage.Bytes(n).Words()
	if hi == 0 {
		return cbor.Marshal(lo)
	}
	return cbor.Marshal(usage.Bytes(n).Big())
}

func (n *number) UnmarshalCBOR(data []byte) error {
	var i big.Int
	if err := cbor.Unmarshal(data, &i); err != nil {
		return err
	}
	b, err := usage.BytesFromBig(&i)
	*n = number(b)
	return err
}

type record struct {
	_    struct{} `cbor:",toarray"`
	Kind kind
	Body cbor.RawMessage
}

type wireMeta struct {
	_           struct{} `cbor:",toarray"`
	ResultID    string
	Version     string
	Root        []byte
	Parts       [][]byte
	Identity    string
	FSType      string
	Host        string
	Engine      string
	Walkers     int
	OpsLimit    int
	Freshness   string
	Offline     bool
	Started     wireTime
	Finished    wireTime
	SizeClasses [4]int64
	Capacity    wireCapacity
}

// wireTime is seconds and nanoseconds since 1970, UTC.
type wireTime struct {
	_         struct{} `cbor:",toarray"`
	Sec, Nsec int64
}

type wireCapacity struct {
	_                       struct{} `cbor:",toarray"`
	Size, Free, Available   number
	InodesTotal, InodesFree int64
	BlockSize               int64
	Source                  string
}

type wireFileset struct {
	_          struct{} `cbor:",toarray"`
	Path, Name []byte
}

type wireIdentity struct {
	_    struct{} `cbor:",toarray"`
	Kind string
	ID   uint32
	Name []byte
}

type wireCounters struct {
	_                               struct{} `cbor:",toarray"`
	Entries, Links                  int64
	Directories, Symlinks, Specials int64
	Vanished, Errors, Skipped       int64
}

type wireMeasures struct {
	_                               struct{} `cbor:",toarray"`
	Files, Inodes                   int64
	Size, Allocated, Slack, Offline number
}

type wireKey struct {
	_                   struct{} `cbor:",toarray"`
	UID, GID            uint32
	Type, Fileset       []byte
	Pool                uint32
	SizeClass, AgeClass uint8
}

type wireCell struct {
	_        struct{} `cbor:",toarray"`
	Key      wireKey
	Measures wireMeasures
}

type wireSize struct {
	_               struct{} `cbor:",toarray"`
	Dimension       string
	ID              uint32
	Text            []byte
	By              string
	Bucket          uint8
	Files           int64
	Size, Allocated number
}

type wireAge struct {
	_         struct{} `cbor:",toarray"`
	Dimension string
	ID        uint32
	Text      []byte
	Clock     string
	Class     uint8
	Measures  wireMeasures
}

// wireNode is a directory in preorder: Depth is one more than its parent's.
type wireNode struct {
	_        struct{} `cbor:",toarray"`
	Depth    int
	Name     []byte
	Fileset  []byte
	UID, GID uint32
	Newest   int64
	HasFile  bool
	Measures wireMeasures
	Owners   []wireOwner // by UID
}

type wireOwner struct {
	_               struct{} `cbor:",toarray"`
	UID             uint32
	Inodes          int64
	Size, Allocated number
}

type wireLink struct {
	_            struct{} `cbor:",toarray"`
	Dev, Ino     uint64
	Nlink, Names uint32
	Path         []byte
	Type         uint8
	Key          wireKey
	Atime        uint8
	Measures     wireMeasures
}

type wireError struct {
	_                  struct{} `cbor:",toarray"`
	Op, Errno, Message string
	Count              int64
	Paths              [][]byte
}

type wireSkipped struct {
	_      struct{} `cbor:",toarray"`
	Reason string
	Count  int64
	Paths  [][]byte
}

type wireCategory struct {
	_              struct{} `cbor:",toarray"`
	Type, Category []byte
}

// wireTrailer ends the file: how many records stand before it, and the SHA-256
// of their bytes before compression.
type wireTrailer struct {
	_       struct{} `cbor:",toarray"`
	Records int64
	Hash    []byte
}

func toMeasures(m usage.Measures) wireMeasures {
	return wireMeasures{
		Files: m.Files, Inodes: m.Inodes,
		Size: number(m.Size), Allocated: number(m.Allocated), Slack: number(m.Slack), Offline: number(m.Offline),
	}
}

func (w wireMeasures) measures() usage.Measures {
	return usage.Measures{
		Files: w.Files, Inodes: w.Inodes,
		Size: usage.Bytes(w.Size), Allocated: usage.Bytes(w.Allocated),
		Slack: usage.Bytes(w.Slack), Offline: usage.Bytes(w.Offline),
	}
}

func toKey(k usage.Key) wireKey {
	return wireKey{
		UID: k.UID, GID: k.GID, Type: []byte(k.Type), Fileset: []byte(k.Fileset), Pool: k.Pool,
		SizeClass: uint8(k.SizeClass), AgeClass: uint8(k.AgeClass),
	}
}

func (w wireKey) key() usage.Key {
	return usage.Key{
		UID: w.UID, GID: w.GID, Type: string(w.Type), Fileset: string(w.Fileset), Pool: w.Pool,
		SizeClass: usage.SizeClass(w.SizeClass), AgeClass: usage.AgeClass(w.AgeClass),
	}
}

func toCell(c usage.Cell) wireCell {
	return wireCell{Key: toKey(c.Key), Measures: toMeasures(c.Measures)}
}

func (w wireCell) cell() usage.Cell {
	return usage.Cell{Key: w.Key.key(), Measures: w.Measures.measures()}
}

func toSize(c usage.SizeCell) wireSize {
	return wireSize{
		Dimension: string(c.Dimension), ID: c.Value.ID, Text: []byte(c.Value.Text), By: string(c.By),
		Bucket: uint8(c.Bucket), Files: c.Files, Size: number(c.Size), Allocated: number(c.Allocated),
	}
}

func (w wireSize) size() usage.SizeCell {
	return usage.SizeCell{
		Dimension: usage.Dimension(w.Dimension), Value: usage.Value{ID: w.ID, Text: string(w.Text)},
		By: usage.Measure(w.By), Bucket: usage.SizeBucket(w.Bucket), Files: w.Files,
		Size: usage.Bytes(w.Size), Allocated: usage.Bytes(w.Allocated),
	}
}

func toAge(c usage.AgeCell) wireAge {
	return wireAge{
		Dimension: string(c.Dimension), ID: c.Value.ID, Text: []byte(c.Value.Text), Clock: string(c.Clock),
		Class: uint8(c.Class), Measures: toMeasures(c.Measures),
	}
}

func (w wireAge) age() usage.AgeCell {
	return usage.AgeCell{
		Dimension: usage.Dimension(w.Dimension), Value: usage.Value{ID: w.ID, Text: string(w.Text)},
		Clock: usage.Clock(w.Clock), Class: usage.AgeClass(w.Class), Measures: w.Measures.measures(),
	}
}

func toLink(l aggregate.Link) wireLink {
	return wireLink{
		Dev: l.Dev, Ino: l.Ino, Nlink: l.Nlink, Names: l.Names, Path: []byte(l.Path), Type: uint8(l.Type),
		Key: toKey(l.Key), Atime: uint8(l.Atime), Measures: toMeasures(l.Measures),
	}
}

func (w wireLink) link() aggregate.Link {
	return aggregate.Link{
		Dev: w.Dev, Ino: w.Ino, Nlink: w.Nlink, Names: w.Names, Path: string(w.Path), Type: usage.EntryType(w.Type),
		Key: w.Key.key(), Atime: usage.AgeClass(w.Atime), Measures: w.Measures.measures(),
	}
}

func toError(e usage.ScanError) wireError {
	return wireError{Op: e.Op, Errno: e.Errno, Message: e.Message, Count: e.Count, Paths: toPaths(e.Paths)}
}

func (w wireError) scanError() usage.ScanError {
	return usage.ScanError{Op: w.Op, Errno: w.Errno, Message: w.Message, Count: w.Count, Paths: fromPaths(w.Paths)}
}

func toSkipped(s usage.Skipped) wireSkipped {
	return wireSkipped{Reason: string(s.Reason), Count: s.Count, Paths: toPaths(s.Paths)}
}

func (w wireSkipped) skipped() usage.Skipped {
	return usage.Skipped{Reason: usage.SkipReason(w.Reason), Count: w.Count, Paths: fromPaths(w.Paths)}
}

func toCounters(c usage.Counters) wireCounters {
	return wireCounters{
		Entries: c.Entries, Links: c.Links, Directories: c.Directories, Symlinks: c.Symlinks,
		Specials: c.Specials, Vanished: c.Vanished, Errors: c.Errors, Skipped: c.Skipped,
	}
}

func (w wireCounters) counters() usage.Counters {
	return usage.Counters{
		Entries: w.Entries, Links: w.Links, Directories: w.Directories, Symlinks: w.Symlinks,
		Specials: w.Specials, Vanished: w.Vanished, Errors: w.Errors, Skipped: w.Skipped,
	}
}

func toMeta(m usage.Meta) wireMeta {
	return wireMeta{
		ResultID: m.ResultID, Version: m.Version, Root: []byte(m.Root), Parts: toPaths(m.Parts), Identity: m.Identity,
		FSType: m.FSType, Host: m.Host, Engine: m.Engine, Walkers: m.Walkers, OpsLimit: m.OpsLimit, Freshness: m.Freshness,
		Offline: m.Offline, Started: toTime(m.Started), Finished: toTime(m.Finished), SizeClasses: m.SizeClasses,
		Capacity: wireCapacity{
			Size: number(m.Capacity.Size), Free: number(m.Capacity.Free), Available: number(m.Capacity.Available),
			InodesTotal: m.Capacity.InodesTotal, InodesFree: m.Capacity.InodesFree,
			BlockSize: m.Capacity.BlockSize, Source: m.Capacity.Source,
		},
	}
}

func toFileset(f usage.NamedFileset) wireFileset {
	return wireFileset{Path: []byte(f.Path), Name: []byte(f.Name)}
}

func (w wireFileset) fileset() usage.NamedFileset {
	return usage.NamedFileset{Path: string(w.Path), Name: string(w.Name)}
}

func toIdentity(i usage.Identity) wireIdentity {
	return wireIdentity{Kind: string(i.Kind), ID: i.ID, Name: []byte(i.Name)}
}

func (w wireIdentity) identity() usage.Identity {
	return usage.Identity{Kind: usage.IdentityKind(w.Kind), ID: w.ID, Name: string(w.Name)}
}

func (w wireMeta) meta() usage.Meta {
	return usage.Meta{
		ResultID: w.ResultID, Version: w.Version, Root: string(w.Root), Parts: fromPaths(w.Parts), Identity: w.Identity,
		FSType: w.FSType, Host: w.Host, Engine: w.Engine, Walkers: w.Walkers, OpsLimit: w.OpsLimit, Freshness: w.Freshness,
		Offline: w.Offline, Started: w.Started.time(), Finished: w.Finished.time(), SizeClasses: w.SizeClasses,
		Capacity: usage.Capacity{
			Size: usage.Bytes(w.Capacity.Size), Free: usage.Bytes(w.Capacity.Free), Available: usage.Bytes(w.Capacity.Available),
			InodesTotal: w.Capacity.InodesTotal, InodesFree: w.Capacity.InodesFree,
			BlockSize: w.Capacity.BlockSize, Source: w.Capacity.Source,
		},
	}
}

func toTime(t time.Time) wireTime { return wireTime{Sec: t.Unix(), Nsec: int64(t.Nanosecond())} }

func (w wireTime) time() time.Time { return time.Unix(w.Sec, w.Nsec).UTC() }

func toPaths(paths []string) [][]byte {
	var out [][]byte
	for _, p := range paths {
		out = append(out, []byte(p))
	}
	return out
}

func fromPaths(paths [][]byte) []string {
	var out []string
	for _, p := range paths {
		out = append(out, string(p))
	}
	return out
}
