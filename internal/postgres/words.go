package postgres

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"fstally/internal/usage"
)

// label is what a dictionary says of a stored key.
type label struct {
	id        int64
	key, name []byte
}

func readLabel(row pgx.CollectableRow) (l label, err error) {
	err = row.Scan(&l.id, &l.key, &l.name)
	return l, err
}

// rowsOf gives stored keys their words, in the scan's own classes and with the
// names that its host knew, or others where it knew none.
func rowsOf(ctx context.Context, tx pgx.Tx, scan storedScan, d usage.Dimension, values []keyed) ([]usage.Row, error) {
	ids := make([]int64, len(values))
	for i, v := range values {
		ids[i] = v.key
	}
	var found []label
	var err error
	switch d {
	case usage.User:
		found, err = identities(ctx, tx, usage.UserIdentity, ids, scan.Host)
	case usage.Group:
		found, err = identities(ctx, tx, usage.GroupIdentity, ids, scan.Host)
	case usage.Type:
		found, err = all(ctx, tx, readLabel, `SELECT id, name, ''::bytea FROM file_type WHERE id = ANY ($1)`, ids)
	case usage.Category:
		found, err = all(ctx, tx, readLabel, `SELECT id, name, ''::bytea FROM category WHERE id = ANY ($1)`, ids)
	case usage.Fileset:
		found, err = all(ctx, tx, readLabel, `SELECT id, external_key, name FROM fileset WHERE id = ANY ($1)`, ids)
	default: // numbers that need no dictionary
	}
	if err != nil {
		return nil, fmt.Errorf("names of %s: %w", d, err)
	}
	labels := make(map[int64]label, len(found))
	for _, l := range found {
		labels[l.id] = l
	}
	rows := make([]usage.Row, len(values))
	for i, v := range values {
		rows[i] = rowOf(scan, d, v, labels[v.key])
	}
	return rows, nil
}

// identities returns the latest name known of each id, preferring the host's.
func identities(ctx context.Context, tx pgx.Tx, kind usage.IdentityKind, ids []int64, host string) ([]label, error) {
	return all(ctx, tx, readLabel, `
		SELECT DISTINCT ON (id) id, ''::bytea, name
		FROM identity
		WHERE kind = $1 AND id = ANY ($2)
		ORDER BY id, domain = $3 DESC, seen_to DESC, domain, name`, identityKind(kind), ids, host)
}

func rowOf(scan storedScan, d usage.Dimension, v keyed, l label) usage.Row {
	row := usage.Row{ID: v.key, Measures: v.Measures}
	switch d {
	case usage.Type, usage.Category:
		row.ID, row.Key = 0, usage.Escape(string(l.key))
	case usage.Fileset:
		row.ID, row.Key = 0, usage.EscapeKey(string(l.key))
		if len(l.name) > 0 {
			row.Name = usage.EscapeKey(string(l.name))
		}
	case usage.SizeClassDim:
		class := usage.SizeClass(v.key)
		row.Key, row.Name = scan.SizeClasses.Key(class), scan.SizeClasses.Label(class)
	case usage.AgeClassDim:
		class := usage.AgeClass(v.key)
		row.Key, row.Name = class.Key(), class.Label()
	default:
		row.Key = strconv.FormatInt(v.key, 10)
		row.Name = usage.Escape(string(l.name))
	}
	if row.Name == "" {
		row.Name = row.Key
	}
	return row
}

// unescaped returns the raw name behind the key of a type, category or fileset;
// NULL, which equals nothing, for a text that is no key.
func unescaped(d usage.Dimension, key string) []byte {
	unescape := usage.Unescape
	if d == usage.Fileset {
		unescape = usage.UnescapeKey
	}
	raw, err := unescape(key)
	if err != nil {
		return nil
	}
	return []byte(raw)
}

// storedKeys returns how keys of a dimension are stored, without those that the
// store or, for size classes, the scan does not have.
func storedKeys(
	ctx context.Context, tx pgx.Tx, scan storedScan, d usage.Dimension, keys []string,
) (map[string]int64, error) {
	stored := make(map[string]int64, len(keys))
	switch d {
	case usage.Type, usage.Category, usage.Fileset:
		raw := make(map[string]string, len(keys)) // to the key as given
		var names [][]byte
		for _, key := range keys {
			if name := unescaped(d, key); name != nil {
				raw[string(name)] = key
				names = append(names, name)
			}
		}
		ids, err := dictionaryIDs(ctx, tx, scan.FileSystemID, d, names)
		for name, id := range ids {
			stored[raw[name]] = id
		}
		return stored, err
	case usage.SizeClassDim:
		for _, key := range keys {
			if class, err := scan.SizeClasses.Parse(key); err == nil {
				stored[key] = int64(class)
			}
		}
	case usage.AgeClassDim:
		for _, key := range keys {
			if class, err := usage.ParseAgeClass(key); err == nil {
				stored[key] = int64(class)
			}
		}
	default:
		for _, key := range keys {
			if id, err := strconv.ParseUint(key, 10, 32); err == nil {
				stored[key] = int64(id)
			}
		}
	}
	return stored, nil
}

func dictionaryIDs(
	ctx context.Context, tx pgx.Tx, fileSystemID int64, d usage.Dimension, names [][]byte,
) (map[string]int64, error) {
	switch d {
	case usage.Type:
		return idsByName(ctx, tx, `SELECT id, name FROM file_type WHERE name = ANY ($1)`, names)
	case usage.Category:
		return idsByName(ctx, tx, `SELECT id, name FROM category WHERE name = ANY ($1)`, names)
	default:
		return idsByName(ctx, tx, `
			SELECT f.id, f.external_key
			FROM unnest($2::bytea[]) AS wanted (key)
			JOIN fileset AS f ON f.filesystem_id = $1 AND sha256(f.external_key) = sha256(wanted.key)
			WHERE f.external_key = wanted.key`, fileSystemID, names)
	}
}
