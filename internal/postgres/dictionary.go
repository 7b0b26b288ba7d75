package postgres

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"fstally/internal/usage"
)

// saveDictionaries adds what the result brings to the dictionaries that all file
// systems share. Rows are written in one order everywhere, so that two imports
// wait for each other and never deadlock.
func (im *importer) saveDictionaries(ctx context.Context, tx pgx.Tx) error {
	types := make(map[string]string) // to category
	add := func(t string) {
		if _, seen := types[t]; !seen {
			types[t] = categoryName(im.Summary.Categories[t])
		}
	}
	for i := range im.Summary.Cells {
		if i == 0 || im.Summary.Cells[i].Type != im.Summary.Cells[i-1].Type {
			add(im.Summary.Cells[i].Type)
		}
	}
	for i := range im.Summary.Sizes {
		if c := &im.Summary.Sizes[i]; c.Dimension == usage.Type {
			add(c.Value.Text)
		}
	}
	var err error
	if im.categories, err = saveCategories(ctx, tx, slices.Sorted(maps.Values(types))); err != nil {
		return fmt.Errorf("store the categories: %w", err)
	}
	if im.types, err = saveTypes(ctx, tx, types, im.categories); err != nil {
		return fmt.Errorf("store the file types: %w", err)
	}
	if err := im.saveIdentities(ctx, tx); err != nil {
		return fmt.Errorf("store the names of users and groups: %w", err)
	}
	return nil
}

// categoryName is the category of a type that has none.
func categoryName(category string) string { return cmp.Or(category, usage.None) }

// idsByName collects a dictionary's answer.
func idsByName(ctx context.Context, tx pgx.Tx, sql string, args ...any) (map[string]int64, error) {
	type entry struct {
		id   int64
		name []byte
	}
	found, err := all(ctx, tx, func(row pgx.CollectableRow) (e entry, err error) {
		err = row.Scan(&e.id, &e.name)
		return e, err
	}, sql, args...)
	ids := make(map[string]int64, len(found))
	for _, e := range found {
		ids[string(e.name)] = e.id
	}
	return ids, err
}

func saveCategories(ctx context.Context, tx pgx.Tx, sorted []string) (map[string]int64, error) {
	names := blobs(slices.Compact(sorted))
	const insert = `
		INSERT INTO category (name)
		SELECT name FROM unnest($1::bytea[]) AS new (name)
		WHERE NOT EXISTS (SELECT FROM category AS old WHERE old.name = new.name)
		ORDER BY name
		ON CONFLICT DO NOTHING`
	if _, err := tx.Exec(ctx, insert, names); err != nil {
		return nil, err
	}
	return idsByName(ctx, tx, `SELECT id, name FROM category WHERE name = ANY ($1)`, names)
}

func saveTypes(
	ctx context.Context, tx pgx.Tx, categoryOf map[string]string, categories map[string]int64,
) (map[string]int64, error) {
	sorted := slices.Sorted(maps.Keys(categoryOf))
	names, ids := blobs(sorted), make([]int64, len(sorted))
	for i, t := range sorted {
		ids[i] = categories[categoryOf[t]]
	}
	const insert = `
		INSERT INTO file_type (name, category_id)
		SELECT name, category_id FROM unnest($1::bytea[], $2::bigint[]) AS new (name, category_id)
		WHERE NOT EXISTS (SELECT FROM file_type AS old WHERE old.name = new.name AND old.category_id = new.category_id)
		ORDER BY name
		ON CONFLICT (name) DO UPDATE SET category_id = EXCLUDED.category_id`
	if _, err := tx.Exec(ctx, insert, names, ids); err != nil {
		return nil, err
	}
	return idsByName(ctx, tx, `SELECT id, name FROM file_type WHERE name = ANY ($1)`, names)
}

// saveIdentities notes when a host knew which name. That it knows none is not
// noted: the name that an id had last is of more use than its number.
func (im *importer) saveIdentities(ctx context.Context, tx pgx.Tx) error {
	var kinds []int16
	var ids []int64
	var names [][]byte
	for _, i := range im.Meta.Identities {
		if i.Name != "" {
			kinds, ids, names = append(kinds, identityKind(i.Kind)), append(ids, int64(i.ID)), append(names, []byte(i.Name))
		}
	}
	const insert = `
		INSERT INTO identity (kind, id, domain, name, seen_from, seen_to)
		SELECT DISTINCT kind, id, $4, name, $5::timestamptz, $5::timestamptz
		FROM unnest($1::smallint[], $2::bigint[], $3::bytea[]) AS new (kind, id, name)
		ORDER BY kind, id, name
		ON CONFLICT (kind, id, domain, name) DO UPDATE
		SET seen_from = LEAST(identity.seen_from, EXCLUDED.seen_from), seen_to = GREATEST(identity.seen_to, EXCLUDED.seen_to)`
	_, err := tx.Exec(ctx, insert, kinds, ids, names, printable(im.Meta.Host), im.Meta.Started)
	return err
}

