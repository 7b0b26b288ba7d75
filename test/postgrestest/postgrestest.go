package postgrestest

import (
	"context"
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
func New(t testing.TB) string {
	t.Helper()
	return create(t, func(p prepared) string { return "TEMPLATE " + p.template })
}

// NewEmpty returns the address of a fresh database without a schema; options
// follow CREATE DATABASE, such as "ENCODING 'LATIN1' TEMPLATE template0".
func NewEmpty(t testing.TB, options string) string {
	t.Helper()
	return create(t, func(prepared) string { return options })
}

func create(t testing.TB, options func(prepared) string) string {
	t.Helper()
	p, err := server()
	if err != nil {
		t.Fatalf("no Postgres for tests: %v", err)
	}
	name := "test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if err := run(t.Context(), p.address, "CREATE DATABASE "+name+" "+options(p)); err != nil {
		t.Fatalf("make a database: %v", err)
	}
	t.Cleanup(func() {
		// FORCE: a store that a failed test left open must not keep it.
		if err := run(context.Background(), p.address, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop the database: %v", err)
		}
	})
	address, err := withDatabase(p.address, name)
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// prepareTemplate makes the template unless a process before has: its name says
// which migrations it holds.
func prepareTemplate(ctx context.Context, address string) (string, error) {
	sum := fnv.New64a()
	names, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		return "", err
	}
	for _, name := range names {
		text, err := fs.ReadFile(migrations.FS, name)
		if err != nil {
			return "", err
		}
		sum.Write(text)
	}
	name := fmt.Sprintf("fstally_template_%016x", sum.Sum64())

	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx)) // gives the lock back
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock(hashtext('fstally_template'))`); err != nil {
		return "", err
	}
	var exists bool
	if err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&exists); err != nil || exists {
		return name, err
	}
	// Under another name until it is whole.
	for _, sql := range []string{
		"DROP DATABASE IF EXISTS " + name + "_new",
		"CREATE DATABASE " + name + "_new ENCODING 'UTF8' TEMPLATE template0",
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return "", err
		}
	}
	fresh, err := withDatabase(address, name+"_new")
	if err != nil {
		return "", err
	}
	if err := postgres.Migrate(ctx, fresh, nil); err != nil {
		return "", err
	}
	_, err = conn.Exec(ctx, "ALTER DATABASE "+name+"_new RENAME TO "+name)
	return name, err
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
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}
