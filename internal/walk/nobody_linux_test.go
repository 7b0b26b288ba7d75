package walk_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// runAsNobody runs one test of this binary again under another user, because
// permissions do not bind root.
func runAsNobody(t *testing.T, test, env string) {
	t.Helper()
	const nobody = 65534
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run="+test, "-test.v")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), env, "GOCOVERDIR=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}
