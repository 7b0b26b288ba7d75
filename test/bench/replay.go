package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"fstally/internal/api"
	"fstally/internal/postgres"
	"fstally/internal/server"
	"fstally/test/bench/statements"
)

// recorded is a site over the same store as the program under test, in this
// process, that tells what it asks of Postgres.
type recorded struct {
	site     http.Handler
	recorder *statements.Recorder
	store    *postgres.Store
	database string // its address
}

func newRecorded(ctx context.Context, database string) (*recorded, error) {
	r := &recorded{recorder: new(statements.Recorder), database: database}
	var err error
	if r.store, err = postgres.Open(ctx, database, postgres.Options{Tracer: r.recorder}); err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	v1, err := api.New(api.Config{Reader: r.store, Scans: r.store, Scope: server.Scope, Clock: time.Now, Logger: log})
	if err == nil {
		r.site, err = server.New(server.Config{
			Reader: r.store, Scans: r.store, API: v1, AllowAnonymous: true, Location: time.UTC, Clock: time.Now, Logger: log,
		})
	}
	if err != nil {
		r.store.Close()
		return nil, err
	}
	return r, nil
}

// statements returns what a request asks of Postgres.
func (r *recorded) statements(ctx context.Context, path string) ([]statements.Statement, int, error) {
	r.recorder.Take()
	w := httptest.NewRecorder()
	r.site.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil))
	if w.Code >= http.StatusBadRequest {
		return nil, 0, fmt.Errorf("GET %s in this process: %d: %s", path, w.Code, w.Body)
	}
	sent, transactions := r.recorder.Take()
	return sent, transactions, nil
}

// fetch runs the statements one after the other and keeps a copy of every row, as
// the least that a program could do with plain pgx.
func fetch(ctx context.Context, conn *pgx.Conn, list []statements.Statement) error {
	for _, s := range list {
		rows, err := conn.Query(ctx, s.SQL, s.Args...)
		if err != nil {
			return err
		}
		_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) ([][]byte, error) {
			values := slices.Clone(row.RawValues())
			for i, v := range values {
				values[i] = slices.Clone(v)
			}
			return values, nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", s.SQL, err)
		}
	}
	return nil
}
