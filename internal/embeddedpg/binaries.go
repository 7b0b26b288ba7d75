package embeddedpg

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// oldestMajor is the oldest Postgres that fstally's own is started with.
const oldestMajor = 13

// installation is a set of Postgres server programs.
type installation struct {
	dir          string
	major, minor int
}

func (in installation) version() string  { return fmt.Sprintf("%d.%d", in.major, in.minor) }
func (in installation) String() string   { return in.version() + " in " + in.dir }
func (in installation) postgres() string { return filepath.Join(in.dir, "postgres") }
func (in installation) initdb() string   { return filepath.Join(in.dir, "initdb") }

// findInstallations lists what this process may run, oldest first. Only
// binariesPath is looked at if it is set; else the usual places, and downloads,
// the directory of earlier downloads.
func findInstallations(ctx context.Context, binariesPath, downloads string) []installation {
	var dirs []string
	if binariesPath != "" {
		dirs = []string{binariesPath, filepath.Join(binariesPath, "bin")}
	} else {
		if path, err := exec.LookPath("postgres"); err == nil {
			dirs = append(dirs, filepath.Dir(path))
		}
		for _, pattern := range []string{
			"/usr/lib/postgresql/*/bin", // Debian, Ubuntu
			"/usr/pgsql-*/bin",          // the RPMs of postgresql.org
			"/usr/lib/postgresql*/bin",  // SUSE
			"/usr/libexec/postgresql*",  // Alpine
			filepath.Join(downloads, "*", "bin"),
		} {
			found, _ := filepath.Glob(pattern) // fails for bad patterns only
			dirs = append(dirs, found...)
		}
	}
	var found []installation
	for _, dir := range dirs {
		if in, ok := inspectInstallation(ctx, dir); ok {
			found = append(found, in)
		}
	}
	slices.SortStableFunc(found, func(a, b installation) int {
		return cmp.Or(cmp.Compare(a.major, b.major), cmp.Compare(a.minor, b.minor))
	})
	return found
}

// inspectInstallation tells the version of the programs in dir, if there are
// any that this process may run.
func inspectInstallation(ctx context.Context, dir string) (installation, bool) {
	in := installation{dir: dir}
	if !filepath.IsAbs(dir) ||
		unix.Access(in.postgres(), unix.X_OK) != nil || unix.Access(in.initdb(), unix.X_OK) != nil {
		return in, false
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, in.postgres(), "-V").Output()
	if err != nil {
		return in, false
	}
	in.major, in.minor, err = parseVersion(string(out))
	return in, err == nil
}

// parseVersion reads the output of postgres -V, such as
// "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)" or "... 18beta1".
func parseVersion(text string) (major, minor int, err error) {
	m := regexp.MustCompile(`\(PostgreSQL\) (\d+)(?:\.(\d+))?`).FindStringSubmatch(text)
	if m == nil {
		return 0, 0, fmt.Errorf("no version of Postgres in %q", text)
	}
	if major, err = strconv.Atoi(m[1]); err != nil {
		return 0, 0, fmt.Errorf("version of Postgres in %q: %w", text, err)
	}
	if m[2] != "" {
		if minor, err = strconv.Atoi(m[2]); err != nil {
			return 0, 0, fmt.Errorf("version of Postgres in %q: %w", text, err)
		}
	}
	return major, minor, nil
}

// chooseInstallation picks, from a list sorted as findInstallations does, the
// newest of the major version of the data, or the newest of all if there is no
// data (dataMajor 0).
func chooseInstallation(found []installation, dataMajor int) (installation, bool) {
	for _, in := range slices.Backward(found) {
		if in.major == dataMajor || dataMajor == 0 && in.major >= oldestMajor {
			return in, true
		}
	}
	return installation{}, false
}

// noInstallation explains why nothing in found serves.
func noInstallation(found []installation, dataMajor int, binariesPath, dataDir string) error {
	list := "none"
	if len(found) > 0 {
		names := make([]string, len(found))
		for i, in := range found {
			names[i] = in.String()
		}
		list = strings.Join(names, ", ")
	}
	where := "in PATH and the usual places"
	if binariesPath != "" {
		where = "in " + binariesPath
	}
	if dataMajor != 0 {
		return problemf(ErrVersion, "the data in %[1]s was made by Postgres %[2]d, and no server programs "+
			"of Postgres %[2]d were found %[3]s (found: %[4]s). The data was not touched. Install Postgres %[2]d "+
			"(Debian, Ubuntu: package postgresql-%[2]d; RHEL: postgresql%[2]d-server); with a newer version beside it, "+
			"`fstally upgrade-postgres` then carries the data over. Or restore a backup (`fstally restore --replace FILE`), "+
			"or move the directory away to start empty", dataDir, dataMajor, where, list)
	}
	return problemf(ErrNoBinaries, "found no Postgres server programs (postgres and initdb, version %d or later) "+
		"%s (found: %s). "+
		"Install them (Debian, Ubuntu: apt install postgresql; RHEL, Rocky, Alma: dnf install postgresql-server), "+
		"or set FSTALLY_DATABASE_URL to a server that you have; `make run` and the option that allows it download them",
		oldestMajor, where, list)
}
