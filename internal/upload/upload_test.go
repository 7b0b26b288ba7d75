package upload_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/uuid"

	"fstally/internal/upload"
	"fstally/internal/usage"
	"fstally/test/tree"
)

// cut is a body that breaks off after n bytes.
func cut(b []byte, n int) io.Reader {
	return io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(io.ErrUnexpectedEOF))
}

// Whatever breaks, and however often the server starts anew: the result is stored once,
// whole.
func TestRandomCuts(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s, dir := newStore(), t.TempDir()
		r := newSample(t, s)
		f := open(t, dir, s)
		for {
			u, err := f.Announce(t.Context(), r.Announcement)
			if err != nil {
				t.Fatal(err)
			}
			if u.State != upload.Receiving {
				break
			}
			rest := r.file[u.Offset:]
			n := rng.IntN(len(rest) + 1)
			after, err := f.Append(t.Context(), r.ID, u.Offset, cut(rest, n))
			if err != nil || after.Offset != u.Offset+int64(n) {
				t.Fatalf("seed %d: %d of %d bytes: offset %d, %v", seed, n, len(rest), after.Offset, err)
			}
			if rng.IntN(3) == 0 {
				f = open(t, dir, s) // as after a crash: nothing is known but the files
			}
		}
		for range 2 {
			if err := f.ImportComplete(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.scans) != 1 || s.scans[r.ID].Totals != r.totals || s.imports != 1 {
			t.Fatalf("seed %d: %d scans after %d imports: %+v", seed, len(s.scans), s.imports, s.scans)
		}
		if names := left(t, dir); len(names) > 0 {
			t.Errorf("seed %d: left in the folder: %q", seed, names)
		}
	}
}

func TestSentTwice(t *testing.T) {
	s, dir := newStore(), t.TempDir()
	r := newSample(t, s)
	f := open(t, dir, s)
	run(t, f)
	for range 2 {
		u, err := f.Announce(t.Context(), r.Announcement)
		if err != nil {
			t.Fatal(err)
		}
		if u.State == upload.Receiving {
			if _, err := f.Append(t.Context(), r.ID, 0, bytes.NewReader(r.file)); err != nil {
				t.Fatal(err)
			}
			u, err = f.Finish(t.Context(), r.ID)
		}
		if err != nil || u.State != upload.Imported || u.Scan.ID != 1 {
			t.Errorf("upload = %+v, %v", u, err)
		}
	}
	if s.imports != 1 {
		t.Errorf("%d imports", s.imports)
	}
	r.FileSystemID = 2
	if _, err := f.Announce(t.Context(), r.Announcement); !errors.Is(err, upload.ErrStoredElsewhere) {
		t.Errorf("announced for another file system: %v", err)
	}
}

// Two senders of the same result get in each other's way, but not into the store twice.
func TestSendersAtOnce(t *testing.T) {
	s, dir := newStore(), t.TempDir()
	r := newSample(t, s)
	f := open(t, dir, s)
	run(t, f)
	var senders sync.WaitGroup
	for range 4 {
		senders.Go(func() {
			for {
				u, err := f.Announce(t.Context(), r.Announcement)
				if err == nil && u.State == upload.Receiving {
					n := min(int64(100), r.Size-u.Offset)
					u, err = f.Append(t.Context(), r.ID, u.Offset, bytes.NewReader(r.file[u.Offset:u.Offset+n]))
				}
				if err == nil && u.State == upload.Importing {
					u, err = f.Finish(t.Context(), r.ID)
				}
				var conflict interface{ Conflict() bool }
				switch {
				case errors.As(err, &conflict), errors.Is(err, usage.ErrNotFound):
				case err != nil:
					t.Errorf("send: %v", err)
					return
				case u.State == upload.Imported:
					if u.Scan.ID != 1 {
						t.Errorf("scan %d", u.Scan.ID)
					}
					return
				}
			}
		})
	}
	senders.Wait()
	if len(s.scans) != 1 || s.scans[r.ID].Totals != r.totals || s.imports != 1 {
		t.Errorf("%d imports: %+v", s.imports, s.scans)
	}
}

