package result

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/zstd"

	"fstally/internal/aggregate"
	"fstally/internal/usage"
)

// Write writes the result to w.
func Write(w io.Writer, r *Result) error {
	if _, err := fmt.Fprintf(w, "%s%d\n", magic, version); err != nil {
		return err
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return fmt.Errorf("start compression: %w", err)
	}
	e := &encoder{w: bufio.NewWriterSize(z, 1<<16), hash: sha256.New()}
	p := r.Partial
	e.put(kindMeta, toMeta(r.Meta))
	e.put(kindCounters, toCounters(p.Counters))
	putRows(e, kindCells, p.Cells, toCell)
	putRows(e, kindSizes, p.Sizes, toSize)
	putRows(e, kindAges, p.Ages, toAge)
	putRows(e, kindNodes, preorder(nil, p.Root, 0), func(n wireNode) wireNode { return n })
	putRows(e, kindLinks, p.Links, toLink)
	putRows(e, kindErrors, p.Errors, toError)
	putRows(e, kindSkipped, p.Skipped, toSkipped)
	putRows(e, kindCategories, slices.Sorted(maps.Keys(p.Categories)), func(typ string) wireCategory {
		return wireCategory{Type: []byte(typ), Category: []byte(p.Categories[typ])}
	})
	putRows(e, kindFilesets, r.Meta.Filesets, toFileset)
	putRows(e, kindIdentities, r.Meta.Identities, toIdentity)
	e.put(kindTrailer, wireTrailer{Records: e.records, Hash: e.hash.Sum(nil)})
	if e.err == nil {
		e.err = e.w.Flush()
	}
	if err := z.Close(); e.err == nil {
		e.err = err
	}
	return e.err
}

// WriteFile writes the result to path so that the file is there whole or not at
// all, whatever happens in between. Only its owner may read it: it holds names.
func WriteFile(path string, r *Result) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
			err = fmt.Errorf("write the result %s: %w", path, err)
		}
	}()
	if err := Write(f, r); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// encoder writes records; after the first error it does nothing.
type encoder struct {
	w       *bufio.Writer
	hash    hash.Hash
	records int64
	err     error
}

func (e *encoder) put(k kind, body any) {
	if e.err != nil {
		return
	}
	raw, err := cbor.Marshal(body)
	if err == nil {
		raw, err = cbor.Marshal(record{Kind: k, Body: raw})
	}
	if err == nil {
		_, err = e.w.Write(raw)
	}
	if err != nil {
		e.err = err
		return
	}
	_, _ = e.hash.Write(raw) // a hash never fails
	e.records++
}

// putRows writes rows in records of rowsPerRecord.
func putRows[T, W any](e *encoder, k kind, rows []T, wire func(T) W) {
	for chunk := range slices.Chunk(rows, rowsPerRecord) {
		out := make([]W, len(chunk))
		for i, row := range chunk {
			out[i] = wire(row)
		}
		e.put(k, out)
	}
}

func preorder(rows []wireNode, n *aggregate.Node, depth int) []wireNode {
	row := wireNode{
		Depth: depth, Name: []byte(n.Name), Fileset: []byte(n.Fileset), UID: n.UID, GID: n.GID,
		Newest: n.Newest, HasFile: n.HasFile, Measures: toMeasures(n.Measures),
	}
	for _, uid := range slices.Sorted(maps.Keys(n.Owners)) {
		o := n.Owners[uid]
		row.Owners = append(row.Owners, wireOwner{
			UID: uid, Inodes: o.Inodes, Size: number(o.Size), Allocated: number(o.Allocated),
		})
	}
	rows = append(rows, row)
	for _, child := range n.Children {
		rows = preorder(rows, child, depth+1)
	}
	return rows
}

func (w wireNode) node() *aggregate.Node {
	n := &aggregate.Node{
		Name: string(w.Name), Fileset: string(w.Fileset), UID: w.UID, GID: w.GID,
		Newest: w.Newest, HasFile: w.HasFile, Measures: w.Measures.measures(),
		Owners: make(map[uint32]aggregate.Owned, len(w.Owners)),
	}
	for _, o := range w.Owners {
		n.Owners[o.UID] = aggregate.Owned{Inodes: o.Inodes, Size: usage.Bytes(o.Size), Allocated: usage.Bytes(o.Allocated)}
	}
	return n
}
