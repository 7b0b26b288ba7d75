package classify

import (
	"time"

	"fstally/internal/usage"
)

// Classifier makes keys. It serves one goroutine.
type Classifier struct {
	start int64
	sizes usage.SizeClasses
	types types
}

// New returns a Classifier for a scan that started at start.
func New(start time.Time, sizes usage.SizeClasses) *Classifier {
	return &Classifier{start: start.Unix(), sizes: sizes}
}

// Key returns the key of an entry that stands in dir, nil for the root's own
// entry. A directory belongs to the fileset that it opens.
func (c *Classifier) Key(dir *usage.Dir, e *usage.Entry) usage.Key {
	k := usage.Key{UID: e.UID, GID: e.GID, SizeClass: usage.SizeNotFile, AgeClass: usage.AgeNotFile}
	if e.Dir != nil {
		dir = e.Dir
	}
	k.Fileset = dir.Fileset
	switch e.Type {
	case usage.File:
		k.Type = c.types.typeOf(e.Name)
		k.SizeClass = c.sizes.Of(e.Size)
		k.AgeClass = usage.AgeOf(c.start, e.Mtime)
	case usage.Directory:
		k.Type = usage.TypeDir
	case usage.Symlink:
		k.Type = usage.TypeSymlink
	case usage.Special:
		k.Type = usage.TypeSpecial
	}
	return k
}

// Type returns the type of a regular file from its name; see the table at typeOf
// and docs.
func (c *Classifier) Type(name []byte) string { return c.types.typeOf(name) }
