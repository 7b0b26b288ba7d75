package postgres

import "fstally/internal/usage"

// dimension numbers a usage.Dimension in the tables. The numbers are stored:
// they never change.
type dimension int16

const (
	byUser dimension = iota + 1
	byGroup
	byType
	byCategory
	byFileset
	byPool
	bySizeClass
	byAgeClass
	byUserFileset // key is the user, key2 the fileset
)

// dimensionOf returns the number of d, 0 for none.
func dimensionOf(d usage.Dimension) dimension {
	switch d {
	case usage.User:
		return byUser
	case usage.Group:
		return byGroup
	case usage.Type:
		return byType
	case usage.Category:
		return byCategory
	case usage.Fileset:
		return byFileset
	case usage.Pool:
		return byPool
	case usage.SizeClassDim:
		return bySizeClass
	case usage.AgeClassDim:
		return byAgeClass
	}
	return 0
}

// histogramBy numbers what the buckets of a size histogram are of.
func histogramBy(m usage.Measure) int16 {
	if m == usage.Allocated {
		return 1
	}
	return 0
}

// clockNumber numbers the clocks of an age histogram.
func clockNumber(c usage.Clock) int16 {
	if c == usage.ByAtime {
		return 1
	}
	return 0
}

// identityKind numbers the kinds of identities.
func identityKind(k usage.IdentityKind) int16 {
	if k == usage.GroupIdentity {
		return 1
	}
	return 0
}
