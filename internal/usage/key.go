package usage

import "fmt"

// Key identifies one cell of the cube: the finest grain that is stored.
type Key struct {
	UID       uint32
	GID       uint32
	Type      string // file type, see package classify
	Fileset   string // as in Dir.Fileset
	Pool      uint32 // storage pool, 0 where unknown
	SizeClass SizeClass
	AgeClass  AgeClass // of mtime, from the start of the scan
}

// The reserved values of types, categories and filesets stand in parentheses;
// no file type can contain one, and EscapeKey keeps filesets apart.
const (
	None         = "(none)"     // a file without extension, a path in no fileset
	Numbered     = "(numbered)" // an extension of digits only
	Rest         = "(rest)"     // types beyond MaxTypes
	TypeDir      = "(directory)"
	TypeSymlink  = "(symlink)"
	TypeSpecial  = "(special)"
	NotFiles     = "(not files)" // the row of the classes for everything else
	MaxTypes     = 1000          // file types kept per scan
	reservedMark = '('
)

// Dimension is something that usage is grouped or filtered by; its text is the
// one of addresses and the API.
type Dimension string

// The dimensions.
const (
	User          Dimension = "user"
	Group         Dimension = "group"
	Type          Dimension = "type"
	Category      Dimension = "category"
	Fileset       Dimension = "fileset"
	Pool          Dimension = "pool"
	SizeClassDim  Dimension = "size_class"
	AgeClassDim   Dimension = "age_class"
	dimensionHelp           = "use one of user, group, type, category, fileset, pool, size_class, age_class"
)

// AllDimensions lists the dimensions.
func AllDimensions() []Dimension {
	return []Dimension{User, Group, Type, Category, Fileset, Pool, SizeClassDim, AgeClassDim}
}

// ParseDimension reads the name of a dimension.
func ParseDimension(s string) (Dimension, error) {
	for _, d := range AllDimensions() {
		if string(d) == s {
			return d, nil
		}
	}
	return "", fmt.Errorf("%q is not a dimension: %s", s, dimensionHelp)
}
