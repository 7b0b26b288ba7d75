package embeddedpg_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"fstally/internal/embeddedpg"
)

// repository serves programs as Maven Central does: a jar with a tar.xz in it.
// The programs only say their version.
func repository(t *testing.T, spoilChecksum bool) *httptest.Server {
	t.Helper()
	tree := t.TempDir()
	if err := os.Mkdir(filepath.Join(tree, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho 'postgres (PostgreSQL) 18.3'; echo 'downloaded program ran' >&2; test \"$1\" = -V\n"
	for _, name := range []string{"postgres", "initdb", "pg_ctl"} {
		if err := os.WriteFile(filepath.Join(tree, "bin", name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	txz, err := exec.CommandContext(t.Context(), "tar", "-cJf", "-", "-C", tree, "bin").Output()
	if err != nil {
		t.Fatalf("pack the test's programs (needs tar and xz): %v", err)
	}
	var jar bytes.Buffer
	archive := zip.NewWriter(&jar)
	entry, err := archive.Create("postgres-linux-x86_64.txz")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := entry.Write(txz); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(jar.Bytes()))
	if spoilChecksum {
		sum = strings.Repeat("0", len(sum))
	}

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !strings.Contains(r.URL.Path, "embedded-postgres-binaries-linux-"+runtime.GOARCH):
			http.NotFound(w, r)
		case strings.HasSuffix(r.URL.Path, ".jar"):
			_, _ = w.Write(jar.Bytes())
		case strings.HasSuffix(r.URL.Path, ".jar.sha256"):
			_, _ = w.Write([]byte(sum))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// withoutInstalled makes a configuration for data that no installed version
// fits, so that only the download can help.
func withoutInstalled(t *testing.T, dir, url string) embeddedpg.Config {
	t.Helper()
	data := dataDir(dir)
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	writeVersion("18\n")(t, data)
	if os.Geteuid() == 0 {
		cred := credential(t, "postgres")
		for _, path := range []string{filepath.Dir(data), data, filepath.Join(data, "PG_VERSION")} {
			if err := os.Chown(path, int(cred.Uid), int(cred.Gid)); err != nil {
				t.Fatal(err)
			}
		}
	}
	cfg := config(t, dir)
	cfg.AllowDownload = true
	cfg.DownloadURL = url
	return cfg
}

func TestDownload(t *testing.T) {
	dir := publicDir(t)
	cfg := withoutInstalled(t, dir, repository(t, false).URL)
	before := snapshot(t, dataDir(dir))

	// The made-up programs cannot run as a server: that they were run is all.
	_, err := embeddedpg.Start(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), "downloaded program ran") {
		t.Fatalf("Start: error %v, want what the downloaded program says", err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "postgres", "binaries"))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || !strings.HasPrefix(entries[0].Name(), "18.") {
		t.Errorf("binaries holds %v, want one version 18", entries)
	}
	if after := snapshot(t, dataDir(dir)); len(after) != len(before) {
		t.Errorf("the data directory changed: %v", after)
	}

	// The next start finds them without the repository.
	cfg.DownloadURL = "http://127.0.0.1:1/"
	if _, err := embeddedpg.Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "downloaded program ran") {
		t.Errorf("second Start: error %v, want what the downloaded program says", err)
	}
}

func TestDownloadThatFails(t *testing.T) {
	unreachable := httptest.NewServer(nil)
	unreachable.Close()
	for name, url := range map[string]string{
		"wrong checksum": repository(t, true).URL,
		"no connection":  unreachable.URL,
	} {
		t.Run(name, func(t *testing.T) {
			dir := publicDir(t)
			cfg := withoutInstalled(t, dir, url)
			if _, err := embeddedpg.Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "download Postgres 18") {
				t.Errorf("Start: error %v, want one about the download", err)
			}
			found, err := filepath.Glob(filepath.Join(dir, "postgres", "binaries", "18*"))
			if err != nil || len(found) > 0 {
				t.Errorf("binaries %v are left (%v)", found, err)
			}
		})
	}
}

func TestNoDownloadUnlessAllowed(t *testing.T) {
	dir := publicDir(t)
	asked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("asked for %s", r.URL)
		http.NotFound(w, r)
	}))
	defer asked.Close()
	cfg := withoutInstalled(t, dir, asked.URL)
	cfg.AllowDownload = false
	refused(t, cfg, embeddedpg.ErrVersion)
}

func TestDownloadWhereItCouldNotRun(t *testing.T) {
	needRoot(t)
	// A directory above is private to root: the account could not run programs.
	dir := filepath.Join(t.TempDir(), "state")
	cfg := withoutInstalled(t, dir, repository(t, false).URL)
	message := refused(t, cfg, embeddedpg.ErrUnusable)
	if !strings.Contains(message, "postgres") || !strings.Contains(message, "private") {
		t.Errorf("message %q does not say why", message)
	}
}
