package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"fstally/internal/postgres"
	"fstally/migrations"
)

// serverVariable names an existing server for tests, as an address of one of its
// databases whose user may create others.
const serverVariable = "FSTALLY_TEST_DATABASE_URL"

// server holds what is made once per test process; it has no other owner than
// the process itself.
var server = sync.OnceValues(func() (prepared, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	address := os.Getenv(serverVariable)
	if address == "" {
		var err error
		if address, err = startServer(ctx); err != nil {
			return prepared{}, err
		}
	}
	template, err := prepareTemplate(ctx, address)
	return prepared{address, template}, err
})

type prepared struct{ address, template string }

// New returns the address of a fresh database with the schema of this program,
// in UTF8. It is dropped when the test ends.
func New(tb testing.TB) string {
	tb.Helper()
	return create(tb, func(p prepared) string { return "TEMPLATE " + p.template })
}

// NewEmpty returns the address of a fresh database without a schema; options
// follow CREATE DATABASE, such as "ENCODING 'LATIN1' TEMPLATE template0".
func NewEmpty(tb testing.TB, options string) string {
	tb.Helper()
	return create(tb, func(prepared) string { return options })
}

func create(tb testing.TB, options func(prepared) string) string {
	tb.Helper()
	p, err := server()
	if err != nil {
		tb.Fatalf("no Postgres for tests: %v", err)
	}
	name := "test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if err := run(tb.Context(), p.address, "CREATE DATABASE "+name+" "+options(p)); err != nil {
		tb.Fatalf("make a database: %v", err)
	}
	tb.Cleanup(func() {
		// FORCE: a store that a failed test left open must not keep it.
		if err := run(context.WithoutCancel(tb.Context()), p.address, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			tb.Errorf("drop the database: %v", err)
		}
	})
	address, err := withDatabase(p.address, name)
	if err != nil {
		tb.Fatal(err)
	}
	return address
}

// prepareTemplate makes the template unless a process before has, and returns its
// name, which says which migrations it holds.
func prepareTemplate(ctx context.Context, address string) (string, error) {
	name, err := templateName()
	if err != nil {
		return "", err
	}
	return name, withConn(ctx, address, func(conn *pgx.Conn) error {
		// Held until the connection ends.
		if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock(hashtext('fstally_template'))`); err != nil {
			return err
		}
		var exists bool
		const lookup = `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`
		if err := conn.QueryRow(ctx, lookup, name).Scan(&exists); err != nil || exists {
			return err
		}
		return makeTemplate(ctx, conn, address, name)
	})
}

func templateName() (string, error) {
	names, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		return "", err
	}
	sum := fnv.New64a()
	for _, name := range names {
		text, err := fs.ReadFile(migrations.FS, name)
		if err != nil {
			return "", err
		}
		sum.Write(text)
	}
	return fmt.Sprintf("fstally_template_%016x", sum.Sum64()), nil
}

// makeTemplate makes the template under another name until it is whole.
func makeTemplate(ctx context.Context, conn *pgx.Conn, address, name string) error {
	raw := name + "_new"
	if _, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+raw); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+raw+" ENCODING 'UTF8' TEMPLATE template0"); err != nil {
		return err
	}
	target, err := withDatabase(address, raw)
	if err != nil {
		return err
	}
	if err := postgres.Migrate(ctx, target, nil); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "ALTER DATABASE "+raw+" RENAME TO "+name)
	return err
}

// withDatabase returns the address with another database in it.
func withDatabase(address, name string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return "", fmt.Errorf("%s: use an address of the form postgres://user@host/database", serverVariable)
	}
	u.Path = "/" + name
	return u.String(), nil
}

// run executes one statement on a connection of its own.
func run(ctx context.Context, address, sql string) error {
	return withConn(ctx, address, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sql)
		return err
	})
}

func withConn(ctx context.Context, address string, use func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	return errors.Join(use(conn), conn.Close(context.WithoutCancel(ctx)))
}
