package classify

import (
	"slices"

	"fstally/internal/usage"
)

// maxSuffix is how many bytes a valid suffix has at most.
const maxSuffix = 16

// suffix holds up to maxSuffix bytes in lower case, the first in the lowest byte
// of lo. Suffixes hold no NUL, so the number tells the length too.
type suffix struct{ lo, hi uint64 }

// extension is what a type is named after: a valid suffix, and the compression
// suffix after it. Without a compression suffix, packing is 0.
type extension struct {
	suffix
	packing uint32
}

// extensionOf returns the extension of a regular file's name, raw bytes: the part
// after the last dot in lower case, with the one before it where it is a compression
// suffix. A valid suffix is 1 to 16 of a-z 0-9 _ + - with at least one letter.
// Where there is none, reserved is the type: usage.Numbered or usage.None.
//
//	name                                  type
//	data.TXT .hidden.txt ..file.txt       txt
//	a..b .a.b                             b
//	a.tar.gz                              tar.gz
//	reads.FASTQ.gz                        fastq.gz
//	a.gz page.1.gz .tar.gz                gz           no valid suffix before it
//	v1.2.3 core.1234                      (numbered)   digits only, of any length
//	noext Makefile .bashrc .gitignore     (none)       leading dots are no extension
//	foo. x. ...                           (none)       nothing after the last dot
//	a.b~ a.b(1) a.é a.12-4 a.seventeen-letters  (none) no valid suffix
func extensionOf(name []byte) (x extension, reserved string) {
	for len(name) > 0 && name[0] == '.' {
		name = name[1:]
	}
	outer, dot, ok := lastSuffix(name)
	if !ok {
		if numbered(name) {
			return extension{}, usage.Numbered
		}
		return extension{}, usage.None
	}
	if packing := packingOf(outer); packing != 0 {
		if inner, _, ok := lastSuffix(name[:dot]); ok {
			return extension{inner, packing}, ""
		}
	}
	return extension{suffix: outer}, ""
}

// lastSuffix returns the valid suffix that name ends with, and where its dot is. It
// reads backwards and stops at the first byte that no suffix can have.
func lastSuffix(name []byte) (s suffix, dot int, ok bool) {
	var most byte
	end := max(0, len(name)-maxSuffix-1)
	for i := len(name) - 1; i >= end; i-- {
		c := inSuffix[name[i]]
		if c == 0 {
			// Letters in lower case are above all else that a suffix may have.
			return s, i, name[i] == '.' && most >= 'a'
		}
		most = max(most, c)
		s.hi = s.hi<<8 | s.lo>>56
		s.lo = s.lo<<8 | uint64(c)
	}
	return s, 0, false
}

// inSuffix holds the lower case of each byte that a suffix may have, 0 for others.
//
//nolint:gochecknoglobals // a table that is only read
var inSuffix = func() (table [256]byte) {
	for c := range 256 {
		switch b := byte(c); {
		case 'A' <= b && b <= 'Z':
			table[c] = b + 'a' - 'A'
		case 'a' <= b && b <= 'z', '0' <= b && b <= '9', b == '_', b == '+', b == '-':
			table[c] = b
		}
	}
	return table
}()

// numbered reports a name with nothing but digits, and at least one, after a dot.
func numbered(name []byte) bool {
	for i, c := range slices.Backward(name) {
		switch {
		case c == '.':
			return i < len(name)-1
		case c < '0' || c > '9':
			return false
		}
	}
	return false
}

// packings are the suffixes that tell how a file is packed, not what is in it.
//
//nolint:gochecknoglobals // a table that is only read
var packings = [...]string{1: "gz", "bz2", "xz", "zst", "lz4", "lzma", "z", "br"}

// packingOf returns the index of a suffix in packings, 0 for any other.
func packingOf(s suffix) uint32 {
	if s.hi != 0 || s.lo >= 1<<32 {
		return 0
	}
	switch uint32(s.lo) {
	case 'g' | 'z'<<8:
		return 1
	case 'b' | 'z'<<8 | '2'<<16:
		return 2
	case 'x' | 'z'<<8:
		return 3
	case 'z' | 's'<<8 | 't'<<16:
		return 4
	case 'l' | 'z'<<8 | '4'<<16:
		return 5
	case 'l' | 'z'<<8 | 'm'<<16 | 'a'<<24:
		return 6
	case 'z':
		return 7
	case 'b' | 'r'<<8:
		return 8
	}
	return 0
}

// String returns the name of the type.
func (x extension) String() string {
	buf := make([]byte, 0, 2*maxSuffix)
	for _, word := range [2]uint64{x.lo, x.hi} {
		for ; word != 0; word >>= 8 {
			buf = append(buf, byte(word))
		}
	}
	if x.packing != 0 {
		buf = append(append(buf, '.'), packings[x.packing]...)
	}
	return string(buf)
}
