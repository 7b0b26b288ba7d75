package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-systemd/v22/unit"
	"github.com/google/go-cmp/cmp"
	"github.com/sassoftware/go-rpmutils"
)

// made is one run of pack, and the program that it packed.
type made struct {
	binary           string
	dir              string
	deb, rpm, bundle string // paths
}

const testVersion = "1.2.3~rc.1"

// TestPackages makes everything as `make package` does and looks at it as those
// who install it would.
func TestPackages(t *testing.T) {
	t.Chdir("../../..") // what the list of files names stands against it
	first := makeAll(t)
	content := map[string]map[string]packed{
		"deb": readDeb(t, first.deb), "rpm": readRPM(t, first.rpm), "bundle": readBundle(t, first.bundle),
	}
	t.Run("reproducible", func(t *testing.T) { testReproducible(t, first) })
	t.Run("static", func(t *testing.T) { testStatic(t, first.binary) })
	t.Run("files", func(t *testing.T) { testFiles(t, content) })
	t.Run("deb", func(t *testing.T) { testDeb(t, first.deb) })
	t.Run("rpm", func(t *testing.T) { testRPM(t, first.rpm) })
	t.Run("program", func(t *testing.T) { testProgram(t, content["deb"]["/usr/bin/fstally"].data, first.binary) })
	t.Run("rights", func(t *testing.T) { testRights(t, content["deb"]) })
	t.Run("units", func(t *testing.T) { testUnits(t, content["deb"]) })
	t.Run("licences", func(t *testing.T) { testLicences(t, content["rpm"]) })
	t.Run("bundle", func(t *testing.T) { testBundle(t, first.bundle) })
	t.Run("install", func(t *testing.T) { testInstall(t, first.deb) })
}

// makeAll builds the program with the project's own command, and packs it.
func makeAll(t *testing.T) made {
	t.Helper()
	dir := t.TempDir()
	m := made{binary: filepath.Join(dir, "built", "fstally"), dir: filepath.Join(dir, "dist")}
	output(t, "make", "--no-print-directory", "build", "BIN="+m.binary, "VERSION=v"+testVersion)
	r := release{binary: m.binary, arch: "amd64", described: "v1.2.3-rc.1", time: time.Unix(1_700_000_000, 0).UTC()}
	names, err := r.make(t.Context(), m.dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"fstally_" + testVersion + "_amd64.deb", "fstally-" + testVersion + "-1.x86_64.rpm",
		"fstally-" + testVersion + "-linux-amd64.tar.gz", "SHA256SUMS",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Fatalf("names (-want +got):\n%s", diff)
	}
	m.deb, m.rpm, m.bundle = filepath.Join(m.dir, names[0]), filepath.Join(m.dir, names[1]), filepath.Join(m.dir, names[2])
	return m
}

// testReproducible makes everything again, elsewhere and later.
func testReproducible(t *testing.T, first made) {
	second := makeAll(t)
	for _, name := range []string{first.deb, first.rpm, first.bundle, first.binary} {
		a := readFile(t, name)
		b := readFile(t, strings.Replace(name, filepath.Dir(first.dir), filepath.Dir(second.dir), 1))
		if !bytes.Equal(a, b) {
			t.Errorf("%s is made differently the second time: %d and %d bytes", filepath.Base(name), len(a), len(b))
		}
	}
	sums := exec.CommandContext(t.Context(), "sha256sum", "--check", "SHA256SUMS")
	sums.Dir = second.dir
	if out, err := sums.CombinedOutput(); err != nil {
		t.Errorf("SHA256SUMS: %v\n%s", err, out)
	}
}

// testStatic: no interpreter and no library, so that the age of the system's libc
// does not matter.
func testStatic(t *testing.T, binary string) {
	file, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the program has a segment %s: it is linked dynamically", p.Type)
		}
	}
	if libraries, err := file.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("the program needs the libraries %v, %v", libraries, err)
	}
}

// packed is a file in a package.
type packed struct {
	about string // type, mode, owner, group
	data  []byte
}

func about(mode fs.FileMode, owner, group string) string {
	return fmt.Sprintf("%s %s:%s", mode, owner, group)
}

const (
	file   = "-rw-r--r-- root:root"
	folder = "drwxr-xr-x root:root"
)

