package oracle

import (
	"context"
	"fmt"
	"math/big"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"

	"fstally/internal/usage"
)

// prune drops snapshot directories with what is below them.
func (o *Options) prune(ctx context.Context, entries []entry) (kept []entry, pruned []string, err error) {
	for _, e := range entries { // find prints a directory before its entries
		if slices.ContainsFunc(pruned, func(p string) bool { return strings.HasPrefix(e.path, p+"/") }) {
			continue
		}
		if e.path != "" && e.kind == 'd' && slices.Contains(o.Snapshots, path.Base(e.path)) {
			parent := parentOf(e.path)
			snapshot := parent == "" || o.filesetOf(parent) == parent
			if !snapshot && e.ino == 256 { // the root of a btrfs subvolume
				if snapshot, err = readOnlySubvolume(ctx, o.Root+"/"+e.path); err != nil {
					return nil, nil, err
				}
			}
			if snapshot {
				pruned = append(pruned, e.path)
				continue
			}
		}
		kept = append(kept, e)
	}
	slices.Sort(pruned)
	return kept, pruned, nil
}

func readOnlySubvolume(ctx context.Context, dir string) (bool, error) {
	out, err := exec.CommandContext(ctx, "btrfs", "property", "get", "-t", "subvol", dir, "ro").CombinedOutput()
	if err != nil {
		return false, fmt.Errorf("btrfs property get %s: %w: %s", dir, err, out)
	}
	return strings.TrimSpace(string(out)) == "ro=true", nil
}

func parentOf(p string) string {
	if i := strings.LastIndex(p, "/"); i >= 0 {
		return p[:i]
	}
	return ""
}

// filesetOf returns the fileset of a directory: the longest named path at or
// above it, or else its first Depth components.
func (o *Options) filesetOf(dir string) string {
	if dir == "" {
		return ""
	}
	longest := ""
	for _, named := range o.Named {
		if (dir == named || strings.HasPrefix(dir, named+"/")) && len(named) > len(longest) {
			longest = named
		}
	}
	components := strings.Split(dir, "/")
	switch {
	case longest != "":
		return longest
	case o.Depth > 0 && len(components) >= o.Depth:
		return strings.Join(components[:o.Depth], "/")
	default:
		return ""
	}
}

// fold sums the entries, each inode once.
func (o *Options) fold(entries []entry) Result {
	r := Result{Started: o.Start, Size: new(big.Int), Allocated: new(big.Int), Slack: new(big.Int)}
	type inode struct{ dev, ino uint64 }
	smallest := make(map[inode]string)
	for _, e := range entries {
		r.Entries++
		if e.kind == 'f' {
			r.Links++
		}
		if e.nlink > 1 && e.kind != 'd' {
			at := inode{e.dev, e.ino}
			if before, seen := smallest[at]; !seen || e.path < before {
				smallest[at] = e.path
			}
		}
	}
	users, groups, types := make(table), make(table), make(table)
	filesets, sizes, ages := make(table), make(table), make(table)
	for _, e := range entries {
		if first, linked := smallest[inode{e.dev, e.ino}]; linked && e.kind != 'd' && first != e.path {
			continue
		}
		m := measure(e)
		r.Inodes++
		r.Files += m.Files
		r.Size.Add(r.Size, m.Size)
		r.Allocated.Add(r.Allocated, m.Allocated)
		r.Slack.Add(r.Slack, m.Slack)
		fileType, size, age, dir := "(special)", "(not files)", "(not files)", parentOf(e.path)
		switch e.kind {
		case 'f':
			fileType = typeOf(path.Base(e.path))
			size, age = sizeClass(e.size, o.SizeClasses), ageClass(o.Start.Unix(), e.mtime)
		case 'd':
			r.Directories++
			fileType, dir = "(directory)", e.path
		case 'l':
			r.Symlinks++
			fileType = "(symlink)"
		default:
			r.Specials++
		}
		users.add(fmt.Sprint(e.uid), m)
		groups.add(fmt.Sprint(e.gid), m)
		types.add(fileType, m)
		filesets.add(usage.EscapeKey(o.filesetOf(dir)), m)
		sizes.add(size, m)
		ages.add(age, m)
	}
	r.Users, r.Groups, r.Types = users.rows(), groups.rows(), limit(types, r).rows()
	r.Filesets, r.SizeClasses, r.AgeClasses = filesets.rows(), sizes.rows(), ages.rows()
	return r
}

