package oracle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// entry is one line of find's listing.
type entry struct {
	path         string // below the root; "" for the root
	kind         byte   // f, d, l; anything else is special
	dev, ino     uint64
	nlink        uint64
	uid, gid     uint32
	size, blocks int64
	mtime        int64
}

// find lists root without the mount points below it. It returns how often find
// complained of what it could not read.
func find(ctx context.Context, root string, mounts []string) (entries []entry, complaints int64, err error) {
	args := []string{root}
	if len(mounts) > 0 {
		args = append(args, "(")
		for i, m := range mounts {
			if i > 0 {
				args = append(args, "-o")
			}
			args = append(args, "-path", literal(strings.TrimSuffix(root, "/")+"/"+m))
		}
		args = append(args, ")", "-prune", "-o")
	}
	args = append(args, "-printf", `%D %i %n %y %s %b %U %G %T@ %P\0`)
	cmd := exec.CommandContext(ctx, "find", args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	complaints = int64(bytes.Count(stderr.Bytes(), []byte("\n")))
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || complaints == 0) {
		return nil, 0, fmt.Errorf("find %s: %w", root, err)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		e, err := parseEntry(line)
		if err != nil {
			return nil, 0, fmt.Errorf("find %s printed %q: %w", root, line, err)
		}
		entries = append(entries, e)
	}
	return entries, complaints, nil
}

// literal quotes what find's -path would take for a pattern.
func literal(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func parseEntry(line string) (e entry, err error) {
	f := strings.SplitN(line, " ", 10)
	if len(f) != 10 || len(f[3]) != 1 {
		return e, errors.New("want ten fields")
	}
	number := func(s string) uint64 {
		n, parseErr := strconv.ParseUint(s, 10, 64)
		err = errors.Join(err, parseErr)
		return n
	}
	e = entry{
		path: f[9], kind: f[3][0], dev: number(f[0]), ino: number(f[1]), nlink: number(f[2]),
		size: int64(number(f[4])), blocks: int64(number(f[5])), uid: uint32(number(f[6])), gid: uint32(number(f[7])),
	}
	seconds, _, _ := strings.Cut(f[8], ".") // find prints tv_sec, the floor, before the dot
	mtime, timeErr := strconv.ParseInt(seconds, 10, 64)
	e.mtime = mtime
	return e, errors.Join(err, timeErr)
}

// mountsBelow returns the mount points below root, relative to it, sorted.
func mountsBelow(root string) ([]string, error) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var mounts []string
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			return nil, fmt.Errorf("mountinfo: %q", line)
		}
		point := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(fields[4])
		if below, ok := strings.CutPrefix(point, strings.TrimSuffix(root, "/")+"/"); ok && below != "" {
			mounts = append(mounts, below)
		}
	}
	slices.Sort(mounts)
	return slices.Compact(mounts), nil
}
