package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fstally/internal/embeddedpg"
	"fstally/test/mutefs"
	"fstally/test/tree"
)

// post asks the API for something that must succeed.
func (p *program) post(path string) {
	p.t.Helper()
	if status, body := p.try("POST", "/api/v1"+path); status >= 300 {
		p.t.Fatalf("POST %s: %d %s", path, status, body)
	}
}

// cancel cancels the newest scan of a file system, waits for its end, and tells how
// long it took: 5 s are promised.
func (p *program) cancel(fs string) {
	p.t.Helper()
	asked := time.Now()
	p.post(fmt.Sprintf("/scans/%d/cancel", p.scans(fs)[0].ID))
	await(p.t, "cancelled", func() bool { return p.scans(fs)[0].State == "cancelled" })
	p.t.Logf("cancelled after %s", time.Since(asked))
}

// held counts what the program holds for its children: pipes to them, handles of
// them, and threads that wait for them.
func (p *program) held() (n int) {
	p.t.Helper()
	proc := fmt.Sprintf("/proc/%d/", p.cmd.Process.Pid)
	descriptors, err := filepath.Glob(proc + "fd/*")
	if err != nil || len(descriptors) == 0 {
		p.t.Fatalf("descriptors of the program: %q, %v", descriptors, err)
	}
	for _, fd := range descriptors {
		to, _ := os.Readlink(fd)
		if strings.HasPrefix(to, "pipe:") || strings.Contains(to, "pidfd") {
			n++
		}
	}
	threads, err := filepath.Glob(proc + "task/*/wchan")
	if err != nil {
		p.t.Fatal(err)
	}
	for _, thread := range threads {
		if in, _ := os.ReadFile(thread); string(in) == "do_wait" {
			n++
		}
	}
	return n
}

// children counts the processes that the program has started and that are not
// gone, those included that only the kernel keeps.
func (p *program) children() (n int) {
	p.t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		p.t.Fatal(err)
	}
	for _, file := range stats {
		status, _ := os.ReadFile(file)
		if strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", p.cmd.Process.Pid)) {
			n++
		}
	}
	return n
}

// A mount that stops answering costs one process, which only the kernel holds, and
// the scans of it alone: also after a restart.
func TestMuteMount(t *testing.T) {
	t.Parallel() // it waits most of the time
	giveUp := stall(t)
	site := newCrashSite(t)
	for _, op := range []mutefs.Op{mutefs.Readdir, mutefs.Stat, mutefs.Open} {
		muteMount(t, site, op)
	}
	giveUp()
}

func muteMount(t *testing.T, site crashSite, op mutefs.Op) {
	t.Helper()
	mute := mutefs.Mount(t, tree.Dir{"a": tree.Dir{"1": tree.File{}}, "b": tree.Dir{"1": tree.File{}}})
	fs := "mute-" + string(op)
	fstally(t, site.dataDir, "fs", "add", fs, mute.Root)
	p := serve(t, site.dataDir)
	held, children := p.held(), p.children()
	path := "b"
	if op == mutefs.Stat {
		path = "b/1"
	}
	mute.Mute(op, path)
	p.post("/filesystems/" + fs + "/scans")
	<-mute.Waiting()
	p.cancel(fs)
	if n := p.children(); n != children+1 {
		t.Errorf("%d processes, want the %d from before and one that hangs", n, children)
	}
	await(t, "without what the scan held", func() bool { return p.held() == held })

	refused := func() {
		t.Helper()
		p.post("/filesystems/" + fs + "/scans")
		await(t, "refused", func() bool { return p.scans(fs)[0].State == "failed" })
		if reason := p.scans(fs)[0].Reason; !strings.Contains(reason, "hanging in "+mute.Root) {
			t.Errorf("the reason is %q", reason)
		}
	}
	refused()
	p.post("/filesystems/scratch/scans")
	await(t, "scanned", func() bool { return p.scans("scratch")[0].State == "complete" })
	if n := p.children(); n != children+1 || p.held() != held {
		t.Errorf("%d processes and %d things held, want %d and %d", n, p.held(), children+1, held)
	}

	p.stop()
	p = serve(t, site.dataDir)
	refused()

	mute.Abort()
	p.post("/filesystems/" + fs + "/scans")
	await(t, "scanned again", func() bool {
		state := p.scans(fs)[0].State
		if state == "failed" { // the scanner that hung takes a moment to end
			p.post("/filesystems/" + fs + "/scans")
		}
		return state == "complete"
	})
	p.stop()
}

