package postgres_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"fstally/internal/postgres"
	"fstally/internal/usage"
	"fstally/migrations"
	"fstally/test/postgrestest"
)

// copyWords mean something in the text of COPY, in a tar, or in a path.
func copyWords() []string { return []string{"\\.", "\\N", "\\n", "end.json", "../../etc"} }

// years fills the store with scans of all tiers, suspect and thinned ones, one with
// errors, one that runs, and with the holes that a removal leaves.
func (f *fixture) years() {
	f.t.Helper()
	gone := f.addFileSystem("gone")
	var cells []usage.Cell
	for i, name := range append(hostile(), copyWords()...) {
		cells = append(cells, cell(uint32(i), name, name, int64(i)<<40), cell(4294967295, name, "", 0))
	}
	hostiles := summarize(cells...)
	hostiles.Errors = []usage.ScanError{{Op: "open", Errno: "EACCES", Message: "permission denied", Count: 3, Paths: hostile()}}
	hostiles.Counters.Errors = 3
	other := f.addFileSystem("other")
	for i, day := range []string{"2025-11-30", "2026-01-30", "2026-01-31", "2026-02-02", "2026-02-03", "2026-02-09"} {
		req := f.request(at(day), random(uint64(i)))
		if i == 2 {
			req.DetailFrom = postgres.Monthly // thinned
		}
		f.store(req)
		req = f.request(at(day), random(uint64(i)+100))
		req.FileSystemID, req.Meta.Root = gone.ID, gone.Root
		f.store(req)
	}
	req := f.request(at("2026-02-05"), hostiles)
	req.FileSystemID = other.ID
	req.Meta.Identities = []usage.Identity{{ID: 7, Name: "n\xffame"}}
	f.store(req)
	f.add(at("2026-02-10"), summarize(cell(1, "a", "", 1))) // suspect: nothing is left
	if err := f.RemoveFileSystem(f.t.Context(), gone.ID); err != nil {
		f.t.Fatal(err)
	}
	f.add(at("2026-02-11"), random(6)) // some of its rows stand where those were
	f.claim("node1:17")
}

// restored puts a backup of the fixture into another database.
func (f *fixture) restored(backup []byte) *fixture {
	f.t.Helper()
	url := postgrestest.NewEmpty(f.t, "ENCODING 'UTF8' TEMPLATE template0")
	report, err := postgres.Restore(f.t.Context(), url, openBackup(f.t, backup), nil, func(int64) {})
	if err != nil || len(report.LeftOut) > 0 {
		f.t.Fatalf("restore: %+v, %v", report, err)
	}
	return f.at(url)
}

// at opens the store at another address.
func (f *fixture) at(url string) *fixture {
	f.t.Helper()
	store, err := postgres.Open(f.t.Context(), url, postgres.Options{})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(store.Close)
	return &fixture{Store: store, t: f.t, url: url, fs: f.fs}
}

func (f *fixture) backup() []byte {
	f.t.Helper()
	var file bytes.Buffer
	if _, err := postgres.Backup(f.t.Context(), f.url, "test", &file, func(int64) {}); err != nil {
		f.t.Fatal(err)
	}
	return file.Bytes()
}

func openBackup(tb testing.TB, backup []byte) *postgres.BackupReader {
	tb.Helper()
	b, err := postgres.OpenBackup(bytes.NewReader(backup))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(b.Close)
	return b
}

