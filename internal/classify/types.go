package classify

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"fstally/internal/usage"
)

// MaxTypes is how many types a scan tells apart while it runs; a million of them
// would be a million cells of the cube. Files of further types are usage.Rest. In
// the end usage.MaxTypes are kept, the largest.
const MaxTypes = 100_000

// The numbers of the types that are no extension.
const (
	restNumber uint32 = iota
	noneNumber
	numberedNumber
)

// Types numbers the types of files in the order in which they are met: a number is
// a good key of a table, where a string for each file is not. It is safe for
// concurrent use, and takes 100 to 130 bytes for each type.
//
// Number 0 is usage.Rest, and stands for all types beyond the limit.
type Types struct {
	limit   int
	lookup  atomic.Pointer[lookup]
	full    atomic.Bool
	growing sync.Mutex // held to change any of these
	names   []string   // by number
}

// lookup is an open-addressing table of a power of two of slots.
type lookup []slot

// slot is filled once: number is set last, and never changed.
type slot struct {
	extension
	number atomic.Uint32 // 0 for an empty one
}

// NewTypes returns an empty table of up to limit types, 0 for MaxTypes.
func NewTypes(limit int) *Types {
	if limit <= 0 {
		limit = MaxTypes
	}
	t := &Types{limit: limit, names: []string{usage.Rest, usage.None, usage.Numbered}}
	first := make(lookup, 1024)
	t.lookup.Store(&first)
	return t
}

// Of returns the number of the type of a regular file with this name, raw bytes.
func (t *Types) Of(name []byte) uint32 {
	x, reserved := extensionOf(name)
	switch reserved {
	case "":
	case usage.Numbered:
		return numberedNumber
	default:
		return noneNumber
	}
	if number := t.lookup.Load().slot(x).number.Load(); number != 0 {
		return number
	}
	return t.add(x)
}

// Name returns the name of the type of this number.
func (t *Types) Name(number uint32) string {
	t.growing.Lock()
	defer t.growing.Unlock()
	return t.names[number]
}

// Full reports that there were more types than the limit.
func (t *Types) Full() bool { return t.full.Load() }

// slot returns the slot of x, or the empty one where it belongs.
func (l *lookup) slot(x extension) *slot {
	slots := *l
	mask := uint64(len(slots) - 1)
	for i := x.hash(); ; i++ {
		s := &slots[i&mask]
		if s.number.Load() == 0 || s.extension == x {
			return s
		}
	}
}

// hash mixes by multiplication, as wyhash does.
func (x extension) hash() uint64 {
	hi, lo := bits.Mul64(x.lo^0x9e3779b97f4a7c15, x.hi^uint64(x.packing)<<60^0xd6e8feb86659fd93)
	return hi ^ lo
}

func (t *Types) add(x extension) uint32 {
	if t.full.Load() {
		return restNumber
	}
	t.growing.Lock()
	defer t.growing.Unlock()
	slots := t.lookup.Load()
	s := slots.slot(x)
	if number := s.number.Load(); number != 0 { // somebody else was faster
		return number
	}
	known := len(t.names) - int(numberedNumber) - 1
	if known >= t.limit {
		t.full.Store(true)
		return restNumber
	}
	if 2*known >= len(*slots) {
		slots = t.grow(*slots)
		s = slots.slot(x)
	}
	number := uint32(len(t.names))
	t.names = append(t.names, x.String())
	s.extension = x
	s.number.Store(number)
	return number
}

// grow publishes a copy with twice the slots; who still reads the old one finds
// there what was there, and asks add for the rest.
func (t *Types) grow(old lookup) *lookup {
	wide := make(lookup, 2*len(old))
	for i := range old {
		if number := old[i].number.Load(); number != 0 {
			s := wide.slot(old[i].extension)
			s.extension = old[i].extension
			s.number.Store(number)
		}
	}
	t.lookup.Store(&wide)
	return &wide
}
