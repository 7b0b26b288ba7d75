package upload_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"fstally/internal/classify"
	"fstally/internal/result"
	"fstally/internal/scan"
	"fstally/internal/upload"
	"fstally/internal/usage"
	"fstally/internal/walk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// store keeps results in memory.
type store struct {
	mu      sync.Mutex
	roots   map[int64]string // of the file systems
	scans   map[string]usage.Scan
	imports int   // calls
	err     error // of every call, while set
	refuse  error // of an import
}

var errAway = errors.New("the database is away at 10.0.0.1")

func (s *store) FileSystem(_ context.Context, _ usage.Scope, nameOrID string) (usage.FileSystem, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err := strconv.ParseInt(nameOrID, 10, 64)
	root, found := s.roots[id]
	if err == nil && s.err == nil && !found {
		err = usage.ErrNotFound
	}
	return usage.FileSystem{ID: id, Name: "scratch", Root: root}, errors.Join(err, s.err)
}

func (s *store) ScanOfResult(_ context.Context, id string) (usage.Scan, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, found := s.scans[id]
	if s.err == nil && !found {
		return stored, usage.ErrNotFound
	}
	return stored, s.err
}

func (s *store) ImportPushed(_ context.Context, fs int64, r *result.Result) (usage.Scan, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.imports++
	if err := errors.Join(s.err, s.refuse); err != nil {
		return usage.Scan{}, err
	}
	if stored, found := s.scans[r.Meta.ResultID]; found {
		return stored, nil
	}
	stored := usage.Scan{ID: int64(len(s.scans) + 1), FileSystemID: fs, State: usage.Complete, Totals: r.Summary().Totals}
	s.scans[r.Meta.ResultID] = stored
	return stored, nil
}

func (*store) Passing(err error) bool { return errors.Is(err, errAway) }

func (s *store) Internal(error) bool { return false }

func (s *store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// sample is a result in a file.
type sample struct {
	upload.Announcement
	file   []byte
	totals usage.Measures
}

// newSample scans a small tree, which becomes the root of file system 1.
func newSample(t *testing.T, s *store) sample {
	t.Helper()
	root := t.TempDir()
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("f%d.txt", i)), make([]byte, i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := scan.Run(t.Context(), scan.Options{
		Path: root, SizeClasses: usage.DefaultSizeClasses(), Categories: classify.BuiltInCategories(), Engine: walk.Linux{},
	})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := result.Write(&file, r); err != nil {
		t.Fatal(err)
	}
	s.roots[1] = r.Meta.Root
	return sample{announce(r.Meta.ResultID, file.Bytes()), file.Bytes(), r.Summary().Totals}
}

func announce(id string, file []byte) upload.Announcement {
	sum := sha256.Sum256(file)
	return upload.Announcement{ID: id, FileSystemID: 1, Size: int64(len(file)), SHA256: hex.EncodeToString(sum[:])}
}

func newStore() *store { return &store{roots: map[int64]string{}, scans: map[string]usage.Scan{}} }

// open opens a folder; change may set options.
func open(t *testing.T, dir string, s *store, change ...func(*upload.Options)) *upload.Folder {
	t.Helper()
	o := upload.Options{Dir: dir, Store: s, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), Reserve: 1}
	for _, c := range change {
		c(&o)
	}
	f, err := upload.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// run imports in the background for as long as the test lasts.
func run(t *testing.T, f *upload.Folder) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
}

// left returns what is in the folder.
func left(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
