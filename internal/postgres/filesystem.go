package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"fstally/internal/usage"
)

const selectFileSystem = `
	SELECT id, name, root, identity, fs_type, size_classes, fileset_depth, fileset_paths, fileset_names,
		walkers, ops_limit, stall_minutes, nice, idle_io, memory_limit, worker,
		COALESCE(current_scan_id, 0), demo, created_at
	FROM filesystem`

func readFileSystem(row pgx.CollectableRow) (usage.FileSystem, error) {
	var f usage.FileSystem
	var root, identity []byte
	var bounds []int64
	var paths, names [][]byte
	var stall int64
	err := row.Scan(&f.ID, &f.Name, &root, &identity, &f.Type, &bounds, &f.Filesets.Depth, &paths, &names,
		&f.Walkers, &f.OpsLimit, &stall, &f.Nice, &f.IdleIO, &f.MemoryLimit, &f.Worker, &f.CurrentScanID, &f.Demo, &f.Created)
	if err != nil {
		return f, err
	}
	f.Root, f.Identity, f.Created = string(root), string(identity), f.Created.UTC()
	f.StallAfter = time.Duration(stall) * time.Minute
	copy(f.SizeClasses[:], bounds)
	for i, p := range paths {
		f.Filesets.Named = append(f.Filesets.Named, usage.NamedFileset{Path: string(p), Name: string(names[i])})
	}
	return f, nil
}

// fileSystemArgs checks f and returns its settings as arguments.
func fileSystemArgs(f usage.FileSystem) (pgx.StrictNamedArgs, error) {
	if err := usage.ValidateName(f.Name); err != nil {
		return nil, err
	}
	if f.SizeClasses == (usage.SizeClasses{}) {
		f.SizeClasses = usage.DefaultSizeClasses()
	}
	if err := f.SizeClasses.Validate(); err != nil {
		return nil, err
	}
	paths, names := make([][]byte, 0), make([][]byte, 0)
	for _, n := range f.Filesets.Named {
		paths, names = append(paths, []byte(n.Path)), append(names, []byte(n.Name))
	}
	return pgx.StrictNamedArgs{
		"name": f.Name, "root": []byte(f.Root), "identity": []byte(f.Identity),
		"size_classes": f.SizeClasses[:], "depth": f.Filesets.Depth, "paths": paths, "names": names,
		"walkers": f.Walkers, "ops_limit": f.OpsLimit, "stall": int64(f.StallAfter / time.Minute),
		"nice": f.Nice, "idle_io": f.IdleIO, "memory": f.MemoryLimit, "worker": f.Worker,
	}, nil
}

// fileSystemTaken explains a name or root that another file system has.
func fileSystemTaken(err error, f usage.FileSystem) error {
	switch {
	case violates(err, "filesystem_name_key"):
		return fmt.Errorf("file system %q: %w", f.Name, ErrExists)
	case violates(err, "filesystem_root_key"):
		return fmt.Errorf("a file system with the root %s: %w", usage.Escape(f.Root), ErrExists)
	case errors.Is(err, usage.ErrNotFound):
		return fmt.Errorf("file system %d: %w", f.ID, err)
	}
	return fmt.Errorf("file system %q: %w", f.Name, err)
}

// AddFileSystem registers a file system and returns it with its id. Zero size
// classes become the default ones. ErrExists: the name or the root is taken.
func (s *Store) AddFileSystem(ctx context.Context, f usage.FileSystem) (usage.FileSystem, error) {
	args, err := fileSystemArgs(f)
	if err != nil {
		return usage.FileSystem{}, err
	}
	args["fs_type"], args["demo"] = printable(f.Type), f.Demo
	const insert = `
		INSERT INTO filesystem (name, root, identity, fs_type, size_classes, fileset_depth, fileset_paths, fileset_names,
			walkers, ops_limit, stall_minutes, nice, idle_io, memory_limit, worker, demo)
		VALUES (@name, @root, @identity, @fs_type, @size_classes, @depth, @paths, @names,
			@walkers, @ops_limit, @stall, @nice, @idle_io, @memory, @worker, @demo)
		RETURNING id`
	id, err := one(ctx, s.pool, pgx.RowTo[int64], insert, args)
	if err != nil {
		return usage.FileSystem{}, fileSystemTaken(err, f)
	}
	return s.FileSystem(ctx, usage.Everything(), strconv.FormatInt(id, 10))
}

