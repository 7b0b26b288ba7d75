package main

import (
	"time"

	"fstally/internal/usage"
)

// limits are the flags that say how long a scan may hang and what it may use.
type limits struct {
	StallAfter  *time.Duration `placeholder:"TIME" help:"Give a scan up that gets no answer from the file system for so long, such as 30m; 0 for never. Default: 30m."`
	Nice        *int           `placeholder:"N" help:"Nice value of the scanner, 0 to 19. Default: 10, but 0 for --out and --dry-run."`
	IdleIO      *bool          `name:"idle-io" negatable:"" help:"Let the scanner's disk access wait for everybody else's. Default: yes, but no for --out and --dry-run."`
	MemoryLimit *string        `placeholder:"SIZE" help:"End a scan whose scanner uses more memory, such as 4GiB; 0 for no limit, which is the default."`
}

// apply writes the flags that are given into fs and reports whether there were any.
func (c limits) apply(fs *usage.FileSystem) (changed bool, err error) {
	if c.StallAfter != nil {
		fs.StallAfter, changed = *c.StallAfter, true
	}
	if c.Nice != nil {
		fs.Nice, changed = *c.Nice, true
	}
	if c.IdleIO != nil {
		fs.IdleIO, changed = *c.IdleIO, true
	}
	if c.MemoryLimit != nil {
		if fs.MemoryLimit, err = usage.ParseSize(*c.MemoryLimit); err != nil {
			return false, usageError{err}
		}
		changed = true
	}
	return changed, nil
}