// testFiles compares what is installed with what should be.
func testFiles(t *testing.T, content map[string]map[string]packed) {
	const units, doc = "/usr/lib/systemd/system/", "/usr/share/doc/fstally/"
	want := map[string]string{
		"/usr/bin/fstally":                                           "-rwxr-xr-x root:root",
		units + "fstally.service":                                    file,
		units + "fstally-scan@.service":                              file,
		units + "fstally-scan@.timer":                                file,
		units + "fstally-scan@.service.d/10-private-postgres.conf":   file,
		units + "fstally-push@.service":                              file,
		units + "fstally-push@.timer":                                file,
		units + "fstally-worker@.service":                            file,
		units + "fstally-worker@.service.d/10-private-postgres.conf": file,
		"/etc/fstally":                                               folder,
		"/etc/fstally/scan":                                          folder,
		"/etc/fstally/push":                                          folder,
		"/etc/fstally/fstally.env":                                   "-rw------- root:root",
		doc + "README.md":                                            file,
		doc + "CHANGELOG.md":                                         file,
		doc + "THIRD-PARTY-LICENSES.txt":                             file,
		doc + "examples/fstally-server-scans.conf":                   file,
		doc + "examples/scan.conf":                                   file,
		doc + "examples/push.conf":                                   file,
		doc + "docs/decode-result.py":                                file,
		doc + "docs/openapi.json":                                    file,
	}
	patterns := []string{
		"docs/*.md", "docs/adr/*.md", "docs/images/capacity-light-wide.webp", "docs/images/files-light-wide.webp",
		"docs/images/overview-dark-wide.webp",
	}
	for _, pattern := range patterns {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("no %s: %v", pattern, err)
		}
		for _, name := range names {
			want[doc+name] = file
		}
	}
	licence := map[string]string{
		"deb": doc + "copyright", "rpm": "/usr/share/licenses/fstally/LICENSE", "bundle": doc + "LICENSE",
	}
	for format, files := range content {
		want := maps.Clone(want)
		want[licence[format]] = file
		got := map[string]string{}
		for name, f := range files {
			if strings.HasPrefix(f.about, "d") && !strings.HasPrefix(name, "/etc/fstally") {
				continue // of the system
			}
			got[name] = f.about
		}
		if format == "bundle" { // whose install.sh makes the folders
			maps.DeleteFunc(want, func(_, about string) bool { return about == folder })
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("files of the %s (-want +got):\n%s", format, diff)
		}
	}
}

func testDeb(t *testing.T, name string) {
	needProgram(t, "dpkg-deb")
	fields := output(t, "dpkg-deb", "--field", name, "Package", "Version", "Architecture", "Depends", "Recommends")
	want := "Package: fstally\nVersion: " + testVersion + "\nArchitecture: amd64\n" +
		"Depends: passwd, libc-bin\nRecommends: postgresql\n"
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if got := output(t, "dpkg-deb", "--info", name, "conffiles"); got != "/etc/fstally/fstally.env\n" {
		t.Errorf("conffiles: %q", got)
	}
}

func testRPM(t *testing.T, name string) {
	header := openRPM(t, name).Header
	for tag, want := range map[int]string{
		rpmutils.NAME: "fstally", rpmutils.VERSION: testVersion, rpmutils.RELEASE: "1", rpmutils.ARCH: "x86_64",
		rpmutils.LICENSE: "Apache-2.0", rpmutils.BUILDHOST: "localhost",
	} {
		if got, err := header.GetString(tag); err != nil || got != want {
			t.Errorf("tag %d = %q, %v, want %q", tag, got, err, want)
		}
	}
	requires, err := header.GetStrings(rpmutils.REQUIRENAME)
	if err != nil || !slices.Contains(requires, "/usr/sbin/useradd") || slices.Contains(requires, "postgresql-server") {
		t.Errorf("requires %v, %v", requires, err)
	}
	files, err := header.GetFiles()
	if err != nil {
		t.Fatal(err)
	}
	const config, noReplace = 1, 1 << 4 // rpmfileAttrs
	for _, f := range files {
		want := 0
		if f.Name() == "/etc/fstally/fstally.env" {
			want = config | noReplace
		}
		if got := f.Flags() & (config | noReplace); got != want {
			t.Errorf("%s has the flags %#x, want %#x", f.Name(), got, want)
		}
	}
}

