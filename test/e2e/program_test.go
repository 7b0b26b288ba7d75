//go:build linux

package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// build builds the program once for all tests that need it.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "fstally-e2e")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "fstally")
	if out, err := exec.Command("go", "build", "-o", path, "fstally/cmd/fstally").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := build(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// program is a running `fstally serve`.
type program struct {
	address string // with the token
	site    string // scheme and host, without a slash at the end
}

// serve starts the program with a data directory of its own and stops it, and
// the Postgres that it runs, at the end of the test.
func serve(t *testing.T, args ...string) program {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd := exec.Command(path, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), "FSTALLY_DATA_DIR="+filepath.Join(t.TempDir(), "data"), "FSTALLY_TIMEZONE=Europe/Berlin",
		"FSTALLY_DATABASE_URL=", "FSTALLY_TOKEN=")
	cmd.Stderr = &log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(ready)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if _, address, ok := strings.Cut(lines.Text(), "ready: "); ok {
				ready <- address
			}
		}
	})
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("stop the program: %v", err)
		}
		kill := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		reading.Wait()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the program ended with %v", err)
		}
		kill.Stop()
		if t.Failed() {
			t.Logf("its log:\n%s", log.String())
		}
	})
	select {
	case address, ok := <-ready:
		if !ok {
			t.Fatal("the program printed no address")
		}
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return program{address: address, site: u.Scheme + "://" + u.Host}
	case <-time.After(patience):
		t.Fatal("the program is not ready")
		return program{}
	}
}
