package statements

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// node is one of EXPLAIN (FORMAT JSON). Partitions that cannot have an answer are
// not among the nodes.
type node struct {
	Relation string `json:"Relation Name"`
	Plans    []node
}

func (n node) tables() (names []string) {
	if n.Relation != "" {
		names = append(names, n.Relation)
	}
	for _, child := range n.Plans {
		names = append(names, child.tables()...)
	}
	return names
}

// Tables returns the tables and partitions that Postgres reads for a statement
// with these arguments, sorted, each once. The statement is planned, not run.
func Tables(ctx context.Context, conn *pgx.Conn, s Statement) ([]string, error) {
	var text []byte
	if err := conn.QueryRow(ctx, `EXPLAIN (FORMAT JSON) `+s.SQL, s.Args...).Scan(&text); err != nil {
		return nil, fmt.Errorf("explain %s: %w", s.SQL, err)
	}
	var plans []struct{ Plan node }
	if err := json.Unmarshal(text, &plans); err != nil {
		return nil, fmt.Errorf("read the plan of %s: %w", s.SQL, err)
	}
	var names []string
	for _, p := range plans {
		names = append(names, p.Plan.tables()...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