// TestBackupLosesNothing compares the dumps of a database and of what became of its
// backup, and of a copy, and what their readers say.
func TestBackupLosesNothing(t *testing.T) {
	f := newFixture(t)
	f.years()
	for _, tier := range []string{"nightly", "weekly", "monthly"} {
		for _, table := range []string{"usage", "size_histogram", "age_histogram", "directory"} {
			if f.count(`SELECT count(*) FROM pg_inherits WHERE inhrelid::regclass::text LIKE $1`, table+"_"+tier+"%") == 0 {
				t.Fatalf("the fixture has no %s partition of %s", tier, table)
			}
		}
	}
	if n := f.count(`SELECT count(*) FROM scan WHERE thinned`); n == 0 {
		t.Fatal("the fixture has no thinned scan")
	}
	if n := f.count(`SELECT count(*) FROM scan WHERE state = 'running'`); n == 0 {
		t.Fatal("the fixture has no running scan")
	}
	want := postgrestest.Dump(t, f.url)
	g := f.restored(f.backup())
	compareDumps(t, want, postgrestest.Dump(t, g.url))

	url := postgrestest.NewEmpty(t, "ENCODING 'UTF8' TEMPLATE template0")
	if _, _, err := postgres.Copy(t.Context(), f.url, url, "test", nil, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	compareDumps(t, want, postgrestest.Dump(t, url))

	for _, d := range usage.AllDimensions() {
		for _, scan := range f.scans() {
			q := usage.Query{ScanID: scan.ID, GroupBy: d, By: usage.Size, Limit: 100}
			if scan.Published.IsZero() {
				continue
			}
			if diff := cmp.Diff(f.usage(q), g.usage(q), compareBytes); diff != "" {
				t.Errorf("usage of scan %d by %s: %s", scan.ID, d, diff)
			}
		}
		q := usage.HistoryQuery{By: usage.Allocated, GroupBy: d, Top: 10}
		if diff := cmp.Diff(f.history(q), g.history(q), compareBytes); diff != "" {
			t.Errorf("history by %s: %s", d, diff)
		}
	}
	if diff := cmp.Diff(f.scans(), g.scans(), compareBytes); diff != "" {
		t.Errorf("scans: %s", diff)
	}
	// It goes on: ids and partitions continue where they were.
	next := at("2026-02-12")
	if a, b := f.add(next, random(7)), g.add(next, random(7)); a.ID != b.ID {
		t.Errorf("the next scan is %d, was %d before the backup", b.ID, a.ID)
	}
}

func (f *fixture) scans() []usage.Scan {
	f.t.Helper()
	scans, err := f.Scans(f.t.Context(), everything, f.fs.ID, 100, 0)
	if err != nil {
		f.t.Fatal(err)
	}
	return scans
}

func compareDumps(t *testing.T, want, got []byte) {
	t.Helper()
	if bytes.Equal(want, got) {
		return
	}
	a, b := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("the dumps differ in line %d of %d and %d:\n%q\n%q", i+1, len(a), len(b), a[i], b[i])
		}
	}
	t.Fatalf("the dumps have %d and %d lines", len(a), len(b))
}

// TestRestoredDatabaseIsSettled holds that pages are quick at once.
func TestRestoredDatabaseIsSettled(t *testing.T) {
	f := newFixture(t)
	f.years()
	g := f.restored(f.backup())
	if n := g.count(`SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
		AND reltuples < 0`); n != 0 {
		t.Errorf("%d tables have no statistics", n)
	}
	if n := g.count(`SELECT relpages - relallvisible FROM pg_class WHERE relname = 'marginal'`); n != 0 {
		t.Errorf("%d pages of marginal are not known to be visible", n)
	}
}

// TestBackupIsOneMoment imports in the middle of a backup.
func TestBackupIsOneMoment(t *testing.T) {
	f := newFixture(t)
	f.add(at("2026-01-30"), random(1))
	want := postgrestest.Dump(t, f.url)
	var file bytes.Buffer
	once := false
	_, err := postgres.Backup(t.Context(), f.url, "test", writerFunc(func(p []byte) (int, error) {
		if !once { // the compressor writes after the first rows
			once = true
			f.add(at("2026-04-30"), random(2))
		}
		return file.Write(p)
	}), func(int64) {})
	if err != nil || !once {
		t.Fatalf("backup: %t, %v", once, err)
	}
	g := f.restored(file.Bytes())
	// The import has taken numbers of the sequences, which is right to remember.
	sequences := func(dump []byte) []byte {
		lines := strings.Split(string(dump), "\n")
		return []byte(strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.Contains(l, "setval") }), "\n"))
	}
	compareDumps(t, sequences(want), sequences(postgrestest.Dump(t, g.url)))
}

type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }

