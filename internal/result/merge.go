package result

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"fstally/internal/usage"
)

// Merge returns what one scan of both parts would have given. The parts must be
// disjoint subtrees of one root, scanned under the same rules.
func Merge(a, b *Result) (*Result, error) {
	m, o := a.Meta, b.Meta
	for _, rule := range []struct {
		what, a, b string
	}{
		{"root", m.Root, o.Root},
		{"file system", m.Identity, o.Identity},
		{"size classes", fmt.Sprint(m.SizeClasses), fmt.Sprint(o.SizeClasses)},
		{"attribute freshness", m.Freshness, o.Freshness},
	} {
		if rule.a != rule.b {
			return nil, fmt.Errorf("results cannot be merged: their %s differ (%s, %s)",
				rule.what, usage.Escape(rule.a), usage.Escape(rule.b))
		}
	}
	for _, x := range m.Parts {
		for _, y := range o.Parts {
			if contains(x, y) || contains(y, x) {
				return nil, fmt.Errorf("results cannot be merged: %q and %q overlap", usage.Escape(x), usage.Escape(y))
			}
		}
	}
	m.ResultID = uuid.NewString()
	m.Parts = slices.Sorted(slices.Values(slices.Concat(m.Parts, o.Parts)))
	m.Offline = m.Offline && o.Offline
	m.Walkers = max(m.Walkers, o.Walkers)
	if o.Started.Before(m.Started) {
		m.Started, m.Capacity = o.Started, o.Capacity
	}
	if o.Finished.After(m.Finished) {
		m.Finished = o.Finished
	}
	m.Filesets = union(m.Filesets, o.Filesets, func(f usage.NamedFileset) string { return f.Path })
	m.Identities = union(m.Identities, o.Identities, func(i usage.Identity) string {
		return fmt.Sprintf("%s %010d", i.Kind, i.ID)
	})
	return &Result{Meta: m, Partial: a.Partial.Merge(b.Partial)}, nil
}

// contains reports whether the subtree at path lies in the one at parent.
func contains(parent, path string) bool {
	return parent == "" || path == parent || strings.HasPrefix(path, parent+"/")
}

// union joins rows by key, in the order of the keys.
func union[T any](a, b []T, key func(T) string) []T {
	rows := make(map[string]T)
	for _, row := range slices.Concat(b, a) {
		rows[key(row)] = row
	}
	var out []T
	for _, k := range slices.Sorted(maps.Keys(rows)) {
		out = append(out, rows[k])
	}
	return out
}