// testProgram runs what came out of a package.
func testProgram(t *testing.T, program []byte, built string) {
	if !bytes.Equal(program, readFile(t, built)) {
		t.Error("the packed program is not the one that was built")
	}
	name := filepath.Join(t.TempDir(), "fstally")
	writeTo(t, name, program, 0o755)
	if got := output(t, name, "version"); got != "fstally v"+testVersion+"\n" {
		t.Errorf("version: %q", got)
	}
}

// testRights: the server has none, the scanner one, and neither can get more.
func testRights(t *testing.T, files map[string]packed) {
	const scanner = "CAP_DAC_READ_SEARCH"
	for name, want := range map[string]string{
		"fstally.service": "", "fstally-scan@.service": scanner, "fstally-worker@.service": scanner,
		"fstally-push@.service": scanner,
	} {
		options, err := unit.DeserializeOptions(bytes.NewReader(files["/usr/lib/systemd/system/"+name].data))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		values := map[string][]string{}
		for _, o := range options {
			values[o.Name] = append(values[o.Name], o.Value)
		}
		for option, want := range map[string]string{
			"AmbientCapabilities": want, "CapabilityBoundingSet": want, "NoNewPrivileges": "yes", "User": "fstally",
			"ProtectSystem": "strict", "RestrictSUIDSGID": "yes",
		} {
			if diff := cmp.Diff([]string{want}, values[option]); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, option, diff)
			}
		}
	}
}

// testUnits lets systemd read the units, with the program where the test has it.
func testUnits(t *testing.T, files map[string]packed) {
	needProgram(t, "systemd-analyze")
	dir := t.TempDir()
	program := filepath.Join(dir, "fstally")
	writeTo(t, program, files["/usr/bin/fstally"].data, 0o755)
	for name, f := range files {
		if name, ok := strings.CutPrefix(name, "/usr/lib/systemd/system/"); ok && strings.HasPrefix(f.about, "-") {
			writeTo(t, filepath.Join(dir, name), bytes.ReplaceAll(f.data, []byte("/usr/bin/fstally"), []byte(program)), 0o644)
		}
	}
	drop := filepath.Join(dir, "fstally.service.d", "scans.conf")
	for _, step := range []func(){func() {}, func() {
		writeTo(t, drop, files["/usr/share/doc/fstally/examples/fstally-server-scans.conf"].data, 0o644)
	}} {
		step()
		if got := output(t, "systemd-analyze", "verify", "--man=no", filepath.Join(dir, "fstally.service"),
			filepath.Join(dir, "fstally-worker@local.service"),
			filepath.Join(dir, "fstally-push@scratch.service"), filepath.Join(dir, "fstally-push@scratch.timer"),
			filepath.Join(dir, "fstally-scan@scratch.service"), filepath.Join(dir, "fstally-scan@scratch.timer")); got != "" {
			t.Errorf("systemd-analyze verify: %s", got)
		}
	}
}

// testLicences looks for some that must be there.
func testLicences(t *testing.T, files map[string]packed) {
	text := string(files["/usr/share/doc/fstally/THIRD-PARTY-LICENSES.txt"].data)
	for _, name := range []string{"\nGo  (LICENSE)", "\ngithub.com/jackc/pgx/v5 v", "\ngithub.com/alecthomas/kong v", "\necharts "} {
		if !strings.Contains(text, name) {
			t.Errorf("no licence of %q", name)
		}
	}
	if strings.Contains(text, "/go/pkg/mod") {
		t.Error("names a folder of this machine")
	}
}

