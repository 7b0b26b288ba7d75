package identity_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"fstally/internal/identity"
	"fstally/internal/usage"
)

const (
	passwd = "root:x:0:0:root:/root:/bin/sh\n" +
		"toor:x:0:0::/:\n" +
		"<b>\xff\x1b[31m:x:4294967294:5::/:\n" +
		"broken\n:x:7:7::/:\nminus:x:-2:1::/:\nwide:x:4294967296:1::/:\n" +
		"other:x:3000000000:1::/:\n"
	group = "wheel:x:0:root,other\nusers:x:2147483648:\n"
)

func user(id uint32, name string) usage.Identity {
	return usage.Identity{Kind: usage.UserIdentity, ID: id, Name: name}
}

func groupOf(id uint32, name string) usage.Identity {
	return usage.Identity{Kind: usage.GroupIdentity, ID: id, Name: name}
}

func file(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFilesWithoutGetent(t *testing.T) {
	h := identity.Host{Passwd: file(t, "passwd", passwd, 0o600), Group: file(t, "group", group, 0o600)}
	got, err := h.Resolve(t.Context(), []uint32{3000000000, 0, 4294967294, 0, 7}, []uint32{2147483648, 9})
	if err != nil {
		t.Fatal(err)
	}
	want := []usage.Identity{
		user(0, "root"), user(7, ""), user(3000000000, "other"), user(4294967294, "<b>\xff\x1b[31m"),
		groupOf(9, ""), groupOf(2147483648, "users"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMissingFiles(t *testing.T) {
	h := identity.Host{Passwd: "/nonexistent/passwd", Group: file(t, "group", group, 0o600)}
	got, err := h.Resolve(t.Context(), []uint32{0}, []uint32{0})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error = %v", err)
	}
	if diff := cmp.Diff([]usage.Identity{groupOf(0, "wheel")}, got); diff != "" {
		t.Errorf("groups must not suffer from users: %s", diff)
	}
}

// A stand-in for getent that knows the even ids and counts its calls.
const fakeGetent = `#!/bin/sh
echo call >> "$0.calls"
database=$1; shift; status=0
for id; do
	if [ $((id % 2)) = 0 ]; then echo "$database$id:x:$id:rest"; else status=2; fi
done
exit $status
`

func TestGetentInBatches(t *testing.T) {
	h := identity.Host{Getent: file(t, "getent", fakeGetent, 0o700)}
	var ids []uint32
	for id := range uint32(600) {
		ids = append(ids, id)
	}
	got, err := h.Resolve(t.Context(), ids, []uint32{4294967294})
	if err != nil || len(got) != 601 {
		t.Fatalf("%d names, %v", len(got), err)
	}
	for i, want := range map[int]usage.Identity{
		0: user(0, "passwd0"), 1: user(1, ""), 598: user(598, "passwd598"), 600: groupOf(4294967294, "group4294967294"),
	} {
		if got[i] != want {
			t.Errorf("name %d = %+v, want %+v", i, got[i], want)
		}
	}
	calls, err := os.ReadFile(h.Getent + ".calls")
	if err != nil || strings.Count(string(calls), "call") != 4 {
		t.Errorf("calls: %q, %v, want 3 for users and 1 for groups", calls, err)
	}
}

func TestGetentFails(t *testing.T) {
	h := identity.Host{Getent: file(t, "getent", "#!/bin/sh\nexit 1\n", 0o700)}
	got, err := h.Resolve(t.Context(), []uint32{0}, nil)
	if err == nil || len(got) != 0 {
		t.Errorf("%+v, %v: an id that nobody answered for must be left out", got, err)
	}
}

func TestGetentHangs(t *testing.T) {
	// It answers one id, half of another, tells us, and waits for ever.
	answered := filepath.Join(t.TempDir(), "answered")
	if err := unix.Mkfifo(answered, 0o600); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nprintf 'one:x:1:rest\\ntwo:x:2'\necho > " + answered + "\nexec sleep 3600\n"
	h := identity.Host{Getent: file(t, "getent", script, 0o700)}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		_, _ = os.ReadFile(answered) // blocks until it is written
	}()
	got, err := h.Resolve(ctx, []uint32{1, 2}, []uint32{3})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	if diff := cmp.Diff([]usage.Identity{user(1, "one")}, got); diff != "" {
		t.Error(diff)
	}
}

func TestThisHostKnowsRoot(t *testing.T) {
	got, err := identity.ThisHost().Resolve(t.Context(), []uint32{0}, []uint32{0})
	if diff := cmp.Diff([]usage.Identity{user(0, "root"), groupOf(0, "root")}, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}