// TestOldBackup restores one of the first schema.
func TestOldBackup(t *testing.T) {
	f := &fixture{t: t, url: postgrestest.NewEmpty(t, "ENCODING 'UTF8' TEMPLATE template0")}
	first := fstest.MapFS{}
	text, err := fs.ReadFile(migrations.FS, "00001_store.sql")
	if err != nil {
		t.Fatal(err)
	}
	first["00001_store.sql"] = &fstest.MapFile{Data: text}
	if err := postgres.MigrateFiles(t.Context(), f.url, first, time.Second, nil); err != nil {
		t.Fatal(err)
	}
	f.sql(`INSERT INTO filesystem (name, root, size_classes) VALUES ('home', '\x2f', '{1,2,3,4}')`)
	f.sql(`INSERT INTO scan (filesystem_id, state, size_classes) VALUES (1, 'failed', '{1,2,3,4}')`)
	g := f.restored(f.backup())
	if n := g.count(`SELECT count(*) FROM scan WHERE NOT thinned`); n != 1 {
		t.Errorf("%d scans of the old store", n)
	}
}

func TestForeignObjectsAreNamed(t *testing.T) {
	f := newFixture(t)
	f.sql(`CREATE VIEW sums AS SELECT 1 AS n`)
	f.sql(`CREATE TABLE notes (n integer)`)
	f.sql(`INSERT INTO notes VALUES (1), (2)`)
	f.sql(`CREATE SCHEMA mine CREATE TABLE more (n integer)`)
	var file bytes.Buffer
	report, err := postgres.Backup(t.Context(), f.url, "test", &file, func(int64) {})
	if diff := cmp.Diff([]string{"table mine.more", "view public.sums"}, report.LeftOut); err != nil || diff != "" {
		t.Errorf("left out of the backup: %v, %s", err, diff)
	}
	url := postgrestest.NewEmpty(t, "ENCODING 'UTF8' TEMPLATE template0")
	restored, err := postgres.Restore(t.Context(), url, openBackup(t, file.Bytes()), nil, func(int64) {})
	if diff := cmp.Diff([]string{"table notes"}, restored.LeftOut); err != nil || diff != "" {
		t.Errorf("left out of the restored: %v, %s", err, diff)
	}
}

// TestDamagedBackups cuts a backup everywhere and spoils it everywhere.
func TestDamagedBackups(t *testing.T) {
	f := newFixture(t)
	f.years()
	whole := f.backup()
	check := func(content []byte) (int64, error) {
		b, err := postgres.OpenBackup(bytes.NewReader(content))
		if err != nil {
			return 0, err
		}
		defer b.Close()
		_, rows, err := b.Check(func(int64) {})
		return rows, err
	}
	rows, err := check(whole)
	if err != nil || rows == 0 {
		t.Fatalf("%d rows, %v", rows, err)
	}
	for cut := 0; cut < len(whole); cut += 1 + len(whole)/60 {
		if _, err := check(whole[:cut]); !errors.Is(err, postgres.ErrCutBackup) && !errors.Is(err, postgres.ErrForeignBackup) {
			t.Errorf("cut after %d of %d bytes: %v", cut, len(whole), err)
		}
	}
	for at := 0; at < len(whole); at += 1 + len(whole)/60 {
		spoilt := bytes.Clone(whole)
		spoilt[at] ^= 0x10
		// Damage that changes nothing of the content is none.
		if n, err := check(spoilt); err == nil && n != rows || err != nil && !aboutBackup(err) {
			t.Errorf("spoilt at %d of %d: %d rows, %v", at, len(whole), n, err)
		}
	}
	url := postgrestest.NewEmpty(t, "ENCODING 'UTF8' TEMPLATE template0")
	_, err = postgres.Restore(t.Context(), url, openBackup(t, whole[:len(whole)/2]), nil, func(int64) {})
	if !errors.Is(err, postgres.ErrCutBackup) {
		t.Errorf("restore of a half: %v", err)
	}
}

func aboutBackup(err error) bool {
	return errors.Is(err, postgres.ErrCutBackup) || errors.Is(err, postgres.ErrDamagedBackup) ||
		errors.Is(err, postgres.ErrForeignBackup) || errors.Is(err, postgres.ErrNewerBackup)
}