// testBundle unpacks and installs the bundle, twice.
func testBundle(t *testing.T, bundle string) {
	dir := t.TempDir()
	output(t, "tar", "-xzf", bundle, "-C", dir, "--strip-components=1")
	for _, name := range []string{"INSTALL.md", "docker-compose.yml", "SHA256SUMS"} {
		if len(readFile(t, filepath.Join(dir, name))) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
	target := t.TempDir()
	install := func() (string, error) {
		cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "install.sh"))
		cmd.Env = append(os.Environ(), "DESTDIR="+target)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := install(); err != nil {
		t.Fatalf("install: %v\n%s", err, out)
	}
	settings := filepath.Join(target, "etc/fstally/fstally.env")
	for name, want := range map[string]fs.FileMode{
		settings: 0o600, filepath.Join(target, "usr/bin/fstally"): 0o755, filepath.Join(target, "etc/fstally/scan"): fs.ModeDir | 0o755,
		filepath.Join(target, "usr/lib/systemd/system/fstally.service"): 0o644,
	} {
		info, err := os.Stat(name)
		if err != nil || info.Mode() != want {
			t.Errorf("installed %s: %v, %v, want %v", name, info, err, want)
		}
	}
	writeTo(t, settings, []byte("MINE=1\n"), 0o600)
	if out, err := install(); err != nil {
		t.Fatalf("install again: %v\n%s", err, out)
	}
	if got := string(readFile(t, settings)); got != "MINE=1\n" {
		t.Errorf("the settings were written over: %q", got)
	}

	writeTo(t, filepath.Join(dir, "root/usr/bin/fstally"), []byte("other"), 0o755)
	if out, err := install(); err == nil || !strings.Contains(out, "usr/bin/fstally") {
		t.Errorf("a damaged bundle was installed: %v\n%s", err, out)
	}
}

// testInstall installs, upgrades and removes the deb in a copy of this system that
// is thrown away.
func testInstall(t *testing.T, deb string) {
	need(t, os.Geteuid() == 0, "root")
	needProgram(t, "dpkg")
	needProgram(t, "unshare")
	inCopy := []string{"--mount", "--pid", "--fork", "--kill-child", ".ci/tools/pack/testdata/in-copy", t.TempDir()}
	if out, err := exec.CommandContext(t.Context(), "unshare", append(inCopy, "true")...).CombinedOutput(); err != nil {
		need(t, false, "an overlay of the root file system: "+string(out))
	}
	got := output(t, "unshare", append(inCopy, ".ci/tools/pack/testdata/install-deb", deb)...)
	if !strings.HasSuffix(got, "\ninstalled, used, removed and purged\n") {
		t.Errorf("it did not come to the end:\n%s", got)
	}
}

func readDeb(t *testing.T, name string) map[string]packed {
	t.Helper()
	needProgram(t, "dpkg-deb")
	return readTar(t, strings.NewReader(output(t, "dpkg-deb", "--fsys-tarfile", name)), ".")
}

// readBundle returns what the bundle installs.
func readBundle(t *testing.T, name string) map[string]packed {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(readFile(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]packed{}
	for name, f := range readTar(t, zipped, "fstally-"+testVersion+"-linux-amd64") {
		if name, ok := strings.CutPrefix(name, "/root/"); ok {
			files["/"+name] = f
		}
	}
	return files
}

func readTar(t *testing.T, r io.Reader, top string) map[string]packed {
	t.Helper()
	files := map[string]packed{}
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(h.Name, top), "/")
		files[name] = packed{about(h.FileInfo().Mode(), h.Uname, h.Gname), data}
	}
}

func openRPM(t *testing.T, name string) *rpmutils.Rpm {
	t.Helper()
	rpm, err := rpmutils.ReadRpm(bytes.NewReader(readFile(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	return rpm
}

func readRPM(t *testing.T, name string) map[string]packed {
	t.Helper()
	rpm := openRPM(t, name)
	dir := t.TempDir()
	if err := rpm.ExpandPayload(dir); err != nil {
		t.Fatal(err)
	}
	infos, err := rpm.Header.GetFiles()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]packed{}
	for _, f := range infos {
		mode := fs.FileMode(f.Mode() & 0o777)
		var data []byte
		if f.Mode()&0o170000 == 0o040000 { // S_IFDIR
			mode |= fs.ModeDir
		} else {
			data = readFile(t, filepath.Join(dir, f.Name()))
		}
		files[f.Name()] = packed{about(mode, f.UserName(), f.GroupName()), data}
	}
	return files
}

// output runs a program that must not fail, and returns what it prints.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, stderr.Bytes(), tailOf(stdout.String()))
	}
	return stdout.String()
}

func tailOf(s string) string { return s[max(0, len(s)-4000):] }

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeTo(t *testing.T, name string, data []byte, mode fs.FileMode) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, data, mode)); err != nil {
		t.Fatal(err)
	}
}
