package embeddedpg

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Server is a private Postgres that this process started. It must be stopped,
// or watched through Done.
type Server struct {
	url     string
	dataDir string
	logger  *slog.Logger
	lock    *lock // nil: the caller of launchIn holds it

	supervisor *exec.Cmd
	complaints tail      // what the supervisor says on standard error
	lifeline   io.Closer // closing it is the order to stop
	stopping   atomic.Bool

	progress chan progress // for Start, newest only
	started  chan started  // for Start

	done chan struct{}
	err  error // set before done is closed
}

// Start runs Postgres on the data directory in config.Dir, which it makes if
// there is none, and returns when connections to [Server.URL] work. The
// database exists, with encoding UTF8 and locale C. If ctx ends first, or
// anything fails, nothing is left running; the error says what to do and is of
// one of the kinds in this package where one fits. Existing data is never
// deleted.
func Start(ctx context.Context, config Config) (*Server, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	s, err := launch(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := s.finishStart(ctx, config); err != nil {
		return nil, err
	}
	return s, nil
}

// finishStart waits until Postgres takes connections. If it fails nothing is left
// running.
func (s *Server) finishStart(ctx context.Context, config Config) error {
	err := s.awaitStart(ctx, config.StartTimeout)
	if err == nil {
		return nil
	}
	s.abandon(ctx)
	// Why it ended says more than that connecting failed.
	if s.err != nil {
		err = s.err
	}
	return explainDiskFull(err, config.Dir)
}

// launch takes the lock and starts the supervisor.
func launch(ctx context.Context, config Config) (_ *Server, err error) {
	root, err := openDir(config.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // read only: nothing to lose
	lock, err := acquireLock(root)
	if err != nil {
		return nil, err
	}
	s, err := launchIn(ctx, config, root, lock)
	if err != nil {
		return nil, errors.Join(err, lock.release())
	}
	return s, nil
}

// launchIn starts the supervisor in root, which config.Dir is the name of. The
// server gives up the lock when it ends; nil if the caller holds one for longer,
// and then nobody else gets to know the address.
func launchIn(ctx context.Context, config Config, root *os.Root, lock *lock) (*Server, error) {
	caller, err := callerAccount(ctx)
	if err != nil {
		return nil, err
	}
	acc, err := folderAccount(ctx, caller, root)
	if err != nil {
		return nil, err
	}
	if acc != caller {
		config.Logger.InfoContext(ctx, "private Postgres runs as another user than root", "user", acc.Name)
	}
	folder, err := openFolder(root, acc)
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }()

	path := filepath.Join(config.Dir, folderName)
	s := &Server{
		dataDir:  filepath.Join(path, dataName),
		logger:   config.Logger,
		lock:     lock,
		progress: make(chan progress, 1),
		started:  make(chan started, 1),
		done:     make(chan struct{}),
	}
	if err := s.run(ctx, config.Supervisor, folder, order{
		Folder:        path,
		Account:       acc,
		Client:        caller.Name,
		BinariesPath:  config.BinariesPath,
		Downloads:     cmp.Or(config.downloads, filepath.Join(path, binariesName)),
		AllowDownload: config.AllowDownload,
		DownloadURL:   config.DownloadURL,
		Loading:       config.loading,
	}); err != nil {
		return nil, fmt.Errorf("start the supervisor of Postgres: %w", err)
	}
	return s, nil
}

// folderAccount is who runs Postgres in root when caller runs fstally.
func folderAccount(ctx context.Context, caller account, root *os.Root) (account, error) {
	existing, err := root.Stat(folderName)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return account{}, unusableDir(root.Name(), err)
	}
	return serverAccount(ctx, caller, existing)
}

// run starts the supervisor process and the goroutine that listens to it.
func (s *Server) run(ctx context.Context, argv []string, folder *os.File, order order) error {
	text, err := json.Marshal(order)
	if err != nil {
		return fmt.Errorf("encode order: %w", err)
	}
	// It outlives ctx, which bounds the start only.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), argv[0], argv[1:]...)
	cmd.Env = supervisorEnv()
	cmd.ExtraFiles = []*os.File{folder} // becomes folderFD
	cmd.Stderr = &s.complaints
	cmd.WaitDelay = 10 * time.Second
	// Out of reach of the terminal's Ctrl-C and hang-up.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.supervisor, s.lifeline = cmd, stdin
	go s.watch(context.WithoutCancel(ctx), stdout)
	// If this fails the supervisor has ended, which the watch reports better.
	_, _ = stdin.Write(append(text, '\n'))
	return nil
}

