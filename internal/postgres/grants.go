package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// WorkerGrants returns the statements that give a role what a worker on another host
// needs, and no more: it takes queued scans and adds their results. It reads no usage,
// removes nothing, makes no tables, and changes no settings.
func (s *Store) WorkerGrants(ctx context.Context, role string) (string, error) {
	schema, err := one(ctx, s.pool, pgx.RowTo[string], `SELECT current_schema()::text`)
	if err != nil {
		return "", fmt.Errorf("ask for the schema: %w", explainUnavailable(err))
	}
	to := pgx.Identifier{role}.Sanitize()
	in := pgx.Identifier{schema}.Sanitize()
	var sql strings.Builder
	grant := func(rights, schema string, tables ...string) {
		for _, table := range tables {
			fmt.Fprintf(&sql, "GRANT %s ON %s.%s TO %s;\n", rights, schema, table, to)
		}
	}
	fmt.Fprintf(&sql, "GRANT USAGE ON SCHEMA %s, %s TO %s;\n", in, QueueSchema, to)
	grant("SELECT", in, "goose_db_version", "filesystem")
	grant("UPDATE (current_scan_id, fs_type, identity)", in, "filesystem")
	grant("SELECT, INSERT, UPDATE", in, "scan", "category", "file_type", "fileset", "identity", "path")
	grant("INSERT", in, append(detailTables(), "scan_error", "scan_skipped", "marginal", "size_total")...)
	fmt.Fprintf(&sql, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %s TO %s;\n", QueueSchema, to)
	fmt.Fprintf(&sql, "REVOKE INSERT, UPDATE, DELETE ON %s.river_migration FROM %s;\n", QueueSchema, to)
	fmt.Fprintf(&sql, "GRANT USAGE ON ALL SEQUENCES IN SCHEMA %s TO %s;\n", QueueSchema, to)
	return sql.String(), nil
}
