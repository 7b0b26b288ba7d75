package embeddedpg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Rebuilding says how a private Postgres is replaced by a new one.
type Rebuilding struct {
	// Fill fills the empty database at to. from is the address of the existing one,
	// which nobody else changes meanwhile; "" if there is none, or with IgnoreOld.
	Fill func(ctx context.Context, from, to string) error
	// IgnoreOld does not start the existing Postgres, which may be damaged, or of a
	// version whose programs are gone.
	IgnoreOld bool
	// OnlyNewer refuses with [ErrNewest] unless there are programs of a later major
	// version than that of the existing data.
	OnlyNewer bool
}

// Rebuilt is what a Rebuild did.
type Rebuilt struct {
	From, To int    // major versions; From is 0 if there was none, or one that cannot be read
	Kept     string // where the data directory of before is now, "" if there was none
}

// Rebuild makes a new Postgres with the newest programs beside the one in
// config.Dir, has it filled, and puts it into the place of the existing one, whose
// data directory is kept under another name. Nobody else can use either meanwhile.
//
// Until all is filled and on disk, whatever happens leaves the existing data as they
// are, and in use. From then on, the next start finishes what a crash interrupted.
func Rebuild(ctx context.Context, config Config, how Rebuilding) (Rebuilt, error) {
	config, err := config.withDefaults()
	if err != nil {
		return Rebuilt{}, err
	}
	root, err := openDir(config.Dir)
	if err != nil {
		return Rebuilt{}, err
	}
	defer func() { _ = root.Close() }() // what was changed is synced
	lock, err := acquireLock(root)
	if err != nil {
		return Rebuilt{}, err
	}
	r := rebuild{config: config, how: how, root: root}
	err = r.run(ctx)
	return r.result, errors.Join(explainDiskFull(err, config.Dir), lock.release())
}

// rebuild is a Rebuild under way, under the lock.
type rebuild struct {
	config Config
	how    Rebuilding
	root   *os.Root // FSTALLY_DATA_DIR
	result Rebuilt
}

func (r *rebuild) step(ctx context.Context, text string) {
	r.config.Logger.InfoContext(ctx, "private Postgres is rebuilt", "step", text)
}

