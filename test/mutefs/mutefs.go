//go:build linux

// Package mutefs mounts file systems that stop answering, as one on a dead file
// server does. Whoever then asks waits in the kernel, deaf to every signal: a
// process that does so stays after SIGKILL, until the file system is aborted.
package mutefs

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"fstally/test/tree"
)

// Op is an operation that a file system can be mute at.
type Op string

// The operations.
const (
	Stat    Op = "stat"
	Open    Op = "open"    // of a directory
	Readdir Op = "readdir" // its first entry
	Statfs  Op = "statfs"  // of the whole: its path is ""
)

// FS is a mounted file system that shows another directory.
//
// The process that serves it must not touch it once it is mute, unless goroutines of
// its own may wait until it is aborted.
type FS struct {
	Root string // where it is mounted

	waiting chan struct{}
	aborted chan struct{}
	server  *fuse.Server
	once    sync.Once

	mu   sync.Mutex
	mute map[question]bool
}

type question struct {
	op   Op
	path string // below Root
}

// Mount shows the tree in a file system of its own for the time of the test. It
// needs root.
func Mount(tb testing.TB, d tree.Dir) *FS {
	tb.Helper()
	tree.NeedRoot(tb)
	dir := tb.TempDir()
	shown := filepath.Join(dir, "shown")
	m := &FS{
		Root:    filepath.Join(dir, "mounted"),
		waiting: make(chan struct{}, 1), aborted: make(chan struct{}), mute: make(map[question]bool),
	}
	for _, dir := range []string{shown, m.Root} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	tree.Make(tb, shown, d)
	root, err := fs.NewLoopbackRoot(shown)
	if err != nil {
		tb.Fatal(err)
	}
	loopback, ok := root.(*fs.LoopbackNode)
	if !ok {
		tb.Fatalf("the root of a loopback is a %T", root)
	}
	// Nothing is cached, without time-outs: each question comes here.
	options := &fs.Options{MountOptions: fuse.MountOptions{
		FsName: "mutefs", DirectMountStrict: true, AllowOther: true, DisableReadDirPlus: true, MaxBackground: 128,
		Logger: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}}
	top := &node{LoopbackNode: loopback, fs: m}
	loopback.RootData.RootNode = top
	if m.server, err = fs.Mount(m.Root, top, options); err != nil {
		tb.Fatalf("mount a file system of FUSE at %s: %v", m.Root, err)
	}
	tb.Cleanup(m.Abort)
	return m
}

// Mute makes the file system give no more answer to op at a path below its root.
func (m *FS) Mute(op Op, at string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mute[question{op, at}] = true
}

// Waiting receives when somebody has asked what gets no answer, since the last
// time it was received from.
func (m *FS) Waiting() <-chan struct{} { return m.waiting }

// Abort ends the file system: whoever waits for it gets an error, and the mount is
// gone.
func (m *FS) Abort() {
	m.once.Do(func() {
		// The force is what ends the connection, whoever uses the mount.
		_ = unix.Unmount(m.Root, unix.MNT_FORCE)
		close(m.aborted)
		if err := unix.Unmount(m.Root, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
			panic(err) // a mount that stays behind harms the machine
		}
		m.server.Wait()
	})
}

// answer returns when op at that path is to be answered.
func (m *FS) answer(op Op, at string) {
	m.mu.Lock()
	mute := m.mute[question{op, at}]
	m.mu.Unlock()
	if !mute {
		return
	}
	select {
	case m.waiting <- struct{}{}:
	default:
	}
	<-m.aborted
}

// node is a file or directory.
type node struct {
	*fs.LoopbackNode
	fs *FS
}

func (n *node) WrapChild(_ context.Context, child fs.InodeEmbedder) fs.InodeEmbedder {
	loopback, ok := child.(*fs.LoopbackNode)
	if !ok {
		return child
	}
	return &node{LoopbackNode: loopback, fs: n.fs}
}

func (n *node) below() string { return n.Path(n.Root()) }

func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.fs.answer(Stat, path.Join(n.below(), name))
	return n.LoopbackNode.Lookup(ctx, name, out)
}

func (n *node) Getattr(ctx context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.fs.answer(Stat, n.below())
	return n.LoopbackNode.Getattr(ctx, nil, out)
}

// Statx leaves it to Getattr.
func (n *node) Statx(context.Context, fs.FileHandle, uint32, uint32, *fuse.StatxOut) syscall.Errno {
	return syscall.ENOSYS
}

func (n *node) Statfs(ctx context.Context, out *fuse.StatfsOut) syscall.Errno {
	n.fs.answer(Statfs, "")
	return n.LoopbackNode.Statfs(ctx, out)
}

func (n *node) OpendirHandle(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	n.fs.answer(Open, n.below())
	handle, fuseFlags, errno := n.LoopbackNode.OpendirHandle(ctx, flags)
	if errno != 0 {
		return nil, 0, errno
	}
	listing, ok := handle.(stream)
	if !ok {
		return nil, 0, syscall.EIO
	}
	return &directory{stream: listing, node: n}, fuseFlags, 0
}

// stream is what a directory is read from.
type stream interface {
	fs.FileReaddirenter
	fs.FileSeekdirer
	fs.FileReleasedirer
}

// directory is one that is open.
type directory struct {
	stream
	node *node
}

func (d *directory) Readdirent(ctx context.Context) (*fuse.DirEntry, syscall.Errno) {
	d.node.fs.answer(Readdir, d.node.below())
	return d.stream.Readdirent(ctx)
}
