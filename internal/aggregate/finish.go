package aggregate

import (
	"slices"

	"fstally/internal/usage"
)

// Finish adds up what the shards have, and what the walk reports beside entries. The
// Tally is used up. category tells which category a file type is in.
func (t *Tally) Finish(
	vanished int64, errors []usage.ScanError, skipped []usage.Skipped, category func(string) string,
) *Partial {
	p := &Partial{Errors: errors, Skipped: skipped}
	last := t.NewShard()
	open := t.settleLinks(last)
	for _, s := range t.shards {
		s.pour()
		s.buffer = buffer{}
		p.Counters.Add(s.counters)
		p.Folded += s.folded
	}
	p.Folded += t.cube.folded
	p.Links = t.openLinks(open)
	t.setRows(p)
	th := newThresholds()
	for i := range p.Cells {
		th.add(&p.Cells[i].Key, &p.Cells[i].Measures)
	}
	for _, l := range p.Links {
		// A merge may move the inode to another fileset; what is kept now must
		// include what would be kept then.
		th.filesets[l.Key.Fileset] = th.filesets[l.Key.Fileset].minus(ownedOf(l.Measures))
	}
	p.Root = t.dirs.tree(&th)
	p.Counters.Vanished = vanished
	for _, e := range errors {
		p.Counters.Errors += e.Count
	}
	for _, s := range skipped {
		p.Counters.Skipped += s.Count
	}
	p.Categories = make(map[string]string)
	for _, cell := range p.Cells {
		if _, known := p.Categories[cell.Type]; !known {
			p.Categories[cell.Type] = category(cell.Type)
		}
	}
	if _, rest := p.Categories[usage.Rest]; rest {
		p.Categories[usage.Rest] = usage.Rest
	}
	return p
}

// openLink is an inode of which names are missing, and its cell.
type openLink struct {
	id   inode
	link link
	cell cell
}

// settleLinks charges every inode with several names to the smallest of its paths,
// and returns those of which names are missing.
func (t *Tally) settleLinks(s *Shard) []openLink {
	kept := t.dirs.kept()
	var open []openLink
	for i := range t.links.stripes {
		stripe := &t.links.stripes[i]
		for id, at := range stripe.index {
			l := &stripe.links[at]
			e := l.entry(id)
			fileset := s.filesetOf(l.dir)
			s.batch.reset() // which nobody reads
			s.addInode(fileset, &e, l.mtime, l.atime)
			t.dirs.chargeLate(l.dir, l.uid, e.Measures(), kept)
			if l.names < l.nlink {
				open = append(open, openLink{id, *l, s.cellOf(fileset, &e, l.mtime, l.atime)})
			}
		}
		*stripe = linkStripe{}
	}
	return open
}

// openLinks makes rows of the inodes of which names are missing, when all cells are
// in the cube: one that is not there by its own type is under usage.Rest.
func (t *Tally) openLinks(open []openLink) []Link {
	if len(open) == 0 {
		return nil
	}
	links := make([]Link, 0, len(open))
	for i := range open {
		o := &open[i]
		e := o.link.entry(o.id)
		to := t.cube.find(&o.cell)
		typ, _ := unpair(to.kind)
		links = append(links, Link{
			Dev: o.id.dev, Ino: o.id.ino, Nlink: o.link.nlink, Names: o.link.names,
			Path: o.link.dir.Join([]byte(o.link.name)), Type: o.link.typ,
			Key: usage.Key{
				UID: e.UID, GID: e.GID, Type: typeName(t.options.Types, typ), Fileset: o.link.dir.Fileset,
				SizeClass: to.tag.size(), AgeClass: to.tag.age(),
			},
			Atime: o.link.atime, Measures: e.Measures(),
		})
	}
	slices.SortFunc(links, byInode)
	return links
}

// setRows writes the cube and the histograms, and uses them up.
func (t *Tally) setRows(p *Partial) {
	types, filesets := t.options.Types, t.filesets.names
	p.Cells = t.cube.rows(types, filesets)
	p.Sizes, p.Ages = t.bars.users.rows(nil, nil, usage.User, func(n uint32) usage.Value { return usage.Value{ID: n} })
	p.Sizes, p.Ages = t.bars.types.rows(p.Sizes, p.Ages, usage.Type, func(n uint32) usage.Value {
		return usage.Value{Text: typeName(types, n)}
	})
	p.Sizes, p.Ages = t.bars.filesets.rows(p.Sizes, p.Ages, usage.Fileset, func(n uint32) usage.Value {
		return usage.Value{Text: filesets[n]}
	})
}

// kept returns the candidates so far by directory; nil without any.
func (d *directories) kept() map[*usage.Dir]*candidate {
	kept := make(map[*usage.Dir]*candidate)
	var visit func(all []*candidate)
	visit = func(all []*candidate) {
		for _, c := range all {
			kept[c.dir] = c
			visit(c.children)
		}
	}
	if d.root != nil {
		visit([]*candidate{d.root})
	}
	for i := range d.stripes {
		for _, state := range d.stripes[i].live {
			if state.sums != nil {
				visit(state.sums.children)
			}
		}
	}
	return kept
}

// chargeLate adds an inode to dir and to everything above it: to candidates at once,
// and to the first directory that is not left, which hands it on.
func (d *directories) chargeLate(dir *usage.Dir, uid uint32, m usage.Measures, kept map[*usage.Dir]*candidate) {
	for ; dir != nil; dir = dir.Parent {
		if state := d.stripe(dir).live[dir]; state != nil {
			state.subtree().add(uid, m)
			return
		}
		if c := kept[dir]; c != nil {
			c.charge(uid, m)
		}
	}
}

// tree adds the sums of the directories that were never left to those of their
// parents, deepest first, and returns the root of what is worth keeping.
func (d *directories) tree(th *thresholds) *Node {
	if d.root == nil {
		d.root = d.fold(th)
	}
	if d.root == nil {
		return &Node{}
	}
	d.root.settle()
	prune([]*candidate{d.root}, th)
	return d.root.node()
}

func (d *directories) fold(th *thresholds) *candidate {
	var levels [][]*usage.Dir
	for i := range d.stripes {
		for dir := range d.stripes[i].live {
			for len(levels) <= dir.Depth {
				levels = append(levels, nil)
			}
			levels[dir.Depth] = append(levels[dir.Depth], dir)
		}
	}
	for depth := len(levels) - 1; depth >= 0; depth-- { //nolint:modernize // a level may grow before its turn
		for _, dir := range levels[depth] {
			live := d.stripe(dir).live
			state := live[dir]
			delete(live, dir)
			sums := state.whole()
			sums.linked = nil // all are charged
			c := state.candidate(dir, th)
			if dir.Parent == nil {
				return c
			}
			if d.stripe(dir.Parent).live[dir.Parent] == nil { // dir is where a part begins
				levels[depth-1] = append(levels[depth-1], dir.Parent)
			}
			d.with(dir.Parent, func(parent *dirState) {
				p := parent.subtree()
				p.merge(sums)
				if len(c.children) > 0 || c.worth(th) {
					p.children = append(p.children, c)
				}
			})
		}
	}
	return nil
}
