package jobs

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Owner names this process in the leases of its scans, so that another process
// on the same machine can tell at once whether it still lives: host, boot,
// process id and the time the process started, which no later process with the
// same id shares.
func Owner() (string, error) {
	name, err := nameOf(os.Getpid())
	if err != nil {
		return "", fmt.Errorf("name this process: %w", err)
	}
	return name, nil
}

// nameOf returns the name of a process of this machine, a zombie too.
func nameOf(pid int) (string, error) {
	boot, err := bootID()
	if err != nil {
		return "", err
	}
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	fields, err := readStat(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	return strings.Join([]string{host, boot, strconv.Itoa(pid), fields[19]}, "/"), nil
}

// gone reports an owner that certainly lives no more: a process of this machine
// that has ended. Of other machines nothing is known; their lease decides.
func gone(owner string) bool {
	parts := strings.Split(owner, "/")
	if len(parts) != 4 {
		return false
	}
	host, err := os.Hostname()
	if err != nil || parts[0] != host {
		return false
	}
	boot, err := bootID()
	if err != nil {
		return false
	}
	pid, err := strconv.Atoi(parts[2])
	if err != nil {
		return false
	}
	if parts[1] != boot {
		return true // this host has booted since
	}
	started, err := startTime(pid)
	return os.IsNotExist(err) || err == nil && started != parts[3]
}

// bootID returns the id that the kernel drew when it booted (random(4)).
func bootID() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id)), err
}

// startTime returns when the process started, in clock ticks since the boot. A
// zombie has ended.
func startTime(pid int) (string, error) {
	fields, err := readStat(fmt.Sprintf("/proc/%d/stat", pid))
	switch {
	case err != nil:
		return "", err
	case ended(fields):
		return "", os.ErrNotExist
	}
	return fields[19], nil
}

// readStat returns the fields of the stat file of a process or a thread from the
// third one on, its state, so that the 20th is when it started (proc_pid_stat(5)).
// They are counted from behind the command name, which may itself hold spaces and
// parentheses.
func readStat(file string) ([]string, error) {
	stat, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return nil, fmt.Errorf("read %s: %d fields", file, len(fields))
	}
	return fields, nil
}

// ended reports by its stat file that a process or a thread does nothing any more.
func ended(fields []string) bool { return fields[0] == "Z" || fields[0] == "X" }
