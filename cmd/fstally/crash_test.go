package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"fstally/internal/embeddedpg"
	"fstally/test/tree"
)

// crashSite is a file system that was scanned once, and whose next scan takes
// minutes unless something ends it.
type crashSite struct {
	dataDir, root string
	files         int64
}

func newCrashSite(t *testing.T) crashSite {
	t.Helper()
	site := crashSite{dataDir: filepath.Join(t.TempDir(), "data"), root: filepath.Join(t.TempDir(), "scratch"), files: 300}
	dir := tree.Dir{}
	for i := range site.files {
		dir[fmt.Sprintf("f%d.dat", i)] = tree.File{Size: i}
	}
	if err := os.Mkdir(site.root, 0o755); err != nil {
		t.Fatal(err)
	}
	tree.Make(t, site.root, dir)
	fstally(t, site.dataDir, "scan", site.root)
	return site
}

// slowly starts the program with a scan that takes minutes, and returns when it
// is under way.
func (c crashSite) slowly(t *testing.T) *program {
	t.Helper()
	p := serve(t, c.dataDir, "--walkers=1", "--ops-limit=2", c.root)
	await(t, "scanning", func() bool { return len(c.scanners(t)) == 1 && p.scans("scratch")[0].State == "running" })
	return p
}

// scanners returns the scanner processes.
func (c crashSite) scanners(t *testing.T) (pids []int) {
	t.Helper()
	for pid, line := range processesOf(t, c.dataDir) {
		if strings.Contains(line, " scan --child ") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// check holds that the first scan is still shown whole, and returns all scans.
func (c crashSite) check(t *testing.T, p *program, current int64) []scanRow {
	t.Helper()
	var top struct {
		Scan  struct{ ID int64 }
		Total struct{ Files int64 }
	}
	p.get("/api/v1/filesystems/scratch/top/users", &top)
	if top.Scan.ID != current || top.Total.Files != c.files {
		t.Errorf("shown is scan %d with %d files, want scan %d with %d", top.Scan.ID, top.Total.Files, current, c.files)
	}
	return p.scans("scratch")
}

// gone waits until no process of the data directory is left.
func (c crashSite) gone(t *testing.T) {
	t.Helper()
	await(t, "without processes", func() bool { return len(processesOf(t, c.dataDir)) == 0 })
}

// restart starts the program after a crash, without a new scan.
func (c crashSite) restart(t *testing.T) *program {
	t.Helper()
	c.gone(t)
	return serve(t, c.dataDir)
}

func TestScannerIsKilled(t *testing.T) {
	site := newCrashSite(t)
	p := site.slowly(t)
	if err := syscall.Kill(site.scanners(t)[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await(t, "interrupted", func() bool { return p.scan("scratch", 2).State == "interrupted" })
	site.check(t, p, 1)
	if scan := p.scan("scratch", 2); !strings.Contains(scan.Reason, "killed") {
		t.Errorf("the reason is %q", scan.Reason)
	}
	if again := p.scan("scratch", 3); again.State != "queued" {
		t.Errorf("the second attempt is %s", again.State)
	}
	p.stop()
	site.gone(t)
}

func TestProgramIsKilledWhileScanning(t *testing.T) {
	site := newCrashSite(t)
	site.slowly(t).kill()
	p := site.restart(t)
	scans := site.check(t, p, 1)
	if len(scans) != 3 || scans[0].State != "queued" || scans[1].State != "interrupted" { // the next attempt waits
		t.Errorf("scans after the crash: %+v", scans)
	}
}

func TestPostgresIsKilledWhileScanning(t *testing.T) {
	site := newCrashSite(t)
	p := site.slowly(t)
	killPostgres(t, site.dataDir)
	await(t, "answering again", func() bool {
		status, _ := p.try("GET", "/readyz")
		return status == 200
	})
	if len(site.scanners(t)) != 1 {
		t.Error("the scan did not go on without the database")
	}
	scans := site.check(t, p, 1)
	if scans[0].State != "running" {
		t.Errorf("the scan is %s", scans[0].State)
	}
	if status, body := p.try("POST", fmt.Sprintf("/api/v1/scans/%d/cancel", scans[0].ID)); status >= 300 {
		t.Fatalf("cancel: %d %s", status, body)
	}
	await(t, "cancelled", func() bool { return p.scans("scratch")[0].State == "cancelled" })
	site.check(t, p, 1)
	p.stop()
	site.gone(t)
}

func TestInterruptFromTheTerminal(t *testing.T) {
	site := newCrashSite(t)
	p := site.slowly(t)
	p.stop()
	p = site.restart(t)
	if scans := site.check(t, p, 1); p.scan("scratch", 2).State != "interrupted" {
		t.Errorf("scans after Ctrl-C: %+v", scans)
	}
}

func TestInterruptedScanTellsSo(t *testing.T) {
	site := newCrashSite(t)
	scan := command(t.Context(), t, site.dataDir, "scan", "--walkers=1", "--ops-limit=2", site.root)
	if err := scan.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "scanning", func() bool { return len(site.scanners(t)) == 1 })
	_ = scan.Process.Signal(os.Interrupt)
	_ = scan.Wait()
	if code := scan.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	site.gone(t)
}

// importing starts a program whose scan is complete and whose import is held up
// by a lock; the connection that holds it is lost with the server.
func (c crashSite) importing(t *testing.T) *program {
	t.Helper()
	p := serve(t, c.dataDir)
	url, err := embeddedpg.Running(c.dataDir)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	if _, err := conn.Exec(t.Context(), `BEGIN; LOCK TABLE size_histogram IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	if status, body := p.try("POST", "/api/v1/filesystems/scratch/scans"); status >= 300 {
		t.Fatalf("start a scan: %d %s", status, body)
	}
	await(t, "held up in its import", func() bool {
		var waiting bool
		err := conn.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks
			WHERE NOT granted AND relation = 'size_histogram'::regclass)`).Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
		return waiting
	})
	return p
}

// importedOnce holds that the spooled result became the second scan, once.
func (c crashSite) importedOnce(t *testing.T, p *program) {
	t.Helper()
	await(t, "imported", func() bool { return p.scan("scratch", 2).State == "complete" })
	for _, scan := range c.check(t, p, 2) {
		if scan.ID > 2 && scan.State != "cancelled" { // another attempt, which is not needed any more
			t.Errorf("scan %d after the crash is %s", scan.ID, scan.State)
		}
	}
	left, err := filepath.Glob(filepath.Join(c.dataDir, "spool", "*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left in the spool folder: %q, %v", left, err)
	}
}

func TestProgramIsKilledWhileImporting(t *testing.T) {
	site := newCrashSite(t)
	p := site.importing(t)
	site.check(t, p, 1) // readers see the scan before
	p.kill()
	site.importedOnce(t, site.restart(t))
}

func TestPostgresIsKilledWhileImporting(t *testing.T) {
	site := newCrashSite(t)
	p := site.importing(t)
	killPostgres(t, site.dataDir)
	site.importedOnce(t, p)
}

func TestSecondProgramIsRefused(t *testing.T) {
	site := newCrashSite(t)
	p := serve(t, site.dataDir)
	code, said := fails(t, site.dataDir, "serve", "--listen", "127.0.0.1:0")
	if code != exitInUse || !strings.Contains(said, strconv.Itoa(p.cmd.Process.Pid)) {
		t.Errorf("exit code %d, want %d; it said: %s", code, exitInUse, said)
	}
	if out := fstally(t, site.dataDir, "fs", "list"); !strings.Contains(out, "scratch") {
		t.Errorf("fs list beside a running program: %s", out)
	}
	if out := fstally(t, site.dataDir, "scan", site.root); !strings.Contains(out, "Scan 2 of scratch is stored") {
		t.Errorf("scan beside a running program: %s", out)
	}
}

// killPostgres kills the postmaster of the data directory.
func killPostgres(t *testing.T, dataDir string) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(dataDir, "postgres", "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(file), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
