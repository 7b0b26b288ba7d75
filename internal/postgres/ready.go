package postgres

import "context"

// Ready reports whether the database answers and this program can use it: another one
// may have migrated it meanwhile. It is usage.ErrUnavailable where it does not answer.
func (s *Store) Ready(ctx context.Context) error { return explainUnavailable(s.check(ctx)) }