// TestStrangeBackups are files that are whole and say something odd.
func TestStrangeBackups(t *testing.T) {
	const head = `{"format": "fstally backup", "format_version": 1, "schema_version": 1, "tables": [%s]}`
	for name, tc := range map[string]struct {
		files []string // name, content, name, content
		want  error
	}{
		"nothing":        {nil, postgres.ErrForeignBackup},
		"another tar":    {[]string{"readme", "hello"}, postgres.ErrForeignBackup},
		"another json":   {[]string{"backup.json", `{"format": "x"}`}, postgres.ErrForeignBackup},
		"no json":        {[]string{"backup.json", `{`}, postgres.ErrDamagedBackup},
		"newer format":   {[]string{"backup.json", `{"format": "fstally backup", "format_version": 2}`}, postgres.ErrNewerBackup},
		"newer schema":   {[]string{"backup.json", `{"format": "fstally backup", "schema_version": 99}`}, postgres.ErrNewerBackup},
		"without an end": {[]string{"backup.json", fmt.Sprintf(head, "")}, postgres.ErrCutBackup},
		"other file": {[]string{"backup.json", fmt.Sprintf(head, ""), "data/scan/000001", "1\n"},
			postgres.ErrDamagedBackup},
		"rows missing": {[]string{"backup.json", fmt.Sprintf(head, `{"name": "category", "columns": ["id", "name"]}`),
			"end.json", `{"rows": {"category": 1}}`}, postgres.ErrDamagedBackup},
		"no partition of ours": {[]string{"backup.json", fmt.Sprintf(head,
			`{"name": "x", "columns": ["id"], "partition": {"of": "scan", "from": "2026-01-01", "to": "2026-01-02"}}`)},
			postgres.ErrDamagedBackup},
		"bounds that are none": {[]string{"backup.json", fmt.Sprintf(head,
			`{"name": "usage_x", "columns": ["day"], "partition": {"of": "usage", "from": "'); DROP", "to": "2026-01-02"}}`)},
			postgres.ErrDamagedBackup},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := postgres.OpenBackup(packed(t, tc.files))
			if err == nil {
				defer b.Close()
				url := postgrestest.NewEmpty(t, "ENCODING 'UTF8' TEMPLATE template0")
				_, err = postgres.Restore(t.Context(), url, b, nil, func(int64) {})
			}
			if !errors.Is(err, tc.want) {
				t.Errorf("%v, want %v", err, tc.want)
			}
		})
	}
}

func packed(t *testing.T, files []string) io.Reader {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for pair := range slices.Chunk(files, 2) {
		if err := w.WriteHeader(&tar.Header{Name: pair[0], Size: int64(len(pair[1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, pair[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return &out
}

// TestBackupThatCannotBeWritten ends with the reason, and without a connection left.
func TestBackupThatCannotBeWritten(t *testing.T) {
	f := newFixture(t)
	f.years()
	full := errors.New("no space left on device")
	_, err := postgres.Backup(t.Context(), f.url, "test", writerFunc(func([]byte) (int, error) { return 0, full }), func(int64) {})
	if !errors.Is(err, full) {
		t.Errorf("backup to a full disk: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = postgres.Backup(ctx, f.url, "test", writerFunc(func(p []byte) (int, error) {
		cancel()
		return len(p), nil
	}), func(int64) {})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted backup: %v", err)
	}
	source := io.MultiReader(bytes.NewReader(f.backup()[:2000]), errorReader{full})
	b, err := postgres.OpenBackup(source)
	if err == nil {
		_, _, err = b.Check(func(int64) {})
		b.Close()
	}
	if !errors.Is(err, full) || aboutBackup(err) {
		t.Errorf("backup that cannot be read: %v", err)
	}
	_, _, err = postgres.Copy(t.Context(), f.url, "postgres://nobody@127.0.0.1:1/none", "test", nil, func(int64) {})
	if !errors.Is(err, usage.ErrUnavailable) {
		t.Errorf("copy to nowhere: %v", err)
	}
	_, _, err = postgres.Copy(t.Context(), "postgres://nobody@127.0.0.1:1/none", f.url, "test", nil, func(int64) {})
	if !errors.Is(err, usage.ErrUnavailable) {
		t.Errorf("copy from nowhere: %v", err)
	}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

func TestIsEmpty(t *testing.T) {
	bare := postgrestest.NewEmpty(t, "ENCODING 'UTF8' TEMPLATE template0")
	for url, want := range map[string]bool{bare: true, postgrestest.New(t): true, newFixture(t).url: false} {
		if empty, err := postgres.IsEmpty(t.Context(), url); err != nil || empty != want {
			t.Errorf("IsEmpty(%s) = %t, %v, want %t", url, empty, err, want)
		}
	}
	if size, err := postgres.DatabaseBytes(t.Context(), bare); err != nil || size < 1<<20 {
		t.Errorf("DatabaseBytes = %d, %v", size, err)
	}
}
