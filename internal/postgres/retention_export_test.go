package postgres

import (
	"context"
	"time"
)

// ThinOutWithin is ThinOut with other bounds on how long it waits; blocking is how
// it works before Postgres 14.
func (s *Store) ThinOutWithin(
	ctx context.Context, today time.Time, wait, lockTimeout time.Duration, attempts int, blocking bool,
) (Thinned, error) {
	return s.thinOut(ctx, today, func(l *thinningLimits) {
		l.deadline, l.lockTimeout, l.attempts = time.Now().Add(wait), lockTimeout, attempts
		l.concurrently = !blocking
	})
}

// PartitionName returns the suffix of the partition of a scan.
func PartitionName(t Tier, day time.Time) string { return partitionOf(t, day).suffix }

// ParsePartition returns the bounds that a suffix stands for.
func ParsePartition(suffix string) (t Tier, from, to time.Time, ok bool) {
	p, ok := parsePartition(suffix)
	return p.tier, p.from, p.to, ok
}
