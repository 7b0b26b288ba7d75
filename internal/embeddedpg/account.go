package embeddedpg

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// account is an OS user with an entry in the user database, which initdb and
// peer authentication require.
type account struct {
	Name     string
	UID, GID int
}

// callerAccount is who runs this process.
func callerAccount(ctx context.Context) (account, error) {
	uid := os.Geteuid()
	acc, err := lookupAccount(ctx, strconv.Itoa(uid))
	if err != nil {
		return account{}, problemf(ErrUnusable, "Postgres needs a name for the user who runs it, and user id %d has none: "+
			"add it to /etc/passwd, run fstally as another user, or set FSTALLY_DATABASE_URL (%v)", uid, err)
	}
	acc.GID = os.Getegid()
	return acc, nil
}

// serverAccount is who runs Postgres when caller runs fstally: caller, except
// for root, whom Postgres refuses. folder is that of the data, if it exists.
func serverAccount(ctx context.Context, caller account, folder os.FileInfo) (account, error) {
	if caller.UID != 0 {
		return caller, nil
	}
	if folder != nil {
		if st, ok := folder.Sys().(*syscall.Stat_t); ok && st.Uid != 0 {
			acc, err := lookupAccount(ctx, strconv.Itoa(int(st.Uid)))
			if err != nil {
				return account{}, problemf(ErrUnusable, "the data of Postgres belongs to user id %d, which has no name: "+
					"create that user, or give the folder %q in FSTALLY_DATA_DIR to the user postgres (chown -R) (%v)",
					st.Uid, folder.Name(), err)
			}
			return acc, nil
		}
	}
	candidates := []string{"fstally", "postgres", "nobody"}
	for _, name := range candidates {
		if acc, err := lookupAccount(ctx, name); err == nil && acc.UID != 0 {
			return acc, nil
		}
	}
	return account{}, problemf(ErrUnusable, "Postgres cannot run as root, and there is no user %s to run it as: "+
		"create one (useradd --system fstally), or run fstally as an ordinary user",
		strings.Join(candidates, ", "))
}

// lookupAccount finds a user by name or decimal id. A build without cgo reads
// /etc/passwd only; sites with LDAP or SSSD answer through getent.
func lookupAccount(ctx context.Context, key string) (account, error) {
	var found *user.User
	_, notNumber := strconv.Atoi(key)
	if notNumber == nil {
		found, _ = user.LookupId(key)
	} else {
		found, _ = user.Lookup(key)
	}
	if found != nil {
		return parseAccount(found.Username, found.Uid, found.Gid)
	}

	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "getent", "passwd", key).Output()
	if err != nil {
		return account{}, fmt.Errorf("look up user %s: not in /etc/passwd; getent passwd: %w", key, err)
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\n"), ":")
	if len(fields) < 4 {
		return account{}, fmt.Errorf("look up user %s: getent passwd printed %q", key, out)
	}
	return parseAccount(fields[0], fields[2], fields[3])
}

func parseAccount(name, uid, gid string) (account, error) {
	u, err := strconv.Atoi(uid)
	if err != nil {
		return account{}, fmt.Errorf("user %s: id %q: %w", name, uid, err)
	}
	g, err := strconv.Atoi(gid)
	if err != nil {
		return account{}, fmt.Errorf("user %s: group id %q: %w", name, gid, err)
	}
	return account{Name: name, UID: u, GID: g}, nil
}

// become turns this process into acc for good. Only root can become another.
func (acc account) become() error {
	if acc.UID == os.Geteuid() {
		return nil
	}
	if err := syscall.Setgroups([]int{acc.GID}); err != nil {
		return fmt.Errorf("give up root's groups: %w", err)
	}
	if err := syscall.Setgid(acc.GID); err != nil {
		return fmt.Errorf("become group %d of user %s: %w", acc.GID, acc.Name, err)
	}
	if err := syscall.Setuid(acc.UID); err != nil {
		return fmt.Errorf("become user %s (%d): %w", acc.Name, acc.UID, err)
	}
	return nil
}
