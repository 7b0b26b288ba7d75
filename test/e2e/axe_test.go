//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fstally/test/tree"
)

// axe is the source of axe-core, which checks a page against the rules of WCAG.
type axe string

func loadAxe(t *testing.T) axe {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "..", "web", "node_modules", "axe-core", "axe.min.js"))
	tree.Need(t, err == nil, "axe-core (npm ci in web)")
	return axe(source)
}

// violation is one rule that a page breaks.
type violation struct {
	ID    string   `json:"id"`
	Help  string   `json:"help"`
	Nodes []string `json:"nodes"`
}

// check fails the test for each rule that the page breaks as it is now; of those that
// are named, or of all. All of them take seconds on a large page.
func (a axe) check(p *tab, only ...string) {
	p.t.Helper()
	options, err := json.Marshal(struct {
		ResultTypes []string `json:"resultTypes"`
		RunOnly     []string `json:"runOnly,omitempty"`
	}{[]string{"violations"}, only})
	if err != nil {
		p.t.Fatal(err)
	}
	// The debugger is not bound by the content policy of the page.
	eval[bool](p, "window.axe || (() => {"+string(a)+"})(), true")
	// What charts are made of is no part of the page for those who hear it.
	for _, v := range eval[[]violation](p, `axe.run({ exclude: ["[data-chart] svg"] }, `+string(options)+`).then(r => r.violations.map(v => ({
		id: v.id, help: v.help, nodes: v.nodes.map(n => n.target.join(" ") + " " + (n.any[0]?.message ?? "")),
	})))`) {
		p.t.Errorf("axe: %s: %s\n\t%s", v.ID, v.Help, strings.Join(v.Nodes[:min(5, len(v.Nodes))], "\n\t"))
	}
}
