package fileset

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"fstally/internal/usage"
)

// MaxDepth is the largest depth of the depth rule; nobody accounts deeper.
const MaxDepth = 64

// Rules are checked usage.FilesetRules. They do not change and are safe for
// concurrent use.
type Rules struct {
	depth  int
	byPath map[string]usage.NamedFileset
	byBase map[string][]string // last component to paths of byPath
}

// New checks the rules and prepares them for a walk.
func New(r usage.FilesetRules) (*Rules, error) {
	if r.Depth < 0 || r.Depth > MaxDepth {
		return nil, fmt.Errorf("fileset depth %d: use 1 to %d, or 0 for no filesets by depth", r.Depth, MaxDepth)
	}
	rules := &Rules{
		depth:  r.Depth,
		byPath: make(map[string]usage.NamedFileset, len(r.Named)),
		byBase: make(map[string][]string, len(r.Named)),
	}
	names := make(map[string]string, len(r.Named))
	for _, f := range r.Named {
		if err := validatePath(f.Path); err != nil {
			return nil, err
		}
		if _, found := rules.byPath[f.Path]; found {
			return nil, fmt.Errorf("fileset path %s is given twice", usage.Escape(f.Path))
		}
		name := cmp.Or(f.Name, f.Path)
		if other, found := names[name]; found {
			return nil, fmt.Errorf("filesets %s and %s have the same name, %s",
				usage.Escape(other), usage.Escape(f.Path), usage.Escape(name))
		}
		names[name] = f.Path
		rules.byPath[f.Path] = f
		base := path.Base(f.Path)
		rules.byBase[base] = append(rules.byBase[base], f.Path)
	}
	return rules, nil
}

func validatePath(p string) error {
	switch {
	case p == "":
		return fmt.Errorf("a fileset needs a path below the root")
	case strings.ContainsRune(p, 0):
		return fmt.Errorf("fileset path %s: no file name contains a NUL", usage.Escape(p))
	case p != path.Clean(p) || path.IsAbs(p) || p == "." || p == ".." || strings.HasPrefix(p, "../"):
		return fmt.Errorf("fileset path %s: write it relative to the root, such as projects/p1", usage.Escape(p))
	}
	return nil
}

// Fileset returns the key of the fileset that the directory called name in
// parent belongs to, "" for none; it is the form of walk.Options.Fileset. The
// deepest named path at or above the directory wins, then the directory at the
// rule's depth. Paths match by whole components.
func (r *Rules) Fileset(parent *usage.Dir, name string) string {
	for _, p := range r.byBase[name] {
		if p == parent.Join([]byte(name)) {
			return p
		}
	}
	if parent.Depth+1 != r.depth {
		return parent.Fileset
	}
	if _, named := r.byPath[parent.Fileset]; named {
		return parent.Fileset
	}
	return parent.Join([]byte(name))
}

// Named returns the filesets that have a name of their own, by path.
func (r *Rules) Named() []usage.NamedFileset {
	var named []usage.NamedFileset
	for _, f := range r.byPath {
		if f.Name != "" {
			named = append(named, f)
		}
	}
	slices.SortFunc(named, func(a, b usage.NamedFileset) int { return cmp.Compare(a.Path, b.Path) })
	return named
}
