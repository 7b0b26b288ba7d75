package classify

import (
	"bytes"

	"fstally/internal/usage"
)

const (
	maxSuffix = 16 // bytes of a valid suffix
	maxCached = 1 << 16
)

// types names file types without making a new string for each file.
type types struct {
	known   map[string]string
	scratch [3*maxSuffix + 1]byte // a suffix, then the same after the one before it
}

// typeOf returns the type of a regular file from its name, raw bytes: its
// extension in lower case, with the one before it where it is a compression
// suffix, or usage.Numbered or usage.None. A valid suffix is 1 to 16 of a-z 0-9
// _ + - with at least one letter.
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
func (t *types) typeOf(name []byte) string {
	name = bytes.TrimLeft(name, ".")
	dot := bytes.LastIndexByte(name, '.')
	if dot < 0 {
		return usage.None
	}
	stem, suffix := name[:dot], name[dot+1:]
	lower, ok := appendSuffix(t.scratch[:0], suffix)
	if !ok {
		if allDigits(suffix) {
			return usage.Numbered
		}
		return usage.None
	}
	if dot := bytes.LastIndexByte(stem, '.'); dot >= 0 && compression(string(lower)) {
		if inner, valid := appendSuffix(t.scratch[len(lower):len(lower)], stem[dot+1:]); valid {
			inner = append(inner, '.')
			lower = append(inner, lower...)
		}
	}
	if known, ok := t.known[string(lower)]; ok { // does not allocate
		return known
	}
	if t.known == nil || len(t.known) >= maxCached { // a tree with a new extension for each file
		t.known = make(map[string]string)
	}
	known := string(lower)
	t.known[known] = known
	return known
}

// compression reports a suffix that tells how the file is packed, not what is in it.
func compression(suffix string) bool {
	switch suffix {
	case "gz", "bz2", "xz", "zst", "lz4", "lzma", "z", "br":
		return true
	}
	return false
}

// appendSuffix appends suffix in lower case to buf and reports whether it is valid.
func appendSuffix(buf, suffix []byte) (_ []byte, valid bool) {
	if len(suffix) == 0 || len(suffix) > maxSuffix {
		return buf, false
	}
	letter := false
	for _, c := range suffix {
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
			letter = true
		case 'a' <= c && c <= 'z':
			letter = true
		case '0' <= c && c <= '9', c == '_', c == '+', c == '-':
		default:
			return buf, false
		}
		buf = append(buf, c)
	}
	return buf, letter
}

func allDigits(suffix []byte) bool {
	for _, c := range suffix {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(suffix) > 0
}
