package fileset_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/fileset"
	"fstally/internal/usage"
)

// keyOf walks down path as a scan does and returns the key of its last directory.
func keyOf(r *fileset.Rules, path string) string {
	d := &usage.Dir{}
	if path == "" {
		return d.Fileset
	}
	for name := range strings.SplitSeq(path, "/") {
		d = &usage.Dir{Parent: d, Name: name, Depth: d.Depth + 1, Fileset: r.Fileset(d, name)}
	}
	return d.Fileset
}

func TestFileset(t *testing.T) {
	named := func(paths ...string) (all []usage.NamedFileset) {
		for _, p := range paths {
			all = append(all, usage.NamedFileset{Path: p})
		}
		return all
	}
	for _, tc := range []struct {
		name  string
		rules usage.FilesetRules
		want  map[string]string
	}{
		{"none", usage.FilesetRules{}, map[string]string{"": "", "a": "", "a/b": ""}},
		{"depth 1", usage.FilesetRules{Depth: 1}, map[string]string{
			"": "", "a": "a", "a/b/c": "a", "\xff\n": "\xff\n",
		}},
		{"depth 2", usage.FilesetRules{Depth: 2}, map[string]string{
			"a": "", "a/b": "a/b", "a/b/c": "a/b", "b/b": "b/b",
		}},
		{"a name at its depth", usage.FilesetRules{Depth: 1, Named: named("a")}, map[string]string{
			"a": "a", "a/b": "a", "b": "b",
		}},
		{"a name above the depth rules out the depth", usage.FilesetRules{Depth: 3, Named: named("a")}, map[string]string{
			"a": "a", "a/b/c/d": "a", "b/b": "", "b/b/c/d": "b/b/c",
		}},
		{"a name below the depth", usage.FilesetRules{Depth: 1, Named: named("a/b")}, map[string]string{
			"a": "a", "a/b": "a/b", "a/b/c": "a/b", "a/c": "a", "a/c/b": "a", "b": "b",
		}},
		{"the deepest name wins", usage.FilesetRules{Depth: 2, Named: named("a/b/c", "a", "c")}, map[string]string{
			"a": "a", "a/b": "a", "a/b/c": "a/b/c", "a/b/c/d": "a/b/c", "a/x": "a", "c/c": "c", "b/c": "b/c",
		}},
		{"whole components", usage.FilesetRules{Named: named("proj/a")}, map[string]string{
			"proj/a": "proj/a", "proj/ab": "", "proj": "", "x/proj/a": "", "proj/a/a": "proj/a",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := fileset.New(tc.rules)
			if err != nil {
				t.Fatal(err)
			}
			for path, want := range tc.want {
				if got := keyOf(r, path); got != want {
					t.Errorf("fileset of %q = %q, want %q", path, got, want)
				}
			}
		})
	}
}

func TestNamed(t *testing.T) {
	b, a := usage.NamedFileset{Path: "z/b", Name: "bravo"}, usage.NamedFileset{Path: "a", Name: "alpha"}
	r, err := fileset.New(usage.FilesetRules{Named: []usage.NamedFileset{b, {Path: "k"}, a}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]usage.NamedFileset{a, b}, r.Named()); diff != "" {
		t.Error(diff)
	}
}

func TestNewRefuses(t *testing.T) {
	type named = []usage.NamedFileset
	for want, rules := range map[string]usage.FilesetRules{
		"depth -1":           {Depth: -1},
		"depth 65":           {Depth: 65},
		"needs a path":       {Named: named{{Name: "a"}}},
		"fileset path /a":    {Named: named{{Path: "/a"}}},
		"fileset path a/:":   {Named: named{{Path: "a/"}}},
		"fileset path a//b":  {Named: named{{Path: "a//b"}}},
		"fileset path ..":    {Named: named{{Path: ".."}}},
		"fileset path ../a":  {Named: named{{Path: "../a"}}},
		"fileset path a/../": {Named: named{{Path: "a/../b"}}},
		"fileset path .:":    {Named: named{{Path: "."}}},
		`a\x00b`:             {Named: named{{Path: "a\x00b"}}},
		"given twice":        {Named: named{{Path: "a", Name: "x"}, {Path: "a", Name: "y"}}},
		"same name, b":       {Named: named{{Path: "a", Name: "b"}, {Path: "b"}}},
	} {
		if _, err := fileset.New(rules); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", rules, err, want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		root, text string
		want       usage.NamedFileset
	}{
		{"/data", "projects/p1", usage.NamedFileset{Path: "projects/p1"}},
		{"/data", "One=projects/p1/", usage.NamedFileset{Path: "projects/p1", Name: "One"}},
		{"/data", "One=/data/projects", usage.NamedFileset{Path: "projects", Name: "One"}},
		{"/", "/data/projects", usage.NamedFileset{Path: "data/projects"}},
		{"/data", "./a=b", usage.NamedFileset{Path: "a=b"}},
		{"/data", "x=a=b", usage.NamedFileset{Path: "a=b", Name: "x"}},
		{"/data", "/data/k=v", usage.NamedFileset{Path: "k=v"}},
		{"/data", "...", usage.NamedFileset{Path: "..."}},
	} {
		got, err := fileset.Parse(tc.root, tc.text)
		if err != nil || got != tc.want {
			t.Errorf("Parse(%q, %q) = %+v, %v, want %+v", tc.root, tc.text, got, err, tc.want)
		}
	}
	for text, want := range map[string]string{
		"": "path is missing", "a=": "path is missing", "=a": "name before = is missing", "/other/x": "not below",
		"/data": "not below", "/database/x": "not below", "../x": "relative to the root", "a/../..": "relative",
		".": "relative",
	} {
		if got, err := fileset.Parse("/data", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %+v, %v, want %q", text, got, err, want)
		}
	}
}
