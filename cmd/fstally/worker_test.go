package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"fstally/internal/postgres"
	"fstally/internal/usage"
	"fstally/test/postgrestest"
	"fstally/test/tree"
)

// A worker scans what is bound to it, in a role that can do no more than that.
func TestWorkerRole(t *testing.T) {
	t.Parallel()
	url := postgrestest.New(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	role := "worker_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	sql := func(text string) {
		t.Helper()
		if _, err := conn.Exec(context.WithoutCancel(t.Context()), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	sql("CREATE ROLE " + role + " LOGIN")
	t.Cleanup(func() {
		sql("DROP OWNED BY " + role)
		sql("DROP ROLE " + role)
		_ = conn.Close(context.WithoutCancel(t.Context()))
	})
	store, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	root := filepath.Join(t.TempDir(), "scratch")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	tree.Make(t, root, tree.Dir{"a": tree.File{Size: 1}, "b": tree.File{Size: 2}})
	fs := usage.NewFileSystem("scratch", root)
	fs.Worker = "node7"
	if fs, err = store.AddFileSystem(t.Context(), fs); err != nil {
		t.Fatal(err)
	}
	if err := store.PreparePartitions(t.Context(), time.Now()); err != nil { // as the housekeeping does
		t.Fatal(err)
	}
	dataDir := t.TempDir()
	owner := command(t.Context(), t, dataDir, "worker", "node7", "--grants", role)
	owner.Env = append(owner.Env, "FSTALLY_DATABASE_URL="+url)
	grants, err := owner.Output()
	if err != nil {
		t.Fatal(err)
	}
	sql(string(grants))

	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	asRole := fmt.Sprintf("host=%s port=%d dbname=%s user=%s", config.Host, config.Port, config.Database, role)
	launch(t, dataDir, func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "FSTALLY_DATABASE_URL="+asRole)
	}, "worker", "node7", "--fs", "scratch")
	queued, err := store.QueueScan(t.Context(), fs.ID)
	if err != nil {
		t.Fatal(err)
	}
	await(t, "scanned by the worker", func() bool {
		scan, err := store.Scan(t.Context(), usage.Everything(), queued.ID)
		if err != nil {
			t.Fatal(err)
		}
		return scan.State == usage.Complete && scan.Totals.Files == 2
	})

	limited, err := pgx.Connect(t.Context(), asRole)
	if err != nil {
		t.Fatal(err)
	}
	defer limited.Close(t.Context()) //nolint:errcheck // it only tried
	for _, forbidden := range []string{
		`SELECT * FROM usage`, `SELECT * FROM marginal`, `DELETE FROM scan`, `DELETE FROM marginal`,
		`UPDATE filesystem SET root = '/etc'`, `UPDATE filesystem SET worker = 'node7'`, `INSERT INTO filesystem DEFAULT VALUES`,
		`UPDATE schedule SET enabled = false`, `SELECT * FROM schedule`, `UPDATE retention SET nightly_days = 1`,
		`DROP TABLE scan`, `TRUNCATE marginal`, `CREATE TABLE x ()`, `UPDATE marginal SET files = 0`,
	} {
		_, err := limited.Exec(t.Context(), forbidden)
		if pg, ok := err.(*pgconn.PgError); !ok || pg.Code != "42501" { //nolint:errorlint // it comes unwrapped
			t.Errorf("%s: %v", forbidden, err)
		}
	}

	stranger := command(t.Context(), t, dataDir, "worker", "node8", "--fs", "scratch")
	stranger.Env = append(stranger.Env, "FSTALLY_DATABASE_URL="+asRole)
	said, err := stranger.CombinedOutput()
	if err == nil || stranger.ProcessState.ExitCode() != exitNotFound || !strings.Contains(string(said), "fstally fs set scratch --worker node8") {
		t.Errorf("a worker that it is not bound to: %v, %s", err, said)
	}
}