// supervisorEnv leaves out what is nobody's business: the account that runs
// Postgres can read the environment of its processes.
func supervisorEnv() []string {
	env := []string{"LC_ALL=C", "TZ=UTC"}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch strings.ToUpper(name) {
		case "PATH", "LD_LIBRARY_PATH", "GOCOVERDIR",
			"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR": // for the download
			env = append(env, kv)
		}
	}
	return slices.Clip(env)
}

// watch hears what the supervisor says until it ends, then makes sure that
// Postgres has ended too, gives up the lock and closes done.
func (s *Server) watch(ctx context.Context, stdout io.Reader) {
	defer close(s.done)
	var failure error
	var socketDir string
	for events := json.NewDecoder(stdout); ; {
		var ev event
		if err := events.Decode(&ev); err != nil {
			break
		}
		switch {
		case ev.Progress != nil:
			s.logger.InfoContext(ctx, "private Postgres starts", "step", ev.Progress.Text)
			select {
			case <-s.progress:
			default:
			}
			s.progress <- *ev.Progress
		case ev.Started != nil:
			socketDir = ev.Started.SocketDir
			s.started <- *ev.Started
		case ev.Failed != nil:
			failure = reported(ev.Failed.Kind, ev.Failed.Message)
		}
	}
	_, _ = io.Copy(io.Discard, stdout) // in case it said something odd: it ends at its end
	ended := s.supervisor.Wait()
	_, left := endServers(ctx, s.dataDir, firmly())
	removeSocketDir(socketDir)
	if failure == nil && !s.stopping.Load() {
		how := "without a reason"
		if ended != nil {
			how = ended.Error()
		}
		failure = fmt.Errorf("the supervisor of the Postgres on %s (pid %d) ended unasked: %s %s",
			s.dataDir, s.supervisor.Process.Pid, how, &s.complaints)
	}
	s.err = errors.Join(failure, left)
	if s.lock != nil {
		s.err = errors.Join(s.err, s.lock.release())
	}
}

// awaitStart waits until Postgres runs and takes connections. timeout is for
// each stage.
func (s *Server) awaitStart(ctx context.Context, timeout time.Duration) error {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		select {
		case p := <-s.progress:
			timer.Reset(max(timeout, p.Limit))
		case st := <-s.started:
			s.url = connectionURL(st.SocketDir, Database)
			if err := s.awaitReady(ctx, st.SocketDir, timeout); err != nil {
				return err
			}
			s.logger.InfoContext(ctx, "private Postgres runs",
				"version", st.Version, "programs", st.Binaries, "pid", st.PID, "data", s.dataDir)
			if s.lock == nil {
				return nil
			}
			return s.lock.publish(s.url)
		case <-timer.C:
			return fmt.Errorf("start Postgres on %s: nothing happened for %s", s.dataDir, timeout)
		case <-s.done:
			return s.err
		case <-ctx.Done():
			return fmt.Errorf("start Postgres on %s: %w", s.dataDir, ctx.Err())
		}
	}
}

// abandon ends a start that failed.
func (s *Server) abandon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	_ = s.Stop(ctx) // the reason of the failure is reported
}

// URL is the address of the database for pgx and libpq.
func (s *Server) URL() string { return s.url }

// Done is closed when Postgres has ended, wanted or not, and the directory is
// free for another Start.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err says why Postgres ended, with the end of its log: nil while it runs and
// after a Stop.
func (s *Server) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// Stop disconnects all clients, stops Postgres and waits until nothing of it
// is left. If ctx ends first, Postgres is ended the hard way, which costs
// recovery at the next start but no data. More calls do no harm.
func (s *Server) Stop(ctx context.Context) error {
	s.stopping.Store(true)
	_ = s.lifeline.Close() // fails only if it is closed already
	select {
	case <-s.done:
	case <-ctx.Done():
		_ = s.supervisor.Process.Kill() // fails only if it has ended
		<-s.done                        // bounded by endServers
	}
	if s.err != nil {
		return fmt.Errorf("stop Postgres: %w", s.err)
	}
	return nil
}
