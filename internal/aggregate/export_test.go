package aggregate

// PruneOften looks at the candidates for rows of the tree after each of them.
func PruneOften(t *Tally) {
	t.dirs.pruneLeast = 1
	t.dirs.pruneAt.Store(1)
}
