package fileset

import (
	"fmt"
	"path"
	"strings"

	"fstally/internal/usage"
)

// Parse reads a fileset as it is written on the command line: NAME=PATH, or
// PATH to be called by it. PATH is relative to root or an absolute path below
// it; root is the real path of the scan's root. What stands before the first =
// is a name unless it holds a slash, so a directory a=b is written ./a=b.
func Parse(root, text string) (usage.NamedFileset, error) {
	name, where, ok := strings.Cut(text, "=")
	if !ok || strings.Contains(name, "/") {
		name, where = "", text
	} else if name == "" {
		return usage.NamedFileset{}, fmt.Errorf("fileset %q: the name before = is missing", text)
	}
	if where == "" {
		return usage.NamedFileset{}, fmt.Errorf("fileset %q: the path is missing: write NAME=PATH or PATH", text)
	}
	below := path.Clean(where)
	if path.IsAbs(below) {
		rest, ok := strings.CutPrefix(below, strings.TrimSuffix(path.Clean(root), "/")+"/")
		if !ok || rest == "" {
			return usage.NamedFileset{}, fmt.Errorf("fileset %q: its path is not below the root %s", text, usage.Escape(root))
		}
		below = rest
	}
	if err := usage.ValidateFilesetPath(below); err != nil {
		return usage.NamedFileset{}, err
	}
	return usage.NamedFileset{Path: below, Name: name}, nil
}