// A piece that is on its way locks others out, and one for another place is not taken.
func TestOnlyAtTheEnd(t *testing.T) {
	s := newStore()
	r := newSample(t, s)
	f := open(t, t.TempDir(), s)
	if _, err := f.Announce(t.Context(), r.Announcement); err != nil {
		t.Fatal(err)
	}
	body, in := io.Pipe()
	done := make(chan error)
	go func() {
		_, err := f.Append(t.Context(), r.ID, 0, body)
		done <- err
	}()
	if _, err := in.Write(r.file[:10]); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Append(t.Context(), r.ID, 0, bytes.NewReader(r.file)); !errors.Is(err, upload.ErrBusy) {
		t.Errorf("beside another piece: %v", err)
	}
	if err := f.Remove(r.ID); !errors.Is(err, upload.ErrBusy) {
		t.Errorf("removed under a piece: %v", err)
	}
	_ = in.CloseWithError(io.ErrUnexpectedEOF)
	if err := <-done; err != nil {
		t.Error(err)
	}
	for _, offset := range []int64{0, 9, 11, r.Size} {
		_, err := f.Append(t.Context(), r.ID, offset, bytes.NewReader(r.file))
		if wrong, ok := errors.AsType[*upload.OffsetError](err); !ok || wrong.Offset != 10 {
			t.Errorf("at %d: %v", offset, err)
		}
	}
	if _, err := f.Finish(t.Context(), r.ID); err == nil {
		t.Error("a part is finished")
	}
	if err := f.Remove(r.ID); err != nil {
		t.Error(err)
	}
	if _, err := f.Status(t.Context(), r.ID); !errors.Is(err, usage.ErrNotFound) {
		t.Errorf("after it was removed: %v", err)
	}
}

