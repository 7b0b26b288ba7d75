package result

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"fstally/internal/aggregate"
)

// maxWindow bounds the memory that a file can make the decompressor take.
const maxWindow = 64 << 20

// Read reads and verifies a result. Nothing of a file that is cut, changed or
// foreign is returned; the error wraps ErrForeign, ErrNewer, ErrCut or
// ErrDamaged, or is the reader's own.
func Read(r io.Reader) (*Result, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	if err := readMagic(in); err != nil {
		return nil, err
	}
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, fmt.Errorf("start decompression: %w", err)
	}
	defer z.Close()
	mode, err := decMode()
	if err != nil {
		return nil, err
	}
	d := decoder{mode: mode, result: &Result{Partial: &aggregate.Partial{Categories: make(map[string]string)}}}
	if err := d.records(mode.NewDecoder(z)); err != nil {
		return nil, err
	}
	if n, err := io.Copy(io.Discard, z); n > 0 || err != nil {
		return nil, damaged("something follows the end")
	}
	if err := d.result.check(); err != nil {
		return nil, err
	}
	return d.result, nil
}

// ReadFile reads and verifies the result in a file.
func ReadFile(path string) (*Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the result: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	r, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("read the result %s: %w", path, err)
	}
	return r, nil
}

func readMagic(in *bufio.Reader) error {
	head, err := in.Peek(len(magic))
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case string(head) != magic && (len(head) == 0 || strings.HasPrefix(magic, string(head))):
		return ErrCut
	case string(head) != magic:
		return ErrForeign
	}
	line, err := in.ReadSlice('\n')
	if err != nil {
		return ErrCut
	}
	v, err := strconv.Atoi(string(line[len(magic) : len(line)-1]))
	switch {
	case err != nil || v < 1:
		return ErrForeign
	case v > version:
		return ErrNewer
	}
	return nil
}

// decMode takes arrays of any length: a directory lists its owners in one, and
// containers with user namespaces give a few people more than the 131,072
// elements of the default. An array takes no memory before its bytes were seen.
func decMode() (cbor.DecMode, error) {
	mode, err := cbor.DecOptions{MaxArrayElements: math.MaxInt32}.DecMode()
	if err != nil {
		return nil, fmt.Errorf("start decoding: %w", err)
	}
	return mode, nil
}

type decoder struct {
	mode   cbor.DecMode
	result *Result
	path   []*aggregate.Node // from the root to the last directory
}

// records reads records up to the trailer and verifies it.
func (d *decoder) records(in *cbor.Decoder) error {
	hash := sha256.New()
	for n := int64(0); ; n++ {
		var raw cbor.RawMessage
		if err := in.Decode(&raw); err != nil {
			return decodeError(err)
		}
		var rec record
		if err := d.mode.Unmarshal(raw, &rec); err != nil {
			return damaged("record %d: %v", n, err)
		}
		if rec.Kind == kindTrailer {
			var t wireTrailer
			if err := d.mode.Unmarshal(rec.Body, &t); err != nil {
				return damaged("trailer: %v", err)
			}
			if t.Records != n || !bytes.Equal(t.Hash, hash.Sum(nil)) {
				return damaged("its hash does not fit")
			}
			return nil
		}
		_, _ = hash.Write(raw)
		if err := d.record(rec); err != nil {
			return damaged("record %d of kind %d: %v", n, rec.Kind, err)
		}
	}
}

// decodeError tells a file that ends too early from one that was changed.
func decodeError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrCut
	}
	return damaged("%v", err)
}

func (d *decoder) record(rec record) error {
	p := d.result.Partial
	switch rec.Kind {
	case kindMeta:
		var w wireMeta
		err := d.mode.Unmarshal(rec.Body, &w)
		d.result.Meta = w.meta()
		return err
	case kindFilesets:
		return appendRows(d.mode, rec, &d.result.Meta.Filesets, wireFileset.fileset)
	case kindIdentities:
		return appendRows(d.mode, rec, &d.result.Meta.Identities, wireIdentity.identity)
	case kindCounters:
		var w wireCounters
		err := d.mode.Unmarshal(rec.Body, &w)
		p.Counters = w.counters()
		return err
	case kindCells:
		return appendRows(d.mode, rec, &p.Cells, wireCell.cell)
	case kindSizes:
		return appendRows(d.mode, rec, &p.Sizes, wireSize.size)
	case kindAges:
		return appendRows(d.mode, rec, &p.Ages, wireAge.age)
	case kindNodes:
		return d.nodes(rec)
	case kindLinks:
		return appendRows(d.mode, rec, &p.Links, wireLink.link)
	case kindErrors:
		return appendRows(d.mode, rec, &p.Errors, wireError.scanError)
	case kindSkipped:
		return appendRows(d.mode, rec, &p.Skipped, wireSkipped.skipped)
	case kindCategories:
		var rows []wireCategory
		err := d.mode.Unmarshal(rec.Body, &rows)
		for _, row := range rows {
			p.Categories[string(row.Type)] = string(row.Category)
		}
		return err
	default:
		return errors.New("unknown")
	}
}

func appendRows[W, T any](mode cbor.DecMode, rec record, to *[]T, row func(W) T) error {
	var rows []W
	if err := mode.Unmarshal(rec.Body, &rows); err != nil {
		return err
	}
	for _, w := range rows {
		*to = append(*to, row(w))
	}
	return nil
}

// nodes hangs directories, which come in preorder, below their parents.
func (d *decoder) nodes(rec record) error {
	var rows []wireNode
	if err := d.mode.Unmarshal(rec.Body, &rows); err != nil {
		return err
	}
	for _, row := range rows {
		if row.Depth < 0 || row.Depth > len(d.path) || (row.Depth == 0) != (len(d.path) == 0) {
			return fmt.Errorf("directory %q stands at depth %d after %d", row.Name, row.Depth, len(d.path)-1)
		}
		n := row.node()
		if row.Depth == 0 {
			d.result.Partial.Root = n
		} else {
			parent := d.path[row.Depth-1]
			parent.Children = append(parent.Children, n)
		}
		d.path = append(d.path[:row.Depth], n)
	}
	return nil
}

// check reports contents that no scan writes.
func (r *Result) check() error {
	if _, err := uuid.Parse(r.Meta.ResultID); err != nil {
		return damaged("its id %q is not a UUID", r.Meta.ResultID)
	}
	if err := r.Meta.SizeClasses.Validate(); err != nil {
		return damaged("%v", err)
	}
	if err := r.Partial.Check(); err != nil {
		return damaged("%v", err)
	}
	return nil
}
