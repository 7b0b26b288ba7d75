package statements

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
)

// Statement is one that was sent to Postgres, with its arguments as they were
// given to pgx.
type Statement struct {
	SQL  string
	Args []any
}

// Recorder keeps the statements of the connections that it traces, see
// postgres.Options. It is safe for concurrent use.
type Recorder struct {
	mu   sync.Mutex
	sent []Statement
}

var _ pgx.QueryTracer = (*Recorder)(nil)

// TraceQueryStart keeps the statement.
func (r *Recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, Statement{data.SQL, slices.Clone(data.Args)})
	return ctx
}

// TraceQueryEnd does nothing.
func (*Recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// Take returns what was sent since it was last called: the statements that read
// or write, and how many transactions there were around them.
func (r *Recorder) Take() (sent []Statement, transactions int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sent {
		word, _, _ := strings.Cut(strings.TrimSpace(s.SQL), " ")
		switch strings.ToLower(word) {
		case "begin":
			transactions++
		case "commit", "rollback":
		default:
			sent = append(sent, s)
		}
	}
	r.sent = nil
	return sent, transactions
}