func (r *rebuild) run(ctx context.Context) (err error) {
	if err := r.prepare(ctx); err != nil {
		return err
	}
	defer func() {
		if left := r.root.RemoveAll(newName); left != nil && err == nil {
			// It takes space, and the next Rebuild tries again.
			r.config.Logger.WarnContext(ctx, "cannot remove what a rebuild needed", "reason", left)
		}
	}()
	if err := r.fill(ctx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// From here on the new data count.
	filled := filepath.Join(newName, folderName, dataName)
	if err := r.root.Rename(filled, filepath.Join(folderName, nextName)); err != nil {
		return fmt.Errorf("put the new data directory in place: %w", err)
	}
	r.step(ctx, "exchanging the data directories")
	folder, err := r.root.OpenRoot(folderName)
	if err != nil {
		return fmt.Errorf("put the new data directory in place: %w", err)
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	kept, err := exchange(folder)
	if kept != "" {
		r.result.Kept = filepath.Join(r.config.Dir, folderName, kept)
	}
	return err
}

// prepare clears away what an interrupted Rebuild left, and checks what could make
// the end fail.
func (r *rebuild) prepare(ctx context.Context) error {
	caller, err := callerAccount(ctx)
	if err != nil {
		return err
	}
	acc, err := folderAccount(ctx, caller, r.root)
	if err != nil {
		return err
	}
	for _, dir := range []string{
		filepath.Join(folderName, dataName),
		filepath.Join(newName, folderName, dataName), filepath.Join(newName, folderName, initdbName),
	} {
		if _, err := endServers(ctx, filepath.Join(r.config.Dir, dir), politely()); err != nil {
			return err
		}
	}
	if err := r.root.RemoveAll(newName); err != nil {
		return fmt.Errorf("remove what an interrupted rebuild left: %w", err)
	}
	folder, err := openFolder(r.root, acc)
	if err != nil {
		return err
	}
	if err := errors.Join(r.sameDisk(folder), folder.Close()); err != nil {
		return err
	}
	in, err := r.root.OpenRoot(folderName)
	if err != nil {
		return unusableDir(r.config.Dir, err)
	}
	defer func() { _ = in.Close() }()
	if _, err := exchange(in); err != nil { // of an interrupted one
		return err
	}
	r.result.From = majorOf(in, dataName)

	// The folder for the new one exists before its Start, which then runs it as the
	// owner of the folder.
	if err := r.root.Mkdir(newName, 0o700); err != nil {
		return unusableDir(r.config.Dir, err)
	}
	next, err := r.root.OpenRoot(newName)
	if err != nil {
		return unusableDir(r.config.Dir, err)
	}
	defer func() { _ = next.Close() }()
	if folder, err = openFolder(next, acc); err != nil {
		return err
	}
	return folder.Close()
}

// sameDisk refuses a folder that is a mount of its own: a directory cannot be moved
// into it in one step.
func (r *rebuild) sameDisk(folder *os.File) error {
	var above, inside unix.Stat_t
	if err := unix.Stat(r.config.Dir, &above); err != nil {
		return unusableDir(r.config.Dir, err)
	}
	if err := unix.Fstat(int(folder.Fd()), &inside); err != nil {
		return unusableDir(r.config.Dir, err)
	}
	if above.Dev != inside.Dev {
		return problemf(ErrUnusable, "%s is on another file system than %s, so a new data directory cannot be put "+
			"there in one step: mount that file system on %[2]s", folder.Name(), r.config.Dir)
	}
	return nil
}

// fill runs both servers until the new one is filled and on disk.
func (r *rebuild) fill(ctx context.Context) (err error) {
	from := ""
	if r.hasOld() && !r.how.IgnoreOld {
		if r.how.OnlyNewer {
			if err := r.wantNewer(ctx); err != nil {
				return err
			}
		}
		r.step(ctx, "starting the existing Postgres")
		old, err := launchIn(ctx, r.config, r.root, nil)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stopRebuilt(ctx, old)) }()
		if err := old.finishStart(ctx, r.config); err != nil {
			return err
		}
		from = old.URL()
	}

	r.step(ctx, "starting a new Postgres")
	config := r.config
	config.Dir = filepath.Join(r.config.Dir, newName)
	config.downloads = filepath.Join(r.config.Dir, folderName, binariesName)
	config.loading = true
	next, err := Start(ctx, config)
	if err != nil {
		return err
	}
	r.step(ctx, "filling the new Postgres")
	if err := r.how.Fill(ctx, from, next.URL()); err != nil {
		return errors.Join(err, stopRebuilt(ctx, next))
	}
	r.step(ctx, "stopping the new Postgres")
	if err := next.Stop(ctx); err != nil {
		return err
	}
	in, err := r.root.OpenRoot(filepath.Join(newName, folderName))
	if err != nil {
		return fmt.Errorf("look at the new data directory: %w", err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	r.result.To = majorOf(in, dataName)
	r.step(ctx, "writing the new data to disk")
	return syncTree(ctx, in, dataName)
}

// syncTree makes all below dir durable, files and names.
func syncTree(ctx context.Context, root *os.Root, dir string) error {
	return fs.WalkDir(root.FS(), dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() && !entry.Type().IsRegular() {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		f, err := root.Open(path)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return fmt.Errorf("write %s to disk: %w", f.Name(), err)
		}
		return nil
	})
}

// stopRebuilt stops a server, also when ctx has ended.
func stopRebuilt(ctx context.Context, s *Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return s.Stop(ctx)
}

// hasOld tells whether there is a data directory, readable or not.
func (r *rebuild) hasOld() bool {
	_, err := r.root.Lstat(filepath.Join(folderName, dataName))
	return !errors.Is(err, fs.ErrNotExist)
}

// wantNewer refuses to rebuild for no newer version.
func (r *rebuild) wantNewer(ctx context.Context) error {
	found := findInstallations(ctx, r.config.BinariesPath, filepath.Join(r.config.Dir, folderName, binariesName))
	newest, ok := chooseInstallation(found, 0)
	if !ok || r.result.From == 0 || newest.major > r.result.From {
		return nil // the start says what is missing or wrong
	}
	return problemf(ErrNewest, "the data in %s are of Postgres %d, and no newer server programs were found (newest: %s): "+
		"install those of the version that you want",
		filepath.Join(r.config.Dir, folderName, dataName), r.result.From, newest)
}

// exchange puts a data directory that is ready into its place, and returns the name
// under which the one of before is kept, "" for none. Each step may be the last
// before a crash; it goes on from there.
func exchange(folder *os.Root) (kept string, err error) {
	if _, err := folder.Lstat(nextName); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("exchange the data directories in %s: %w", folder.Name(), err)
		}
	}()
	if err := syncRoot(folder); err != nil { // the new one must be there before the other goes
		return "", err
	}
	// An empty directory, which Remove removes, is not worth keeping.
	if err := folder.Remove(dataName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		kept = freeName(folder)
		if err := folder.Rename(dataName, kept); err != nil {
			return "", err
		}
	}
	if err := folder.Rename(nextName, dataName); err != nil {
		return kept, err
	}
	return kept, syncRoot(folder)
}

