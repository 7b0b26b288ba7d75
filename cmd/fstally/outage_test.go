package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"fstally/internal/embeddedpg"
)

// outageVariable says how long the outage lasts; CI takes the default.
const outageVariable = "FSTALLY_TEST_OUTAGE"

// TestOutage takes the database away during a scan and keeps it away beyond the end of
// the scan: pages say so, the result waits, and is stored once, equal to that of a scan
// that nothing disturbed (cases C115, C123).
func TestOutage(t *testing.T) {
	t.Parallel()
	lasting := 3 * time.Second
	if text := os.Getenv(outageVariable); text != "" {
		var err error
		if lasting, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	site := newCrashSite(t) // its data directory holds the database, as somebody else's
	database := func() *embeddedpg.Server {
		t.Helper()
		server, err := embeddedpg.Start(t.Context(), embeddedpg.Config{
			Dir: site.dataDir, Supervisor: []string{binary, supervisorCommand, "--data-dir", site.dataDir},
		})
		if err != nil {
			t.Fatal(err)
		}
		return server
	}
	server := database()
	dataDir := t.TempDir()
	p := launch(t, dataDir, func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "FSTALLY_DATABASE_URL="+server.URL())
	}, "serve", "--listen", "127.0.0.1:0", "--walkers=1", "--ops-limit=100", site.root)
	crashed := crashSite{dataDir: dataDir}
	await(t, "scanning", func() bool { return len(crashed.scanners(t)) == 1 })

	killPostgres(t, site.dataDir)
	<-server.Done()
	away := time.Now()
	spooled := filepath.Join(dataDir, "spool", "scan-2.fst")
	await(t, "with a result that waits", func() bool {
		_, err := os.Stat(spooled)
		return err == nil && len(crashed.scanners(t)) == 0
	})
	for _, path := range []string{"/", "/fs/scratch/capacity", "/readyz", "/api/v1/filesystems"} {
		if status, body := p.try(http.MethodGet, path); status != http.StatusServiceUnavailable || len(body) == 0 {
			t.Errorf("%s without the database: %d %s", path, status, body)
		}
	}
	select {
	case <-time.After(lasting - time.Since(away)):
	case <-p.ended:
		t.Fatal("the server ended with its database")
	}
	if status, _ := p.try(http.MethodGet, "/healthz"); status != http.StatusOK {
		t.Errorf("the server is not well without its database: %d", status)
	}

	server = database()
	defer func() {
		p.stop()
		if err := server.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	await(t, "stored", func() bool { return p.scan("scratch", 2).State == "complete" })
	if scans := p.scans("scratch"); len(scans) != 2 {
		t.Errorf("scans after the outage: %+v", scans)
	}
	await(t, "out of the spool", func() bool {
		_, err := os.Stat(spooled)
		return os.IsNotExist(err)
	})
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // it only read
	numbers := func(scan int) []string {
		t.Helper()
		const all = `
			SELECT format('%s %s %s %s %s %s', 'marginal', dimension, key, key2, files, allocated) FROM marginal WHERE scan_id = $1
			UNION ALL
			SELECT format('%s %s %s %s %s %s', 'usage', uid, file_type_id, fileset_id, files, allocated) FROM usage WHERE scan_id = $1
			ORDER BY 1`
		rows, err := conn.Query(t.Context(), all, scan)
		if err != nil {
			t.Fatal(err)
		}
		list, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	undisturbed := numbers(1)
	if diff := cmp.Diff(undisturbed, numbers(2)); diff != "" || len(undisturbed) == 0 {
		t.Errorf("the scan of the outage differs:\n%s", diff)
	}
}
