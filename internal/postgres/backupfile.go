package postgres

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"
)

// A backup is a tar under zstd, so that it can be looked into without fstally:
//
//	backup.json             backupHead: what it is, and which tables follow
//	data/TABLE/000001 ...   rows in the text format of COPY, whole rows in each file
//	end.json                backupTail: how many rows, and the sequences
//
// It holds no statement: the schema is made by the migrations of this program up to
// the version in the head, so that neither the programs nor the version of Postgres
// matter. A backup without end.json was cut; zstd's checksum tells damage.
const (
	backupFormat  = "fstally backup"
	backupVersion = 1
	headName      = "backup.json"
	tailName      = "end.json"
	dataPrefix    = "data/"
	// chunkBytes bounds what is held in memory, but for a longer row.
	chunkBytes = 4 << 20
	// jsonLimit is far above what thousands of tables need.
	jsonLimit = 64 << 20
)

type backupHead struct {
	Format        string        `json:"format"`
	FormatVersion int           `json:"format_version"`
	Program       string        `json:"fstally"`
	Postgres      string        `json:"postgres"`
	Schema        int64         `json:"schema_version"`
	Created       time.Time     `json:"created"`
	DatabaseBytes int64         `json:"database_bytes"` // with indexes
	Tables        []backupTable `json:"tables"`
}

type backupTable struct {
	Name      string           `json:"name"`
	Columns   []string         `json:"columns"`
	Partition *backupPartition `json:"partition,omitempty"`
}

// backupPartition says what the partition is of: from From up to and without To.
type backupPartition struct {
	Of   string `json:"of"`
	Tier Tier   `json:"tier"`
	From string `json:"from"`
	To   string `json:"to"`
}

type backupTail struct {
	Rows      map[string]int64 `json:"rows"`
	Sequences []backupSequence `json:"sequences"`
}

type backupSequence struct {
	Name   string `json:"name"`
	Last   int64  `json:"last_value"`
	Called bool   `json:"is_called"`
}

// What can be wrong with a backup; match with errors.Is.
var (
	// ErrForeignBackup: not a backup of fstally.
	ErrForeignBackup = errors.New("this is not a backup of fstally")
	// ErrNewerBackup: a later fstally made it.
	ErrNewerBackup = errors.New("this backup was made by a newer fstally: use that one")
	// ErrCutBackup: its end is missing.
	ErrCutBackup = errors.New("this backup is cut: its end is missing")
	// ErrDamagedBackup: its content is not what was written.
	ErrDamagedBackup = errors.New("this backup is damaged")
)

// backupWriter writes the files of a backup.
type backupWriter struct {
	tar      *tar.Writer
	time     time.Time
	progress func(int64)
	written  int64
}

func (b *backupWriter) putJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	return b.put(name, append(text, '\n'))
}

func (b *backupWriter) put(name string, content []byte) error {
	header := &tar.Header{Name: name, Mode: 0o600, Size: int64(len(content)), ModTime: b.time, Format: tar.FormatPAX}
	if err := b.tar.WriteHeader(header); err != nil {
		return err
	}
	_, err := b.tar.Write(content)
	return err
}

// putTable writes the rows of a table, and returns how many.
func (b *backupWriter) putTable(ctx context.Context, tx pgx.Tx, t backupTable) (int64, error) {
	chunks := &chunkWriter{file: b, prefix: dataPrefix + t.Name + "/"}
	sql := "COPY " + t.target() + " TO STDOUT"
	tag, err := tx.Conn().PgConn().CopyTo(ctx, chunks, sql)
	if err != nil {
		return 0, explainUnavailable(err)
	}
	return tag.RowsAffected(), chunks.flush()
}

// target names the table and its columns in a statement.
func (t backupTable) target() string {
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = pgx.Identifier{c}.Sanitize()
	}
	return pgx.Identifier{t.Name}.Sanitize() + " (" + strings.Join(columns, ", ") + ")"
}

// chunkWriter gathers rows, of which each Write is one (Postgres manual, COPY
// operations of the protocol), into files of whole rows.
type chunkWriter struct {
	file   *backupWriter
	prefix string
	rows   bytes.Buffer
	number int
}

func (c *chunkWriter) Write(row []byte) (int, error) {
	if c.rows.Len() > 0 && c.rows.Len()+len(row) > chunkBytes {
		if err := c.flush(); err != nil {
			return 0, err
		}
	}
	return c.rows.Write(row)
}

func (c *chunkWriter) flush() error {
	if c.rows.Len() == 0 {
		return nil
	}
	c.number++
	if err := c.file.put(fmt.Sprintf("%s%06d", c.prefix, c.number), c.rows.Bytes()); err != nil {
		return err
	}
	c.file.written += int64(c.rows.Len())
	c.file.progress(c.file.written)
	c.rows.Reset()
	return nil
}

// BackupReader is a backup of which the head has been read.
type BackupReader struct {
	head   backupHead
	source *sourceReader
	rest   io.Reader // what holds the tar
	tar    *tar.Reader
	next   *tar.Header // of the file that the reader stands at, nil after the last
	read   int64       // bytes of rows
	close  func()
}

// OpenBackup reads the beginning of a backup. The caller closes it. The error is
// ErrForeignBackup, ErrNewerBackup, ErrCutBackup or ErrDamagedBackup where it is
// about the content.
func OpenBackup(r io.Reader) (*BackupReader, error) {
	source := &sourceReader{r: r}
	z, err := zstd.NewReader(source)
	if err != nil {
		return nil, fmt.Errorf("start to uncompress: %w", err)
	}
	b := &BackupReader{source: source, rest: z, close: z.Close}
	if err := b.open(); err != nil {
		z.Close()
		return nil, err
	}
	return b, nil
}

