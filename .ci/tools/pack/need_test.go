package main

import (
	"os"
	"os/exec"
	"testing"
)

// need skips the test unless ok. With FSTALLY_TEST_ALL=1, as in CI, that is a
// failure: a check that is left out must not look like one that passed.
func need(t *testing.T, ok bool, what string) {
	t.Helper()
	switch {
	case ok:
	case os.Getenv("FSTALLY_TEST_ALL") == "1":
		t.Fatalf("needs %s, and FSTALLY_TEST_ALL=1 forbids to skip", what)
	default:
		t.Skipf("needs %s", what)
	}
}

func needProgram(t *testing.T, name string) {
	t.Helper()
	_, err := exec.LookPath(name)
	need(t, err == nil, "the program "+name)
}