// saveFilesets adds the filesets of the file system; the lock of the import
// keeps others away.
func (im *importer) saveFilesets(ctx context.Context) error {
	keys := make(map[string]bool)
	for i := range im.Summary.Cells {
		if i == 0 || im.Summary.Cells[i].Fileset != im.Summary.Cells[i-1].Fileset {
			keys[im.Summary.Cells[i].Fileset] = true
		}
	}
	for i := range im.Summary.Sizes {
		if c := &im.Summary.Sizes[i]; c.Dimension == usage.Fileset {
			keys[c.Value.Text] = true
		}
	}
	for i := range im.Summary.Ages {
		if c := &im.Summary.Ages[i]; c.Dimension == usage.Fileset {
			keys[c.Value.Text] = true
		}
	}
	for i := range im.Summary.Directories {
		keys[im.Summary.Directories[i].Fileset] = true
	}
	named := make(map[string]string)
	for _, f := range im.Meta.Filesets {
		named[f.Path] = f.Name
	}
	sorted := slices.Sorted(maps.Keys(keys))
	escaped, names := make([]string, len(sorted)), make([][]byte, len(sorted))
	for i, k := range sorted {
		escaped[i], names[i] = usage.EscapeKey(k), []byte(named[k])
	}
	const insert = `
		INSERT INTO fileset (filesystem_id, external_key, escaped_key, name, path)
		SELECT $1, key, escaped, name, key
		FROM unnest($2::bytea[], $3::text[], $4::bytea[]) AS new (key, escaped, name)
		ON CONFLICT (filesystem_id, sha256(external_key)) DO UPDATE SET name = EXCLUDED.name
		WHERE fileset.name <> EXCLUDED.name`
	if _, err := im.tx.Exec(ctx, insert, im.FileSystemID, blobs(sorted), escaped, names); err != nil {
		return fmt.Errorf("store the filesets: %w", err)
	}
	var err error
	im.filesets, err = idsByName(ctx, im.tx,
		`SELECT id, external_key FROM fileset WHERE filesystem_id = $1`, im.FileSystemID)
	if err != nil {
		return fmt.Errorf("read the filesets: %w", err)
	}
	return nil
}

// savePaths returns the ids of the summary's directories, in their order. Each
// level of the tree is one statement: a path is known by its parent.
func (im *importer) savePaths(ctx context.Context) ([]int64, error) {
	rows := im.Summary.Directories
	depth, levels := make([]int, len(rows)), make([][]int, 0)
	for i, d := range rows {
		if d.Parent >= 0 {
			depth[i] = depth[d.Parent] + 1
		}
		if depth[i] == len(levels) {
			levels = append(levels, nil)
		}
		levels[depth[i]] = append(levels[depth[i]], i)
	}
	type name struct {
		parent int64
		name   string
	}
	const save = `
		WITH wanted AS (
			SELECT parent_id, name FROM unnest($2::bigint[], $3::bytea[]) AS w (parent_id, name)
		), added AS (
			INSERT INTO path (filesystem_id, parent_id, name)
			SELECT $1, parent_id, name FROM wanted
			ON CONFLICT DO NOTHING
			RETURNING id, parent_id, name
		)
		SELECT id, parent_id, name FROM added
		UNION ALL
		SELECT p.id, p.parent_id, p.name
		FROM wanted AS w
		JOIN path AS p ON p.filesystem_id = $1 AND p.parent_id = w.parent_id AND p.name = w.name`
	ids := make([]int64, len(rows))
	for _, level := range levels {
		parents, names := make([]int64, len(level)), make([][]byte, len(level))
		for k, i := range level {
			if rows[i].Parent >= 0 {
				parents[k] = ids[rows[i].Parent]
			}
			names[k] = []byte(rows[i].Name)
		}
		byName := make(map[name]int64, len(level))
		found, err := im.tx.Query(ctx, save, im.FileSystemID, parents, names)
		if err != nil {
			return nil, fmt.Errorf("store the directories: %w", err)
		}
		var id, parent int64
		var raw []byte
		_, err = pgx.ForEachRow(found, []any{&id, &parent, &raw}, func() error {
			byName[name{parent, string(raw)}] = id
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("store the directories: %w", err)
		}
		for k, i := range level {
			ids[i] = byName[name{parents[k], rows[i].Name}]
		}
	}
	return ids, nil
}
