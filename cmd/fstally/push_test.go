package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"fstally/internal/embeddedpg"
)

// line is a network link to a server that can be made bad.
type line struct {
	url      string
	listener net.Listener
	mu       sync.Mutex
	to       string       // host and port of the server
	budget   func() int64 // bytes that a connection brings before it is cut; nil for all
	stall    bool         // connections that have brought theirs hang instead
	stalled  chan struct{}
	ended    chan struct{} // hanging connections go on to be cut
	handlers sync.WaitGroup
}

func newLine(t *testing.T, p *program) *line {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{
		url: "http://" + listener.Addr().String(), listener: listener, to: strings.TrimPrefix(p.base, "http://"),
		stalled: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	l.handlers.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			l.handlers.Go(func() { l.carry(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		l.release()
		l.handlers.Wait()
	})
	return l
}

// set changes the link for connections to come.
func (l *line) set(to string, budget func() int64, stall bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to, l.budget, l.stall = strings.TrimPrefix(to, "http://"), budget, stall
}

// release cuts the connections that hang.
func (l *line) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.ended)
	l.ended = make(chan struct{})
}

// carry carries a connection, until it is cut.
func (l *line) carry(client net.Conn) {
	defer client.Close() //nolint:errcheck // it is cut
	l.mu.Lock()
	to, budget, stall, ended := l.to, int64(1<<40), l.stall, l.ended
	if l.budget != nil {
		budget = l.budget()
	}
	l.mu.Unlock()
	server, err := new(net.Dialer).Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close() //nolint:errcheck // it is cut
	l.handlers.Go(func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
	n, _ := io.CopyN(server, client, budget)
	if stall && n == budget {
		select {
		case l.stalled <- struct{}{}:
		default:
		}
		<-ended
	}
}

// node is a host that scans and pushes.
type node struct {
	t             *testing.T
	dataDir, root string
	tokenFile     string
}

// newNode makes a tree whose result takes several kilobytes.
func newNode(t *testing.T, token string) node {
	t.Helper()
	n := node{t: t, dataDir: filepath.Join(t.TempDir(), "node"), root: filepath.Join(t.TempDir(), "scratch")}
	n.tokenFile = filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(n.tokenFile, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		dir := filepath.Join(n.root, fmt.Sprintf("%x", rng.Uint64()), fmt.Sprintf("%x", rng.Uint64()))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "f.dat"), make([]byte, rng.IntN(10000)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// scan returns the command that scans and pushes.
func (n node) scan(url string, more ...string) []string {
	return append([]string{"scan", "--push", url, "--fs", "scratch", "--token-file", n.tokenFile, n.root}, more...)
}

func (n node) waiting() []string {
	n.t.Helper()
	files, err := filepath.Glob(filepath.Join(n.dataDir, "push", "scratch", "*.fst*"))
	if err != nil {
		n.t.Fatal(err)
	}
	return files
}

// pushSite is a server that knows the tree of a node.
func pushSite(t *testing.T) (*program, node) {
	t.Helper()
	p := serve(t, filepath.Join(t.TempDir(), "data"))
	n := newNode(t, p.token)
	fstally(t, p.dataDir, "fs", "add", "scratch", n.root)
	return p, n
}

// numbers are all that a file system shows of its latest scan, but for what differs from
// store to store.
func numbers(p *program) map[string]any {
	p.t.Helper()
	all := make(map[string]any)
	for _, by := range []string{"user", "group", "type", "fileset", "size_class", "age_class"} {
		var answer map[string]any
		p.get("/api/v1/filesystems/scratch/usage?limit=1000&group_by="+by, &answer)
		delete(answer, "scan")
		all[by] = answer
	}
	return all
}

// Over a line that is cut at random bytes, with a sender and a server that are killed in
// the middle, and with two senders at once, a result is stored once, and as it would be
// had it been imported.
func TestPushOverABadLine(t *testing.T) {
	p, n := pushSite(t)
	file := filepath.Join(t.TempDir(), "r.fst")
	fstally(t, n.dataDir, "scan", "--out", file, n.root)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the result has %d bytes", info.Size())

	undisturbed := serve(t, filepath.Join(t.TempDir(), "other"))
	fstally(t, undisturbed.dataDir, "fs", "add", "scratch", n.root)
	fstally(t, undisturbed.dataDir, "import", "--fs", "scratch", file)

	l := newLine(t, p)
	send := []string{"push", l.url, file, "--fs", "scratch", "--token-file", n.tokenFile}

	// The sender is killed while a piece is on its way.
	l.set(p.base, func() int64 { return info.Size() / 4 }, true)
	sender := command(t.Context(), t, n.dataDir, send...)
	if err := sender.Start(); err != nil {
		t.Fatal(err)
	}
	<-l.stalled
	_ = sender.Process.Kill()
	_ = sender.Wait()

	// The server is.
	sender = command(t.Context(), t, n.dataDir, send...)
	var said bytes.Buffer
	sender.Stdout, sender.Stderr = &said, &said
	if err := sender.Start(); err != nil {
		t.Fatal(err)
	}
	<-l.stalled
	p.kill()
	await(t, "without processes", func() bool { return len(processesOf(t, p.dataDir)) == 0 })
	p = serve(t, p.dataDir)

	// Cuts at random, for this sender and another one of the same result.
	rng := rand.New(rand.NewPCG(3, 4))
	l.set(p.base, func() int64 { return 500 + rng.Int64N(info.Size()/2) }, false)
	l.release()
	if out, err := command(t.Context(), t, n.dataDir, send...).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if err := sender.Wait(); err != nil {
		t.Errorf("%v: %s", err, said.Bytes())
	}
	if out := fstally(t, n.dataDir, send...); !strings.Contains(out, "stored as scan 1 of scratch") {
		t.Errorf("once more: %s", out)
	}
	if scans := p.scans("scratch"); len(scans) != 1 || scans[0].State != "complete" {
		t.Errorf("scans: %+v", scans)
	}
	if diff := cmp.Diff(numbers(undisturbed), numbers(p)); diff != "" {
		t.Errorf("imported and pushed differ (-imported +pushed):\n%s", diff)
	}
	left, err := os.ReadDir(filepath.Join(p.dataDir, "uploads"))
	if err != nil || len(left) > 0 {
		t.Errorf("left of the upload: %v, %v", left, err)
	}
}

// A night without the server is not lost: its result is sent by the next run, and the
// settings of the server hold.
func TestPushWithoutTheServer(t *testing.T) {
	p, n := pushSite(t)
	l := newLine(t, p)
	if code, said := fails(t, n.dataDir, n.scan("http://127.0.0.1:9", "--push-for", "1s")...); code != exitPush ||
		!strings.Contains(said, "nothing was scanned") {
		t.Errorf("before the settings are known: %d %s", code, said)
	}
	fstally(t, p.dataDir, "fs", "set", "scratch", "--size-classes", "1024,2048,4096,8192", "--walkers", "2")
	if out := fstally(t, n.dataDir, n.scan(l.url)...); !strings.Contains(out, "Scan 1 of scratch is stored, clean") {
		t.Errorf("scan --push: %s", out)
	}
	var scan struct{ Origin, State string }
	p.get("/api/v1/scans/1", &scan)
	if scan.Origin != "push" {
		t.Errorf("scan 1 = %+v", scan)
	}
	before := numbers(p)
	if classes := fmt.Sprint(before["size_class"]); !strings.Contains(classes, "key:2048") {
		t.Errorf("the size classes are not those of the server: %s", classes)
	}

	l.set("127.0.0.1:9", nil, false)
	if code, said := fails(t, n.dataDir, n.scan(l.url, "--push-for", "1s")...); code != exitPush ||
		!strings.Contains(said, "next run sends it first") || len(n.waiting()) != 1 {
		t.Errorf("without the server: %d %s; waiting: %q", code, said, n.waiting())
	}
	l.set(p.base, nil, false)
	out := fstally(t, n.dataDir, n.scan(l.url)...)
	if !strings.Contains(out, "Scan 2 of") || !strings.Contains(out, "Scan 3 of") || len(n.waiting()) != 0 {
		t.Errorf("the next run: %s; waiting: %q", out, n.waiting())
	}
	if diff := cmp.Diff(before, numbers(p)); diff != "" {
		t.Errorf("the nights differ:\n%s", diff)
	}
}

// What the server refuses for good is put aside and told; what somebody has to mend here
// loses nothing.
func TestPushIsRefused(t *testing.T) {
	p, n := pushSite(t)
	spool := filepath.Join(n.dataDir, "push", "scratch")
	if err := os.MkdirAll(spool, 0o700); err != nil {
		t.Fatal(err)
	}
	// Larger than a piece, and than any other body that the site takes.
	foreign := filepath.Join(spool, "0b6b1bd1-7b0e-4a54-9d3c-0f6f1f4b7c1e.fst")
	if err := os.WriteFile(foreign, bytes.Repeat([]byte("a,b\n"), 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := command(t.Context(), t, n.dataDir, n.scan(p.base)...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "is not a result") || !strings.Contains(string(out), "Scan 1 of scratch") {
		t.Errorf("%v: %s", err, out)
	}
	if got := n.waiting(); len(got) != 1 || got[0] != foreign+".refused" {
		t.Errorf("left: %q", got)
	}

	wrong := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(wrong, []byte("wrong"), 0o600); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	result := filepath.Join(t.TempDir(), "other.fst")
	fstally(t, n.dataDir, "scan", "--out", result, other)
	token := []string{"--token-file", n.tokenFile}
	for _, tc := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"scan", "--push", p.base, n.root}, exitUsage, "--fs"},
		{[]string{"scan", "--push", p.base, "--fs", "scratch", n.root}, exitUsage, "FSTALLY_TOKEN"},
		{[]string{"scan", "--push", p.base, "--fs", "scratch", "--token-file", wrong, n.root}, exitPush, "token"},
		{append([]string{"scan", "--push", p.base, "--fs", "nope", n.root}, token...), exitNotFound, "nope"},
		{append([]string{"scan", "--push", p.base, "--fs", "scratch", other}, token...), exitUsage, "--any-root"},
		{append([]string{"scan", "--push", "http://fs.example.org", "--fs", "scratch", n.root}, token...), exitUsage, "https"},
		{append([]string{"scan", "--push", strings.Replace(p.base, "http", "https", 1), "--fs", "scratch", n.root}, token...), exitPush, "HTTPS"},
		{append([]string{"push", p.base, result, "--fs", "scratch"}, token...), exitResult, "--any-root"},
		{append([]string{"push", p.base, n.tokenFile, "--fs", "scratch"}, token...), exitResult, "not a result"},
		{append([]string{"push", p.base, result, "--fs", "nope"}, token...), exitNotFound, "nope"},
	} {
		code, said := fails(t, n.dataDir, tc.args...)
		if code != tc.code || !strings.Contains(said, tc.says) || strings.Contains(said, p.token) {
			t.Errorf("fstally %q: exit code %d, want %d with %q: %s", tc.args, code, tc.code, tc.says, said)
		}
	}
	if code, said := fails(t, p.dataDir, "import", "--fs", "scratch", result); code != exitResult || !strings.Contains(said, "--any-root") {
		t.Errorf("import of another root: %d %s", code, said)
	}
	if out := fstally(t, n.dataDir, append([]string{"push", p.base, result, "--fs", "scratch", "--any-root"}, token...)...); !strings.Contains(out, "suspect") {
		t.Errorf("with --any-root: %s", out)
	}
}

// The database goes while the server imports: the import is made up for, once, though
// the sender was killed.
func TestPushWhileTheDatabaseGoes(t *testing.T) {
	p, n := pushSite(t)
	url, err := embeddedpg.Running(p.dataDir)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // it is lost with the server
	if _, err := conn.Exec(t.Context(), `BEGIN; LOCK TABLE size_histogram IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	sender := command(t.Context(), t, n.dataDir, n.scan(p.base)...)
	if err := sender.Start(); err != nil {
		t.Fatal(err)
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
	_ = sender.Process.Kill()
	_ = sender.Wait()
	killPostgres(t, p.dataDir)
	await(t, "imported", func() bool { return p.scan("scratch", 1).State == "complete" })
	if out := fstally(t, n.dataDir, n.scan(p.base)...); !strings.Contains(out, "stored as scan 1 of") ||
		!strings.Contains(out, "Scan 2 of") || len(n.waiting()) != 0 {
		t.Errorf("the next night: %s; waiting: %q", out, n.waiting())
	}
	if scans := p.scans("scratch"); len(scans) != 2 {
		t.Errorf("scans: %+v", scans)
	}
}
