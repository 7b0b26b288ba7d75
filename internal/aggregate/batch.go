package aggregate

import (
	"math"

	"fstally/internal/usage"
)

// batchMost is how many entries a batch can hold: with sums below ordinary each, it
// stays below 2^63.
const batchMost = 1 << 14

// batch sums what one call of Add finds, so that the directory is locked and
// changed once.
type batch struct {
	any                    bool // whether there is anything for the directory
	files, inodes          int64
	size, allocated, slack uint64
	names                  int64 // of regular files, however many inodes they have
	newest                 int64 // mtime of one of them
	linked                 bool

	owners []batchOwner
	// index holds, by the lower bits of a uid, where in owners it may be: in a
	// directory with files of many owners, most are found there.
	index [64]uint16
}

// batchOwner is what one user has; two of them may be of one user.
type batchOwner struct {
	uid             uint32
	inodes          int64
	size, allocated uint64
	linked          Owned // names of inodes with several, which may be charged here or elsewhere
}

func (b *batch) reset() {
	b.any, b.linked = false, false
	b.files, b.inodes = 0, 0
	b.size, b.allocated, b.slack = 0, 0, 0
	b.names, b.newest = 0, math.MinInt64
	b.owners = b.owners[:0]
}

// seen counts a name of a regular file.
func (b *batch) seen(e *usage.Entry) {
	if e.Type == usage.File {
		b.any = true
		b.names++
		b.newest = max(b.newest, e.Mtime)
	}
}

func (b *batch) add(uid uint32, files int64, size, allocated, slack uint64) {
	b.any = true
	b.files += files
	b.inodes++
	b.size += size
	b.allocated += allocated
	b.slack += slack
	o := b.owner(uid)
	o.inodes++
	o.size += size
	o.allocated += allocated
}

func (b *batch) addLinked(e *usage.Entry) {
	b.any, b.linked = true, true
	o := b.owner(e.UID)
	o.linked = o.linked.plus(ownedOf(e.Measures()))
}

func (b *batch) owner(uid uint32) *batchOwner {
	at := &b.index[uid%uint32(len(b.index))]
	if int(*at) < len(b.owners) && b.owners[*at].uid == uid {
		return &b.owners[*at]
	}
	*at = uint16(len(b.owners))
	b.owners = append(b.owners, batchOwner{uid: uid})
	return &b.owners[*at]
}

// measures returns the sums of the batch.
func (b *batch) measures() usage.Measures {
	return usage.Measures{
		Files: b.files, Inodes: b.inodes, Size: usage.BytesFromWords(0, b.size),
		Allocated: usage.BytesFromWords(0, b.allocated), Slack: usage.BytesFromWords(0, b.slack),
	}
}

func (o *batchOwner) owned() Owned {
	return Owned{o.inodes, usage.BytesFromWords(0, o.size), usage.BytesFromWords(0, o.allocated)}
}
