package upload

import "context"

// RemoveOld is for tests, which cannot wait for Run to come to it.
func (f *Folder) RemoveOld(ctx context.Context) error { return f.removeOld(ctx) }