func (b *BackupReader) open() error {
	b.tar = tar.NewReader(b.rest)
	if err := b.advance(); err != nil {
		if errors.Is(err, ErrDamagedBackup) {
			return ErrForeignBackup
		}
		return err
	}
	if b.next == nil || b.next.Name != headName {
		return ErrForeignBackup
	}
	if err := b.readJSON(&b.head); err != nil {
		return err
	}
	if b.head.Format != backupFormat {
		return ErrForeignBackup
	}
	if b.head.FormatVersion > backupVersion {
		return fmt.Errorf("%w (its format is %d, this program knows %d; fstally %s wrote it)",
			ErrNewerBackup, b.head.FormatVersion, backupVersion, b.head.Program)
	}
	return b.advance()
}

// Close gives up what the reader holds. It does not close what it reads from.
func (b *BackupReader) Close() { b.close() }

// Created returns when the backup was made.
func (b *BackupReader) Created() time.Time { return b.head.Created }

// DatabaseBytes returns how much space the database took, with its indexes.
func (b *BackupReader) DatabaseBytes() int64 { return b.head.DatabaseBytes }

// advance goes to the next file.
func (b *BackupReader) advance() error {
	h, err := b.tar.Next()
	if errors.Is(err, io.EOF) {
		b.next = nil
		return nil
	}
	b.next = h
	return b.explain(err)
}

func (b *BackupReader) readJSON(to any) error {
	if b.next.Size > jsonLimit {
		return fmt.Errorf("%w (%s has %d bytes)", ErrDamagedBackup, b.next.Name, b.next.Size)
	}
	text, err := io.ReadAll(b.tar)
	if err != nil {
		return b.explain(err)
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("%w (%s: %w)", ErrDamagedBackup, b.next.Name, err)
	}
	return nil
}

// table returns the rows of a table. They must be read to the end. progress is told
// the bytes of all tables so far, from time to time.
func (b *BackupReader) table(name string, progress func(int64)) *tableReader {
	return &tableReader{backup: b, prefix: dataPrefix + name + "/", progress: progress}
}

// tail reads the end, which must be here, and that nothing follows: zstd compares
// its checksum only then.
func (b *BackupReader) tail() (backupTail, error) {
	var tail backupTail
	if b.next == nil {
		return tail, ErrCutBackup
	}
	if b.next.Name != tailName {
		return tail, fmt.Errorf("%w (%q is not expected)", ErrDamagedBackup, b.next.Name)
	}
	if err := b.readJSON(&tail); err != nil {
		return tail, err
	}
	if err := b.advance(); err != nil {
		return tail, err
	}
	if b.next != nil {
		return tail, fmt.Errorf("%w (%q follows its end)", ErrDamagedBackup, b.next.Name)
	}
	if _, err := io.Copy(io.Discard, b.rest); err != nil {
		return tail, b.explain(err)
	}
	return tail, nil
}

// tableReader reads the files of one table as one.
type tableReader struct {
	backup   *BackupReader
	prefix   string
	progress func(int64)
	err      error // what was wrong with the file, and not with who reads
}

func (t *tableReader) Read(p []byte) (int, error) {
	for {
		b := t.backup
		if b.next == nil || !strings.HasPrefix(b.next.Name, t.prefix) {
			return 0, io.EOF
		}
		n, err := b.tar.Read(p)
		if n > 0 {
			before := b.read
			b.read += int64(n)
			if before/chunkBytes != b.read/chunkBytes {
				t.progress(b.read)
			}
			return n, nil
		}
		if errors.Is(err, io.EOF) {
			err = b.advance()
		} else {
			err = b.explain(err)
		}
		if err != nil {
			t.err = err
			return 0, err
		}
	}
}

// explain gives err, met in reading the backup, its meaning: the file could not be
// read, it ends too early, or else is not what was written, for which zstd has many
// words.
func (b *BackupReader) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case b.source.err != nil:
		return fmt.Errorf("read the backup: %w", b.source.err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ErrCutBackup
	}
	return fmt.Errorf("%w (%w)", ErrDamagedBackup, err)
}

// sourceReader remembers why its reader failed.
type sourceReader struct {
	r   io.Reader
	err error
}

func (s *sourceReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// Check reads the backup to its end, as a restore would, and stores nothing.
func (b *BackupReader) Check(progress func(int64)) (tables int, rows int64, err error) {
	counted := make(map[string]int64, len(b.head.Tables))
	for _, t := range b.head.Tables {
		n, err := countLines(b.table(t.Name, progress))
		if err != nil {
			return tables, rows, err
		}
		counted[t.Name] = n
		tables++
		rows += n
	}
	_, err = b.finish(counted)
	return tables, rows, err
}

// finish reads the end, and holds what was counted against it.
func (b *BackupReader) finish(rows map[string]int64) (backupTail, error) {
	tail, err := b.tail()
	if err != nil {
		return tail, err
	}
	for _, t := range b.head.Tables {
		if rows[t.Name] != tail.Rows[t.Name] {
			return tail, fmt.Errorf("%w (%d rows of the table %s, and should be %d)",
				ErrDamagedBackup, rows[t.Name], t.Name, tail.Rows[t.Name])
		}
	}
	return tail, nil
}