// UpdateFileSystem writes the settings of f, found by its id: name, root,
// identity, size classes, rules of filesets, how it is scanned and by whom.
func (s *Store) UpdateFileSystem(ctx context.Context, f usage.FileSystem) error {
	args, err := fileSystemArgs(f)
	if err != nil {
		return err
	}
	args["id"] = f.ID
	const update = `
		UPDATE filesystem SET name = @name, root = @root, identity = @identity, size_classes = @size_classes,
			fileset_depth = @depth, fileset_paths = @paths, fileset_names = @names,
			walkers = @walkers, ops_limit = @ops_limit, stall_minutes = @stall, nice = @nice, idle_io = @idle_io,
			memory_limit = @memory, worker = @worker
		WHERE id = @id
		RETURNING id`
	if _, err := one(ctx, s.pool, pgx.RowTo[int64], update, args); err != nil {
		return fileSystemTaken(err, f)
	}
	return nil
}

// FileSystems returns the file systems in the scope, by name.
func (s *Store) FileSystems(ctx context.Context, scope usage.Scope) ([]usage.FileSystem, error) {
	var seen []usage.FileSystem
	err := s.read(ctx, func(tx pgx.Tx) error {
		list, err := all(ctx, tx, readFileSystem, selectFileSystem+` ORDER BY name`)
		for _, f := range list {
			if scope.Sees(f.ID) {
				seen = append(seen, f)
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the file systems: %w", err)
	}
	return seen, nil
}

// FileSystem returns the file system of that name or, given digits, that id.
func (s *Store) FileSystem(ctx context.Context, scope usage.Scope, nameOrID string) (f usage.FileSystem, err error) {
	err = s.read(ctx, func(tx pgx.Tx) error {
		if id, notID := strconv.ParseInt(nameOrID, 10, 64); notID == nil {
			f, err = one(ctx, tx, readFileSystem, selectFileSystem+` WHERE id = $1`, id)
		} else if usage.ValidateName(nameOrID) == nil {
			f, err = one(ctx, tx, readFileSystem, selectFileSystem+` WHERE name = $1`, nameOrID)
		} else {
			err = usage.ErrNotFound // bytes that no name has, and that SQL may refuse
		}
		return err
	})
	if err == nil && !scope.Sees(f.ID) {
		err = usage.ErrNotFound
	}
	if err != nil {
		return usage.FileSystem{}, fmt.Errorf("file system %q: %w", nameOrID, err)
	}
	return f, nil
}

// RemoveFileSystem removes a file system with all its scans. ErrBusy while one
// is queued or runs.
func (s *Store) RemoveFileSystem(ctx context.Context, id int64) error {
	err := s.write(ctx, func(tx pgx.Tx) error {
		if _, err := one(ctx, tx, pgx.RowTo[int64], `SELECT id FROM filesystem WHERE id = $1 FOR UPDATE`, id); err != nil {
			return err
		}
		if err := busy(ctx, tx, id); err != nil {
			return err
		}
		// Tables without a foreign key: checking it would double the cost of an import.
		for _, table := range append(detailTables(), "marginal", "size_total") {
			sql := fmt.Sprintf(`DELETE FROM %s WHERE scan_id IN (SELECT id FROM scan WHERE filesystem_id = $1)`,
				pgx.Identifier{table}.Sanitize())
			if _, err := tx.Exec(ctx, sql, id); err != nil {
				return fmt.Errorf("%s: %w", table, err)
			}
		}
		_, err := tx.Exec(ctx, `DELETE FROM filesystem WHERE id = $1`, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("remove the file system %d: %w", id, err)
	}
	return nil
}