func TestRefused(t *testing.T) {
	s := newStore()
	r := newSample(t, s)
	other := uuid.NewString()
	damaged := bytes.Clone(r.file)
	damaged[len(damaged)/2] ^= 1
	newer := bytes.Replace(r.file, []byte("result 1\n"), []byte("result 9\n"), 1)
	for name, tc := range map[string]struct {
		upload.Announcement
		file   []byte
		before func()
		want   string
		resend bool
	}{
		"damaged on its way": {Announcement: r.Announcement, file: damaged, want: "SHA-256", resend: true},
		"foreign":            {Announcement: announce(other, []byte("a,b\n1,2\n")), file: []byte("a,b\n1,2\n"), want: "not a result"},
		"cut":                {Announcement: announce(r.ID, r.file[:200]), file: r.file[:200], want: "cut short"},
		"damaged before":     {Announcement: announce(r.ID, damaged), file: damaged, want: "damaged"},
		"newer":              {Announcement: announce(r.ID, newer), file: newer, want: "newer fstally"},
		"another id":         {Announcement: announce(other, r.file), file: r.file, want: r.ID},
		"another root":       {Announcement: r.Announcement, file: r.file, before: func() { s.roots[1] = "/elsewhere" }, want: "any-root"},
		"file system gone":   {Announcement: r.Announcement, file: r.file, before: func() { delete(s.roots, 1) }, want: "removed"},
		"not for the store": {
			Announcement: r.Announcement, file: r.file, before: func() { s.refuse = errors.New("set the clock") }, want: "clock",
		},
	} {
		root := s.roots[1]
		dir := t.TempDir()
		f := open(t, dir, s)
		if tc.before != nil {
			tc.before()
		}
		if _, err := f.Announce(t.Context(), tc.Announcement); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := f.Append(t.Context(), tc.ID, 0, bytes.NewReader(tc.file)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := f.ImportComplete(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		u, err := f.Finish(t.Context(), tc.ID)
		if err != nil || u.State != upload.Refused || !strings.Contains(u.Reason, tc.want) || u.Resend != tc.resend {
			t.Errorf("%s: %+v, %v", name, u, err)
		}
		if names := left(t, dir); len(names) != 1 { // the reason, for a sender that asks
			t.Errorf("%s: left in the folder: %q", name, names)
		}
		// Mended, it is taken.
		s.roots[1], s.refuse = root, nil
		if u, err = f.Announce(t.Context(), r.Announcement); err != nil || u.State != upload.Receiving || u.Offset != 0 {
			t.Errorf("%s: announced anew: %+v, %v", name, u, err)
		}
	}
	if len(s.scans) != 0 {
		t.Errorf("stored: %+v", s.scans)
	}
}

func TestAnyRoot(t *testing.T) {
	s := newStore()
	r := newSample(t, s)
	s.roots[1] = "/elsewhere"
	f := open(t, t.TempDir(), s)
	if _, err := f.Announce(t.Context(), r.Announcement); err != nil {
		t.Fatal(err)
	}
	r.AnyRoot = true // said later, it counts
	if _, err := f.Announce(t.Context(), r.Announcement); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Append(t.Context(), r.ID, 0, bytes.NewReader(r.file)); err != nil {
		t.Fatal(err)
	}
	if err := f.ImportComplete(t.Context()); err != nil || len(s.scans) != 1 {
		t.Errorf("%+v, %v", s.scans, err)
	}
}

// While the database is away a complete upload stays, also over a restart, and its sender
// need not come back.
func TestStoreAway(t *testing.T) {
	s, dir := newStore(), t.TempDir()
	r := newSample(t, s)
	f := open(t, dir, s, func(o *upload.Options) { o.Patience = time.Millisecond })
	if _, err := f.Announce(t.Context(), r.Announcement); err != nil {
		t.Fatal(err)
	}
	s.fail(errAway)
	if _, err := f.Append(t.Context(), r.ID, 0, bytes.NewReader(r.file)); err != nil {
		t.Fatal(err)
	}
	if err := f.ImportComplete(t.Context()); err != nil {
		t.Error(err)
	}
	if u, err := f.Finish(t.Context(), r.ID); err != nil || u.State != upload.Importing {
		t.Errorf("while the store is away: %+v, %v", u, err)
	}
	if err := f.Remove(r.ID); !errors.Is(err, upload.ErrImporting) {
		t.Errorf("removed while it is complete: %v", err)
	}
	s.fail(nil)
	f = open(t, dir, s)
	for range 2 {
		if err := f.ImportComplete(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if u, err := f.Finish(t.Context(), r.ID); err != nil || u.State != upload.Imported || len(s.scans) != 1 {
		t.Errorf("after it came back: %+v, %v", u, err)
	}
}

func TestBounds(t *testing.T) {
	s := newStore()
	r := newSample(t, s)
	f := open(t, t.TempDir(), s, func(o *upload.Options) { o.MaxSize, o.MaxUnfinished = r.Size, 2 })
	a := r.Announcement
	a.Size++
	if _, err := f.Announce(t.Context(), a); !errors.As(err, new(*upload.TooLargeError)) {
		t.Errorf("too large: %v", err)
	}
	for i, want := range []bool{true, true, false} {
		_, err := f.Announce(t.Context(), announce(uuid.NewString(), []byte{byte(i)}))
		if (err == nil) != want || !want && !errors.As(err, new(*upload.TooManyError)) {
			t.Errorf("upload %d: %v", i, err)
		}
	}
	for _, change := range []func(*upload.Announcement){
		func(a *upload.Announcement) { a.ID = "../../etc/passwd" },
		func(a *upload.Announcement) { a.ID = strings.ToUpper(a.ID) },
		func(a *upload.Announcement) { a.Size = 0 },
		func(a *upload.Announcement) { a.SHA256 = "abc" },
		func(a *upload.Announcement) { a.SHA256 = strings.ToUpper(a.SHA256) },
	} {
		a := r.Announcement
		change(&a)
		if _, err := f.Announce(t.Context(), a); err == nil || errors.As(err, new(*upload.TooManyError)) {
			t.Errorf("%+v is taken: %v", a, err)
		}
	}
}

func TestMoreThanAnnounced(t *testing.T) {
	s := newStore()
	r := newSample(t, s)
	f := open(t, t.TempDir(), s)
	if _, err := f.Announce(t.Context(), r.Announcement); err != nil {
		t.Fatal(err)
	}
	_, err := f.Append(t.Context(), r.ID, 0, bytes.NewReader(append(bytes.Clone(r.file), 0)))
	if !errors.As(err, new(*upload.TooLargeError)) {
		t.Errorf("a byte too many: %v", err)
	}
	if u, err := f.Status(t.Context(), r.ID); err != nil || u.State != upload.Receiving || u.Offset != 0 {
		t.Errorf("after a byte too many: %+v, %v", u, err)
	}
	a := r.Announcement
	a.Size++
	if _, err := f.Announce(t.Context(), a); !errors.Is(err, upload.ErrOther) {
		t.Errorf("another file of the same id: %v", err)
	}
}

// What does not go on is forgotten; what is complete never is.
func TestOldUploads(t *testing.T) {
	s, dir := newStore(), t.TempDir()
	r := newSample(t, s)
	f := open(t, dir, s)
	old := announce(uuid.NewString(), []byte("old"))
	for _, a := range []upload.Announcement{r.Announcement, old} {
		if _, err := f.Announce(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Append(t.Context(), r.ID, 0, bytes.NewReader(r.file)); err != nil {
		t.Fatal(err)
	}
	s.fail(errAway)
	long := time.Now().AddDate(0, 0, -8)
	for _, name := range append(left(t, dir), ".unfinished") {
		file := filepath.Join(dir, name)
		if name == ".unfinished" {
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(file, long, long); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.RemoveOld(t.Context()); err != nil {
		t.Fatal(err)
	}
	if names := left(t, dir); len(names) != 2 || names[0] != r.ID+".fst" || names[1] != r.ID+".json" {
		t.Errorf("left: %q", names)
	}
}

// A disk that fills stops an upload and nothing else, and with room it goes on.
func TestDiskFull(t *testing.T) {
	tree.NeedRoot(t)
	dir := t.TempDir()
	tree.Mount(t, "tmpfs", dir, "tmpfs", 0, "size=256k")
	f := open(t, dir, newStore())
	if _, err := f.Announce(t.Context(), announce(uuid.NewString(), make([]byte, 1<<20))); !errors.As(err, new(*upload.FullError)) {
		t.Errorf("announced without room: %v", err)
	}
	big := make([]byte, 100<<10)
	a := announce(uuid.NewString(), big)
	if _, err := f.Announce(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 200<<10), 0o600); err != nil { // somebody else takes the room
		t.Fatal(err)
	}
	_, err := f.Append(t.Context(), a.ID, 0, bytes.NewReader(big))
	if full, ok := errors.AsType[*upload.FullError](err); !ok || !strings.Contains(full.Error(), "what was sent is kept") {
		t.Errorf("sent without room: %v", err)
	}
	u, err := f.Status(t.Context(), a.ID)
	if err != nil || u.State != upload.Receiving || u.Offset == 0 {
		t.Errorf("on the full disk: %+v, %v", u, err)
	}
	if _, err := f.Append(t.Context(), a.ID, u.Offset, bytes.NewReader(big[u.Offset:])); !errors.As(err, new(*upload.FullError)) {
		t.Errorf("sent on without room: %v", err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if u, err = f.Status(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	if u, err = f.Append(t.Context(), a.ID, u.Offset, bytes.NewReader(big[u.Offset:])); err != nil || u.State != upload.Importing {
		t.Errorf("with room: %+v, %v", u, err)
	}
}