// freeName is data-15 for data of Postgres 15, or data-15-2 and so on.
func freeName(folder *os.Root) string {
	name := dataName + "-old"
	if major := majorOf(folder, dataName); major != 0 {
		name = dataName + "-" + strconv.Itoa(major)
	}
	free := name
	for n := 2; ; n++ {
		if _, err := folder.Lstat(free); errors.Is(err, fs.ErrNotExist) {
			return free
		}
		free = name + "-" + strconv.Itoa(n)
	}
}

// majorOf reads the major version of a data directory, 0 if that cannot be done.
func majorOf(folder *os.Root, data string) int {
	text, err := folder.ReadFile(filepath.Join(data, "PG_VERSION"))
	if err != nil {
		return 0
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || major < 0 {
		return 0
	}
	return major
}

// syncRoot makes renames in the directory durable.
func syncRoot(folder *os.Root) error {
	dir, err := folder.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// finishRebuild finishes an exchange that a crash interrupted.
func (s *supervisor) finishRebuild() error {
	folder, err := os.OpenRoot(".")
	if err != nil {
		return fmt.Errorf("open %s: %w", s.order.Folder, err)
	}
	kept, err := exchange(folder)
	if kept != "" {
		s.tell(event{Progress: &progress{Text: "finished a rebuild: the data of before are kept in " +
			filepath.Join(s.order.Folder, kept)}})
	}
	return errors.Join(err, folder.Close())
}

// FreeSpace returns how many bytes an ordinary user may still write to the file
// system of dir, or of the directory above if it does not exist yet. Quotas are not
// in it.
func FreeSpace(dir string) (int64, error) {
	for {
		var st unix.Statfs_t
		err := unix.Statfs(dir, &st)
		if errors.Is(err, syscall.ENOENT) && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir)
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("ask for the free space in %s: %w", dir, err)
		}
		return int64(st.Bavail) * st.Bsize, nil
	}
}

// HasData tells whether there is a data directory of a private Postgres in dir
// (FSTALLY_DATA_DIR), or one that a Rebuild was about to put there.
func HasData(dir string) bool {
	for _, name := range []string{dataName, nextName} {
		if _, err := os.Lstat(filepath.Join(dir, folderName, name)); err == nil {
			return true
		}
	}
	return false
}
