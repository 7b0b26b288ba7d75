//go:build linux

package scancases_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"fstally/internal/report"
	"fstally/internal/result"
	"fstally/internal/usage"
	"fstally/test/tree"
)

// build builds the program once for all tests that need it, where everybody may run it.
var build = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "fstally-scancases-")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "fstally")
	if out, err := exec.Command("go", "build", "-o", path, "fstally/cmd/fstally").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return path, nil
})

// program returns the program.
func program(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// asNobody scans with the program as a user whom rights bind.
func asNobody(t *testing.T, engine, root string) *result.Result {
	t.Helper()
	tree.NeedRoot(t)
	const nobody = 65534
	out := t.TempDir()
	for _, dir := range []string{out, filepath.Dir(out), filepath.Dir(root)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(out, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(out, "result.fst")
	cmd := exec.Command(program(t), "scan", "--engine", engine, "--out", file, root)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + out}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, said)
	}
	r, err := result.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// C060: what may not be read is told, and costs nothing else.
func TestDirectoriesWithoutRights(t *testing.T) {
	root := t.TempDir()
	two := tree.Dir{"a": tree.File{Size: 1}, "b": tree.File{Size: 1}}
	tree.Make(t, root, tree.Dir{
		"open":     tree.Dir{"f": tree.File{Size: 7}},
		"locked":   tree.Moded{Node: two, Mode: 0},
		"listonly": tree.Moded{Node: two, Mode: 0o444},
		"enter":    tree.Moded{Node: two, Mode: 0o711},
	})
	for _, e := range engines() {
		t.Run(e.Name(), func(t *testing.T) {
			r := asNobody(t, e.Name(), root)
			c := counted{r, told(r)}
			wantTotals(t, c, 1, 7)
			if c.told.Directories != 5 {
				t.Errorf("%d directories, want the root and four", c.told.Directories)
			}
			var failures []string
			for _, e := range r.Summary().Errors {
				failures = append(failures, fmt.Sprintf("%s %s %d %q", e.Op, e.Errno, e.Count, e.Paths))
			}
			want := []string{`open EACCES 2 ["enter" "locked"]`, `stat EACCES 2 ["listonly/a" "listonly/b"]`}
			if !slices.Equal(failures, want) {
				t.Errorf("failures are %q, want %q", failures, want)
			}
		})
	}
}

// C061: the gap to what the file system has in use can be seen.
func TestCoverageOfTheFileSystem(t *testing.T) {
	root := tmpfs(t, "size=100m,mode=0755")
	data := tree.File{Size: 20 << 20, Data: 20 << 20}
	tree.Make(t, root, tree.Dir{
		"a": tree.Dir{"f": data}, "b": tree.Dir{"f": data}, "c": tree.Moded{Node: tree.Dir{"f": data}, Mode: 0},
	})
	for _, e := range engines() {
		r := asNobody(t, e.Name(), root)
		space := report.NewSpace(r.Meta.Capacity, r.Summary().Totals.Allocated)
		if got, want := space.Unseen, usage.ByteCount(20<<20); got != want || space.Size != usage.ByteCount(100<<20) {
			t.Errorf("%s: %s of %s are not seen, want %s", e.Name(), got, space.Size, want)
		}
	}
}

// call is a system call that takes paths, as strace prints it.
type call struct {
	name string
	text string // with the paths of descriptors
}

var callPattern = regexp.MustCompile(`(?m)^\d+ +([a-z0-9_]+)\((.*)$`)

// traced runs the program under strace and returns its calls that take paths.
func traced(t *testing.T, args ...string) []call {
	t.Helper()
	strace, err := exec.LookPath("strace")
	tree.Need(t, err == nil, "strace")
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command(strace, append([]string{"-f", "-y", "-s", "4096", "-e", "trace=%file,%desc", "-o", trace, program(t)}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, said.Bytes())
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	var calls []call
	for _, m := range callPattern.FindAllStringSubmatch(string(text), -1) {
		c := call{m[1], m[2]}
		if c.name == "read" || c.name == "write" {
			c.text, _, _ = strings.Cut(c.text, ", ") // what is read is not where it is read from
		}
		calls = append(calls, c)
	}
	return calls
}

// C050, C073 and what a scan promises: it opens directories only, none outside of
// the root, changes nothing, and asks no other mount.
func TestSystemCalls(t *testing.T) {
	top := t.TempDir()
	root, outside := filepath.Join(top, "root"), filepath.Join(top, "outside")
	fifo := tree.Fifo{}
	tree.Make(t, top, tree.Dir{
		"outside": tree.Dir{"dir": tree.Dir{"f": tree.File{Size: 1}}, "fifo": fifo, "file": tree.File{Size: 9}, "mount": tree.Dir{}},
		"root": tree.Dir{
			"p": fifo, "notes.md": fifo, ".ignore": fifo, ".scanignore": fifo, "s": tree.Socket{}, "c": tree.Device{},
			"z": tree.Symlink{To: "/dev/zero"}, "d": tree.Symlink{To: "../outside/dir"}, "f": tree.Symlink{To: outside + "/fifo"},
			"file": tree.File{Size: 1024}, "sub": tree.Dir{"deep": tree.Dir{"g.txt": tree.File{Size: 1}, "p": fifo}},
			".snapshots": tree.Dir{"old": tree.File{Size: 1}}, "nested": tree.Dir{},
		},
	})
	tree.Mount(t, "none", filepath.Join(outside, "mount"), "tmpfs", 0, "")
	tree.Mount(t, "none", filepath.Join(root, "nested"), "tmpfs", 0, "")
	tree.Make(t, filepath.Join(root, "nested"), tree.Dir{"elsewhere": tree.File{Size: 1}})
	for _, e := range engines() {
		t.Run(e.Name(), func(t *testing.T) {
			opened, asked := 0, 0
			for _, c := range traced(t, "scan", "--dry-run", "--engine", e.Name(), root) {
				if strings.Contains(c.text, outside) {
					t.Errorf("%s reaches out of the root: %s", c.name, c.text)
				}
				if !strings.Contains(c.text, root) {
					continue // of the program's own
				}
				switch c.name {
				case "open", "openat", "openat2":
					opened++
					if strings.Contains(c.text, "nested") || strings.Contains(c.text, ".snapshots") {
						t.Errorf("what does not belong to the scan is opened: %s", c.text)
					}
					inspection := strings.Contains(c.text, `"`+root+`", `) // of the root, before the walk
					if !e.byPath && !inspection && !strings.Contains(c.text, "O_DIRECTORY") {
						t.Errorf("something that may be no directory is opened: %s", c.text)
					}
					if strings.Contains(c.text, "O_WRONLY") || strings.Contains(c.text, "O_RDWR") || strings.Contains(c.text, "O_CREAT") {
						t.Errorf("opened to write: %s", c.text)
					}
					for _, name := range []string{"/p", "notes.md", "ignore", `"s"`, `"c"`, `"z"`, `"file"`, "g.txt"} {
						if strings.Contains(strings.Split(c.text, ", O_")[0], name) {
							t.Errorf("no directory, but opened: %s", c.text)
						}
					}
				case "statx":
					asked++
					if !strings.Contains(c.text, "AT_NO_AUTOMOUNT") || !strings.Contains(c.text, "AT_SYMLINK_NOFOLLOW") {
						t.Errorf("may mount, or follow: %s", c.text)
					}
				case "ioctl":
					if !strings.Contains(c.text, "_IOC(_IOC_READ, ") {
						t.Errorf("may change something: %s", c.text)
					}
				case "execve", "getdents64", "close", "fcntl", "fstat", "newfstatat", "lstat", "readlink", "readlinkat", "statfs", "fstatfs",
					"epoll_ctl", "lseek", "name_to_handle_at":
				default:
					t.Errorf("%s is no call of somebody who only looks: %s", c.name, c.text)
				}
			}
			if opened < 3 || asked < 15 {
				t.Errorf("%d directories were opened and %d inodes asked for: the trace is not of a scan", opened, asked)
			}
		})
	}
}