// stall begins a scan that hangs; the returned function waits until it is given up,
// which names where. A minute is the least that can be set.
func stall(t *testing.T) (givenUp func()) {
	t.Helper()
	mute := mutefs.Mount(t, tree.Dir{"a": tree.Dir{}, "b\x1b[31m": tree.Dir{}})
	mute.Mute(mutefs.Readdir, "b\x1b[31m")
	var said bytes.Buffer
	scan := command(t.Context(), t, filepath.Join(t.TempDir(), "data"), "scan", "--stall-after=1m", mute.Root)
	scan.Stdout, scan.Stderr = &said, &said
	if err := scan.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		err := scan.Wait()
		if code := scan.ProcessState.ExitCode(); err == nil || code == exitInterrupted ||
			!strings.Contains(said.String(), `b\x1b[31m (readdir)`) {
			t.Errorf("exit code %d, it said: %s", code, said.String())
		}
	}
}

// A signal ends a scan that writes a file wherever it is, and leaves no half of one.
func TestSignalEndsAScan(t *testing.T) {
	root, out := t.TempDir(), t.TempDir()
	files := tree.Dir{}
	for i := range 20 {
		files[fmt.Sprint(i)] = tree.File{}
	}
	tree.Make(t, root, files)
	slowNames := t.TempDir()
	asked := filepath.Join(slowNames, "asked")
	getent := "#!/bin/sh\n: >" + asked + "\nexec sleep 600\n"
	if err := os.WriteFile(filepath.Join(slowNames, "getent"), []byte(getent), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args  []string
		ready func(said string) bool
	}{
		"waiting for its turn": {[]string{"--ops-limit=1", "--walkers=1"}, func(said string) bool {
			return strings.Contains(said, `"phase":"walking"`)
		}},
		"asking for names": {nil, func(string) bool {
			_, err := os.Stat(asked)
			return err == nil
		}},
	} {
		for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
			t.Run(name+" "+signal.String(), func(t *testing.T) {
				_ = os.Remove(asked)
				file := filepath.Join(out, "r.fst")
				scan := command(t.Context(), t, t.TempDir(), append([]string{"scan", "--child", "--out=" + file, root}, tc.args...)...)
				scan.Env = append(scan.Env, "PATH="+slowNames+":"+os.Getenv("PATH"))
				said := &heard{}
				scan.Stdout = said
				stdin, err := scan.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				defer stdin.Close() //nolint:errcheck // its end would stop the scan
				if err := scan.Start(); err != nil {
					t.Fatal(err)
				}
				await(t, "under way", func() bool { return tc.ready(said.String()) })
				asked := time.Now()
				_ = scan.Process.Signal(signal)
				_ = scan.Wait()
				t.Logf("ended after %s", time.Since(asked))
				if code := scan.ProcessState.ExitCode(); code != exitInterrupted {
					t.Errorf("exit code %d, want %d", code, exitInterrupted)
				}
				left, err := os.ReadDir(out)
				if err != nil || len(left) != 0 {
					t.Errorf("left behind: %v, %v", left, err)
				}
			})
		}
	}
}

// heard keeps what a program says.
type heard struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.buf.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.buf.String()
}

// A cancel is heeded while the result is stored, too; nothing of it is then seen.
func TestCancelWhileImporting(t *testing.T) {
	site := newCrashSite(t)
	p := serve(t, site.dataDir)
	url, err := embeddedpg.Running(site.dataDir)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	if _, err := conn.Exec(t.Context(), `
		CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(600); RETURN NULL; END $$;
		CREATE TRIGGER slow AFTER INSERT ON size_histogram FOR EACH STATEMENT EXECUTE FUNCTION slow()`); err != nil {
		t.Fatal(err)
	}
	p.post("/filesystems/scratch/scans")
	await(t, "asleep in its import", func() bool {
		var sleeps bool
		const asleep = `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep')`
		if err := conn.QueryRow(t.Context(), asleep).Scan(&sleeps); err != nil {
			t.Fatal(err)
		}
		return sleeps
	})
	p.cancel("scratch")
	site.check(t, p, 1)
}