// measure returns what one inode adds to every sum.
func measure(e entry) Row {
	m := Row{Inodes: 1, Size: new(big.Int), Slack: new(big.Int)}
	m.Allocated = new(big.Int).Mul(big.NewInt(e.blocks), big.NewInt(512))
	if e.kind == 'f' || e.kind == 'l' {
		m.Size.SetInt64(e.size)
	}
	if e.kind == 'f' {
		m.Files = 1
		m.Slack.Sub(m.Allocated, m.Size)
		if m.Slack.Sign() < 0 {
			m.Slack.SetInt64(0)
		}
	}
	return m
}

var (
	validSuffix = regexp.MustCompile(`^[a-z0-9_+-]{1,16}$`)
	letter      = regexp.MustCompile(`[a-z]`)
	digits      = regexp.MustCompile(`^\d+$`)
	packed      = regexp.MustCompile(`^(gz|bz2|xz|zst|lz4|lzma|z|br)$`)
)

// typeOf returns the type of a regular file.
func typeOf(name string) string {
	lower := []byte(strings.TrimLeft(name, "."))
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c + 32
		}
	}
	parts := strings.Split(string(lower), ".")
	valid := func(i int) bool {
		return i > 0 && validSuffix.MatchString(parts[i]) && letter.MatchString(parts[i])
	}
	last := len(parts) - 1
	switch {
	case valid(last) && packed.MatchString(parts[last]) && valid(last-1):
		return parts[last-1] + "." + parts[last]
	case valid(last):
		return parts[last]
	case last > 0 && digits.MatchString(parts[last]):
		return "(numbered)"
	default:
		return "(none)"
	}
}

func sizeClass(size int64, bounds usage.SizeClasses) string {
	for _, bound := range bounds {
		if size <= bound {
			return fmt.Sprint(bound)
		}
	}
	return "over"
}

func ageClass(start, mtime int64) string {
	const day = 24 * 60 * 60
	age := start - mtime // wraps only for times that the first two cases take
	switch {
	case mtime > start:
		return "future"
	case mtime < start-5*365*day:
		return "older"
	case age <= 7*day:
		return "7d"
	case age <= 30*day:
		return "30d"
	case age <= 90*day:
		return "90d"
	case age <= 180*day:
		return "180d"
	case age <= 365*day:
		return "1y"
	case age <= 2*365*day:
		return "2y"
	default:
		return "5y"
	}
}

// table sums by key.
type table map[string]*Row

func (t table) add(key string, m Row) {
	row := t[key]
	if row == nil {
		row = &Row{Key: key, Size: new(big.Int), Allocated: new(big.Int), Slack: new(big.Int)}
		t[key] = row
	}
	row.Files += m.Files
	row.Inodes += m.Inodes
	row.Size.Add(row.Size, m.Size)
	row.Allocated.Add(row.Allocated, m.Allocated)
	row.Slack.Add(row.Slack, m.Slack)
}

// rows returns the rows by key.
func (t table) rows() []Row {
	var rows []Row
	for _, row := range t {
		rows = append(rows, *row)
	}
	slices.SortFunc(rows, byKey)
	return rows
}

func byKey(a, b Row) int { return strings.Compare(a.Key, b.Key) }

// limit keeps the 1000 types that are largest by the larger of their shares of
// allocated and of files, reserved ones aside, and sums the others to "(rest)".
func limit(types table, total Result) table {
	share := func(r *Row) *big.Rat {
		largest := new(big.Rat)
		if total.Allocated.Sign() > 0 {
			largest.SetFrac(r.Allocated, total.Allocated)
		}
		if total.Files > 0 {
			if files := big.NewRat(r.Files, total.Files); files.Cmp(largest) > 0 {
				largest = files
			}
		}
		return largest
	}
	limited := make(table)
	var ranked []*Row
	for _, row := range types {
		if strings.HasPrefix(row.Key, "(") {
			limited.add(row.Key, *row)
		} else {
			ranked = append(ranked, row)
		}
	}
	slices.SortFunc(ranked, func(a, b *Row) int {
		if c := share(b).Cmp(share(a)); c != 0 {
			return c
		}
		return byKey(*a, *b)
	})
	for i, row := range ranked {
		if i < 1000 {
			limited.add(row.Key, *row)
		} else {
			limited.add("(rest)", *row)
		}
	}
	return limited
}
