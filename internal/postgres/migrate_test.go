package postgres_test

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"fstally/internal/postgres"
	"fstally/migrations"
	"fstally/test/postgrestest"
)

const utf8Database = `ENCODING 'UTF8' TEMPLATE template0`

// connect opens a connection beside the store, until the test ends.
func connect(tb testing.TB, url string) *pgx.Conn {
	tb.Helper()
	conn, err := pgx.Connect(tb.Context(), url)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := conn.Close(context.WithoutCancel(tb.Context())); err != nil {
			tb.Error(err)
		}
	})
	return conn
}

// refused fails unless err is an error that says each of the words.
func refused(t *testing.T, what string, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("%s: no error", what)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %q does not say %q", what, err, w)
		}
	}
}

func TestMigrate(t *testing.T) {
	url := postgrestest.NewEmpty(t, utf8Database)
	_, err := postgres.Open(t.Context(), url, postgres.Options{})
	refused(t, "Open of an empty database", err, "fstally migrate")

	var wg sync.WaitGroup
	for range 3 { // who comes second waits and finds nothing to do
		wg.Go(func() {
			if err := postgres.Migrate(t.Context(), url, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	store, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	store.Close()

	conn := connect(t, url)
	if _, err := conn.Exec(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)`); err != nil {
		t.Fatal(err)
	}
	_, err = postgres.Open(t.Context(), url, postgres.Options{})
	refused(t, "Open of a newer schema", err, "99999", "newer")
	refused(t, "Migrate of a newer schema", postgres.Migrate(t.Context(), url, nil), "99999", "newer")
}

func TestMigrationsCanBeUndone(t *testing.T) {
	url := postgrestest.New(t)
	names, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, url)
	for _, name := range slices.Backward(names) {
		text, err := migrations.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, down, ok := strings.Cut(string(text), "-- +goose Down")
		if !ok {
			t.Fatalf("%s has no Down section", name)
		}
		if _, err := conn.Exec(t.Context(), down); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	var left int
	const sql = `SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname NOT LIKE 'goose%'`
	if err := conn.QueryRow(t.Context(), sql).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d relations are left, %v", left, err)
	}
}

func TestOtherEncodingsAreRefused(t *testing.T) {
	url := postgrestest.NewEmpty(t, `ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`)
	refused(t, "Migrate", postgres.Migrate(t.Context(), url, nil), "LATIN1", "UTF8")
	_, err := postgres.Open(t.Context(), url, postgres.Options{})
	refused(t, "Open", err, "LATIN1", "UTF8")
}

func TestUnreachable(t *testing.T) {
	_, err := postgres.Open(t.Context(), "postgres:///x?host="+t.TempDir(), postgres.Options{})
	refused(t, "Open of a server that is not there", err, "connect to the database")
	_, err = postgres.Open(t.Context(), "postgres://%zz", postgres.Options{})
	refused(t, "Open of no address", err, "address")
}

// C120: what fails in the middle leaves the version before, and the next start
// goes on from there.
func TestAFailedMigrationLeavesNothing(t *testing.T) {
	url := postgrestest.NewEmpty(t, utf8Database)
	files := fstest.MapFS{
		"00001_one.sql": {Data: []byte("-- +goose Up\nCREATE TABLE one (i int);")},
		"00002_two.sql": {Data: []byte("-- +goose Up\nCREATE TABLE two (i int);\nINSERT INTO two SELECT 1 / 0;")},
	}
	migrate := func() error { return postgres.MigrateFiles(t.Context(), url, files, time.Second, nil) }
	refused(t, "a migration that divides by zero", migrate(), "version:2", "division by zero")
	conn := connect(t, url)
	var version int
	var exists bool
	const sql = `SELECT max(version_id), to_regclass('two') IS NOT NULL FROM goose_db_version`
	if err := conn.QueryRow(t.Context(), sql).Scan(&version, &exists); err != nil || version != 1 || exists {
		t.Errorf("version %d, table two exists: %t, %v", version, exists, err)
	}
	files["00002_two.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABLE two (i int);")}
	if err := migrate(); err != nil {
		t.Errorf("after the cause is gone: %v", err)
	}
}

// C114: a session that died with a lock on a table must not stop a start without
// end and without a word.
func TestAMigrationDoesNotWaitWithoutEnd(t *testing.T) {
	url := postgrestest.NewEmpty(t, utf8Database)
	files := fstest.MapFS{"00001_one.sql": {Data: []byte("-- +goose Up\nCREATE TABLE one (i int);")}}
	migrate := func() error { return postgres.MigrateFiles(t.Context(), url, files, time.Millisecond, nil) }
	if err := migrate(); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, url)
	if _, err := conn.Exec(t.Context(), `BEGIN; LOCK TABLE one IN ROW EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	files["00002_two.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nALTER TABLE one ADD COLUMN j int;")}
	refused(t, "a migration of a locked table", migrate(), "holds a lock", "fstally migrate")
	if _, err := conn.Exec(t.Context(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	if err := migrate(); err != nil {
		t.Errorf("after the lock is gone: %v", err)
	}
}
