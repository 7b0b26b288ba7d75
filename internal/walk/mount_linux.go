package walk

import (
	"fmt"
	"math/bits"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"fstally/internal/usage"
)

// describe fills in everything but Root.
func (m *Mount) describe() error {
	var st unix.Statfs_t
	if err := retry(func() error { return unix.Statfs(m.Root, &st) }); err != nil {
		return fmt.Errorf("statfs: %w", err)
	}
	m.FSType, m.Network = typeOf(uint32(st.Type))
	m.Capacity = capacity(&st)

	var e usage.Entry
	mount, err := OS().Stat(m.Root, &e)
	if err != nil {
		return fmt.Errorf("stat: %w", err)
	}
	// Without /proc the place and the identity are unknown, no more.
	if table, err := os.ReadFile("/proc/self/mountinfo"); err == nil {
		if line, found := findMount(string(table), mount, e.Dev, m.Root); found {
			m.MountPoint, m.Source = line.point, line.source
		}
	}
	m.Identity = identity(m)
	return nil
}

// capacity reads what df(1) shows.
func capacity(st *unix.Statfs_t) usage.Capacity {
	block := st.Frsize
	if block == 0 { // before Linux 2.6
		block = st.Bsize
	}
	size := func(blocks uint64) usage.Bytes {
		return usage.BytesFromWords(bits.Mul64(blocks, uint64(block)))
	}
	return usage.Capacity{
		Size: size(st.Blocks), Free: size(st.Bfree), Available: size(st.Bavail),
		InodesTotal: int64(st.Files), InodesFree: int64(st.Ffree),
		BlockSize: block, Source: "statfs",
	}
}

// mountLine is what we need of a line of /proc/self/mountinfo, see
// proc_pid_mountinfo(5).
type mountLine struct{ id, device, point, source string }

// findMount returns the line of the mount with this id. Where id is only a
// device (before Linux 5.8), it is the last mount of the device at or above path.
func findMount(table string, id, device uint64, path string) (best mountLine, found bool) {
	wanted := fmt.Sprint(id)
	wantedDevice := fmt.Sprintf("%d:%d", unix.Major(device), unix.Minor(device))
	for text := range strings.Lines(table) {
		line, ok := parseMount(text)
		switch {
		case !ok:
		case line.id == wanted && id != device:
			return line, true
		case id == device && line.device == wantedDevice && under(path, line.point) &&
			len(line.point) >= len(best.point):
			best, found = line, true
		}
	}
	return best, found
}

func parseMount(text string) (mountLine, bool) {
	// 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw
	fields, rest, ok := strings.Cut(text, " - ")
	before, after := strings.Fields(fields), strings.Split(rest, " ")
	if !ok || len(before) < 5 || len(after) < 2 {
		return mountLine{}, false
	}
	return mountLine{id: before[0], device: before[2], point: unoctal(before[4]), source: unoctal(after[1])}, true
}

// unoctal resolves the \ooo by which the kernel writes white space and backslashes.
func unoctal(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\043`, "#", `\134`, `\`).Replace(s)
}

// under reports whether path is point or below it.
func under(path, point string) bool {
	return path == point || strings.HasPrefix(path, strings.TrimSuffix(point, "/")+"/")
}
