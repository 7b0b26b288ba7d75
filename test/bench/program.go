package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// program is a running fstally.
type program struct {
	cmd    *exec.Cmd
	client *http.Client
	base   string // address, without a slash at the end
}

// start runs fstally with a command that serves, such as serve or demo, and waits
// until it does.
func start(ctx context.Context, binary, command, dataDir string, args ...string) (*program, error) {
	args = append([]string{command, "--data-dir", dataDir, "--listen", "127.0.0.1:0", "--allow-anonymous"}, args...)
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	// The environment of whoever runs this names other stores.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		address, ok := strings.CutPrefix(lines.Text(), "fstally is ready: ")
		if !ok {
			continue
		}
		go io.Copy(io.Discard, out)                            //nolint:errcheck // ends with the program
		transport := &http.Transport{DisableCompression: true} // so that we count the bytes on the wire
		client := &http.Client{
			Transport: transport, Timeout: time.Minute,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		return &program{cmd, client, strings.TrimSuffix(address, "/")}, nil
	}
	err = errors.Join(lines.Err(), cmd.Wait())
	return nil, fmt.Errorf("%s %s in %s: %w: %s", binary, command, dataDir, err, said.String())
}

// stop ends the program and its Postgres.
func (p *program) stop() error {
	p.client.CloseIdleConnections()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return p.cmd.Wait()
}

// schedule gives a file system a schedule that runs nothing, so that there is one to read.
func (p *program) schedule(ctx context.Context, fs string) error {
	body := strings.NewReader(`{"plan":"nightly 01:30","zone":"Europe/Prague","enabled":false}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, p.base+"/api/v1/filesystems/"+fs+"/schedule", body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("schedule %s: %s", fs, resp.Status)
	}
	return nil
}

// get asks for an address as a browser does and returns the bytes that came.
func (p *program) get(ctx context.Context, path string, header http.Header) (body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header = header
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if body, err = io.ReadAll(resp.Body); err != nil {
		return nil, fmt.Errorf("GET %s: %w", path, err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return nil, fmt.Errorf("GET %s: %s", path, resp.Status)
	}
	return body, nil
}
