package fileset

import (
	"cmp"
	"path"
	"slices"

	"fstally/internal/usage"
)

// Rules are checked usage.FilesetRules. They do not change and are safe for
// concurrent use.
type Rules struct {
	depth  int
	byPath map[string]usage.NamedFileset
	byBase map[string][]string // last component to paths of byPath
}

// New checks the rules and prepares them for a walk.
func New(r usage.FilesetRules) (*Rules, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	rules := &Rules{
		depth:  r.Depth,
		byPath: make(map[string]usage.NamedFileset, len(r.Named)),
		byBase: make(map[string][]string, len(r.Named)),
	}
	for _, f := range r.Named {
		rules.byPath[f.Path] = f
		base := path.Base(f.Path)
		rules.byBase[base] = append(rules.byBase[base], f.Path)
	}
	return rules, nil
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
