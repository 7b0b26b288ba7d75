package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// binary is the program under test, built once.
var binary = filepath.Join(os.TempDir(), fmt.Sprintf("fstally-test-%d", os.Getpid()), "fstally")

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(filepath.Dir(binary))
	os.Exit(code)
}

// build builds the program. The test binary cannot stand in for it: what
// fstally starts does not pass on the environment that would tell it to.
var build = sync.OnceValue(func() error {
	out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput()
	if err != nil {
		return fmt.Errorf("build fstally: %w\n%s", err, out)
	}
	return nil
})

// program is a running fstally with a data directory of its own.
type program struct {
	t       *testing.T
	cmd     *exec.Cmd
	dataDir string
	base    string // address without the token
	token   string
	ended   chan struct{}
	mu      sync.Mutex
	output  bytes.Buffer
}

// command returns fstally on the data directory.
func command(ctx context.Context, t *testing.T, dataDir string, args ...string) *exec.Cmd {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(os.Environ(), "FSTALLY_DATA_DIR="+dataDir, "FSTALLY_DATABASE_URL=", "FSTALLY_TOKEN=",
		"FSTALLY_TIMEZONE=Europe/Berlin")
	return cmd
}

// fstally runs a command that must succeed and returns what it prints.
func fstally(t *testing.T, dataDir string, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := command(t.Context(), t, dataDir, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("fstally %q: %v\n%s", args, err, stderr.Bytes())
	}
	return string(out)
}

// fails runs a command that must fail and returns its exit code and what it says.
func fails(t *testing.T, dataDir string, args ...string) (code int, said string) {
	t.Helper()
	out, err := command(t.Context(), t, dataDir, args...).CombinedOutput()
	if err == nil {
		t.Fatalf("fstally %q succeeds: %s", args, out)
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatalf("fstally %q: %v", args, err)
	}
	return exit.ExitCode(), string(out)
}

// serve starts `fstally serve` and waits until it is ready.
func serve(t *testing.T, dataDir string, args ...string) *program {
	t.Helper()
	return start(t, dataDir, append([]string{"serve"}, args...)...)
}

// start starts a command that serves and waits until it is ready.
func start(t *testing.T, dataDir string, args ...string) *program {
	t.Helper()
	return launch(t, dataDir, func(*exec.Cmd) {}, append(args, "--listen", "127.0.0.1:0")...)
}

// launch starts a command that goes on until it is stopped, once prepare has changed
// what it has to, and waits until it says that it is ready.
func launch(t *testing.T, dataDir string, prepare func(*exec.Cmd), args ...string) *program {
	t.Helper()
	p := &program{t: t, dataDir: dataDir, ended: make(chan struct{})}
	p.cmd = command(context.Background(), t, dataDir, args...) //nolint:usetesting // it ends in a cleanup, after the context of the test
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	prepare(p.cmd)
	out, in := io.Pipe()
	p.cmd.Stdout, p.cmd.Stderr = in, in
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			p.mu.Lock()
			_, _ = fmt.Fprintln(&p.output, lines.Text())
			p.mu.Unlock()
			if _, address, ok := strings.Cut(lines.Text(), " is ready"); ok {
				ready <- strings.TrimPrefix(address, ": ")
			}
		}
	}()
	go func() {
		_ = p.cmd.Wait()
		_ = in.Close()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			p.mu.Lock()
			defer p.mu.Unlock()
			t.Logf("fstally %q said:\n%s", args, p.output.Bytes())
		}
	})
	select {
	case address := <-ready:
		p.base, p.token, _ = strings.Cut(address, "/?token=")
	case <-p.ended:
		t.Fatalf("fstally %s ended before it was ready", args[0])
	case <-time.After(2 * time.Minute):
		t.Fatalf("fstally %s is not ready", args[0])
	}
	return p
}

// stop ends the program as a terminal does, and waits.
func (p *program) stop() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	<-p.ended
}

// kill ends the program as the kernel does when memory is short.
func (p *program) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// get asks the API and decodes the answer.
func (p *program) get(path string, to any) {
	p.t.Helper()
	var status int
	var body []byte
	await(p.t, "answered", func() bool { // not before the database is back
		status, body = p.try(http.MethodGet, path)
		return status != http.StatusServiceUnavailable
	})
	if status != http.StatusOK {
		p.t.Fatalf("GET %s: %d %s", path, status, body)
	}
	if err := json.Unmarshal(body, to); err != nil {
		p.t.Fatalf("GET %s: %v in %s", path, err, body)
	}
}

func (p *program) try(method, path string) (status int, body []byte) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.base+path, http.NoBody)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	resp, err := new(http.Client).Do(r)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer resp.Body.Close() //nolint:errcheck // nothing is written
	body, err = io.ReadAll(resp.Body)
	if err != nil {
		return 0, []byte(err.Error())
	}
	return resp.StatusCode, body
}

// scanRow is a scan as the API lists it.
type scanRow struct {
	ID      int64
	State   string
	Verdict string
	Reason  string
}

// scans lists the scans of a file system, newest first.
func (p *program) scans(fs string) []scanRow {
	p.t.Helper()
	var answer struct{ Items []scanRow }
	p.get("/api/v1/filesystems/"+fs+"/scans", &answer)
	return answer.Items
}

// scan returns one of them, the zero value where it is not there.
func (p *program) scan(fs string, id int64) scanRow {
	p.t.Helper()
	for _, scan := range p.scans(fs) {
		if scan.ID == id {
			return scan
		}
	}
	return scanRow{}
}

// scanNow scans a file system and returns the scan when it has ended.
func (p *program) scanNow(fs string) scanRow {
	p.t.Helper()
	status, body := p.try(http.MethodPost, "/api/v1/filesystems/"+fs+"/scans")
	var queued scanRow
	if err := json.Unmarshal(body, &queued); err != nil || status != http.StatusAccepted {
		p.t.Fatalf("start a scan: %d %s", status, body)
	}
	await(p.t, "scanned", func() bool {
		state := p.scan(fs, queued.ID).State
		return state != "queued" && state != "running"
	})
	return p.scan(fs, queued.ID)
}

// await waits until something is so.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !so() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("in a minute: not %s", what)
		}
	}
}

// processesOf returns the processes, but for this one, that have the data
// directory in their command line or as their working directory.
func processesOf(t *testing.T, dataDir string) map[int]string {
	t.Helper()
	found := make(map[int]string)
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range lines {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		line, _ := os.ReadFile(file) // those that have ended since are none
		cwd, _ := os.Readlink(filepath.Join(filepath.Dir(file), "cwd"))
		if bytes.Contains(line, []byte(dataDir)) || strings.HasPrefix(cwd, dataDir) {
			found[pid] = string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})) + " in " + cwd
		}
	}
	return found
}
