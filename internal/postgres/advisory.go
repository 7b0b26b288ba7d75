package postgres

// Keys of advisory locks: "fstally" and a number each.
const (
	// partitionLock is held by who makes partitions.
	partitionLock = 0x667374616c6c7901
	// thinningLock is held by who runs ThinOut.
	thinningLock = 0x667374616c6c7902
	// droppingLock is held by who makes tables disappear, and shared by backups,
	// which list the tables first and read them for hours.
	droppingLock = 0x667374616c6c7903
	// queueLock is held by who makes River's tables.
	queueLock = 0x667374616c6c7904
	// partitionLocks is the first half of the keys of single partitions; see lockKey.
	partitionLocks = 0x66737470 // "fstp"
)
