package jobs

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

func TestOwnerIsGone(t *testing.T) {
	owner, err := Owner()
	if err != nil {
		t.Fatal(err)
	}
	part := func(i int, text string) string {
		parts := strings.Split(owner, "/")
		parts[i] = text
		return strings.Join(parts, "/")
	}
	child := exec.CommandContext(t.Context(), "true")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	for what, tc := range map[string]struct {
		owner string
		want  bool
	}{
		"this process":             {owner, false},
		"another host":             {part(0, "elsewhere"), false},
		"before the last boot":     {part(1, "another-boot"), true},
		"a process that has ended": {part(2, strconv.Itoa(child.Process.Pid)), true},
		"an earlier process":       {part(3, "1"), true},
		"somebody else's words":    {"worker 7", false},
	} {
		if got := gone(tc.owner); got != tc.want {
			t.Errorf("%s (%s): gone = %t, want %t", what, tc.owner, got, tc.want)
		}
	}
}

func TestStartTimeOfThisProcess(t *testing.T) {
	started, err := startTime(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := strconv.ParseInt(started, 10, 64); err != nil || n <= 0 {
		t.Errorf("this process started at tick %q", started)
	}
}
