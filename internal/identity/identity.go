package identity

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"fstally/internal/usage"
)

// Budget is what all names of a scan may take together.
const Budget = 30 * time.Second

// batch is how many ids one getent gets: enough that starting it does not
// matter, few enough that a service which stops answering costs few names.
const batch = 256

// Host is where names are asked for.
type Host struct {
	// Getent is the path of getent(1); "" when there is none.
	Getent string
	// Passwd and Group are the files that are read where there is no getent.
	Passwd, Group string
}

// ThisHost returns the host that the program runs on.
func ThisHost() Host {
	getent, _ := exec.LookPath("getent") // without it the files have to do
	return Host{Getent: getent, Passwd: "/etc/passwd", Group: "/etc/group"}
}

// Resolve returns the names of the ids, users first, each by id. A name is ""
// where the host knows none. Ids that the host gave no answer for before ctx or
// Budget ended are left out, and the error says why; what is returned is still
// good.
func (h Host) Resolve(ctx context.Context, users, groups []uint32) ([]usage.Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, Budget)
	defer cancel()
	named, err := h.resolve(ctx, usage.UserIdentity, users)
	more, groupErr := h.resolve(ctx, usage.GroupIdentity, groups)
	return append(named, more...), errors.Join(err, groupErr)
}

func (h Host) resolve(ctx context.Context, kind usage.IdentityKind, ids []uint32) ([]usage.Identity, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	var all []usage.Identity
	for some := range slices.Chunk(ids, batch) {
		table, err := h.ask(ctx, kind, some)
		names := parse(table)
		for _, id := range some {
			if name, known := names[id]; known || err == nil {
				all = append(all, usage.Identity{Kind: kind, ID: id, Name: name})
			}
		}
		if err != nil {
			return all, fmt.Errorf("names of %ss: %w", kind, err)
		}
	}
	slices.SortFunc(all, func(a, b usage.Identity) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// notFound is getent's exit status when it does not know one of several keys.
const notFound = 2

// ask returns a table in the format of passwd(5) or group(5) with what is known
// of the ids. A table that comes with an error is cut short.
func (h Host) ask(ctx context.Context, kind usage.IdentityKind, ids []uint32) ([]byte, error) {
	database, file := "passwd", h.Passwd
	if kind == usage.GroupIdentity {
		database, file = "group", h.Group
	}
	if h.Getent == "" {
		return os.ReadFile(file)
	}
	args := []string{database}
	for _, id := range ids {
		args = append(args, strconv.FormatUint(uint64(id), 10))
	}
	cmd := exec.CommandContext(ctx, h.Getent, args...)
	cmd.WaitDelay = time.Second // a helper of getent may hold the pipe
	table, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == notFound {
		return table, nil
	}
	if ctx.Err() != nil {
		// The last line may be half of one.
		return table[:bytes.LastIndexByte(table, '\n')+1], fmt.Errorf("getent %s took too long: %w", database, ctx.Err())
	}
	if err != nil {
		return nil, fmt.Errorf("getent %s: %w", database, err)
	}
	return table, nil
}

// parse reads lines of name:password:id:... The first name of an id wins, as it
// does in the C library. Names are whatever bytes stand there.
func parse(table []byte) map[uint32]string {
	names := make(map[uint32]string)
	for line := range bytes.Lines(table) {
		fields := bytes.SplitN(bytes.TrimSuffix(line, []byte("\n")), []byte(":"), 4)
		if len(fields) < 4 || len(fields[0]) == 0 {
			continue
		}
		id, err := strconv.ParseUint(string(fields[2]), 10, 32)
		if err != nil {
			continue
		}
		if _, found := names[uint32(id)]; !found {
			names[uint32(id)] = string(fields[0])
		}
	}
	return names
}
