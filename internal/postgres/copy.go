package postgres

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"fstally/internal/usage"
)

// copyAll copies the numbers of the result into all tables but the scan's, those
// of the details only if they are kept.
func (im *importer) copyAll(ctx context.Context) error {
	if err := im.saveFilesets(ctx); err != nil {
		return err
	}
	steps := []func(context.Context) error{im.copyMarginals, im.copySizeTotals, im.copyProblems}
	if !im.thinned {
		steps = append(steps, im.copyCube, im.copySizes, im.copyAges, im.copyDirectories)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// copy copies n rows, of which row makes the one of index i.
func (im *importer) copy(
	ctx context.Context, table string, columns []string, n int, row func(i int, r *copyRow),
) error {
	if n == 0 {
		return nil
	}
	sql := fmt.Sprintf(`COPY %s (%s) FROM STDIN BINARY`, pgx.Identifier{table}.Sanitize(), strings.Join(columns, ", "))
	if _, err := im.tx.Conn().PgConn().CopyFrom(ctx, newCopyReader(len(columns), n, row), sql); err != nil {
		return fmt.Errorf("copy into %s: %w", table, err)
	}
	return nil
}

// detail starts a row of a partitioned table.
func (im *importer) detail(r *copyRow) {
	r.int2(int16(im.tier))
	r.date(im.day)
	r.int8(im.ScanID)
}

// key returns how a value is stored.
func (im *importer) key(d usage.Dimension, v usage.Value) int64 {
	switch d {
	case usage.Type:
		return im.types[v.Text]
	case usage.Category:
		return im.categories[categoryName(v.Text)]
	case usage.Fileset:
		return im.filesets[v.Text]
	default:
		return int64(v.ID)
	}
}

func (im *importer) copyCube(ctx context.Context) error {
	columns := measureNames(
		"tier", "day", "scan_id", "uid", "gid", "file_type_id", "fileset_id", "pool", "size_class", "age_class")
	cells := im.Summary.Cells
	return im.copy(ctx, "usage", columns, len(cells), func(i int, r *copyRow) {
		c := &cells[i]
		im.detail(r)
		r.int8(int64(c.UID), int64(c.GID), im.types[c.Type], im.filesets[c.Fileset], int64(c.Pool))
		r.int2(int16(c.SizeClass), int16(c.AgeClass))
		r.measures(&c.Measures)
	})
}

// keyPair is the key of a marginal; second is 0 but for byUserFileset.
type keyPair struct{ first, second int64 }

// marginalSums are the sums of one dimension. The cube comes sorted, so that the
// key often is that of the cell before, and need not be looked up.
type marginalSums struct {
	of   map[keyPair]*usage.Measures
	last keyPair
	at   *usage.Measures
}

func (s *marginalSums) add(k keyPair, m *usage.Measures) {
	if s.at == nil || k != s.last {
		s.last, s.at = k, s.of[k]
		if s.at == nil {
			s.at = new(usage.Measures)
			s.of[k] = s.at
		}
	}
	s.at.Add(*m)
}

// marginals sums the cube by every dimension, in one pass.
func (im *importer) marginals() (sums [byUserFileset + 1]marginalSums) {
	for d := range sums {
		sums[d].of = make(map[keyPair]*usage.Measures)
	}
	var typ, category, fileset int64
	for i := range im.Summary.Cells {
		c := &im.Summary.Cells[i]
		if i == 0 || c.Type != im.Summary.Cells[i-1].Type {
			typ, category = im.types[c.Type], im.categories[categoryName(im.Summary.Categories[c.Type])]
		}
		if i == 0 || c.Fileset != im.Summary.Cells[i-1].Fileset {
			fileset = im.filesets[c.Fileset]
		}
		for d, k := range [...]keyPair{
			byUser:        {first: int64(c.UID)},
			byGroup:       {first: int64(c.GID)},
			byType:        {first: typ},
			byCategory:    {first: category},
			byFileset:     {first: fileset},
			byPool:        {first: int64(c.Pool)},
			bySizeClass:   {first: int64(c.SizeClass)},
			byAgeClass:    {first: int64(c.AgeClass)},
			byUserFileset: {int64(c.UID), fileset},
		} {
			if d > 0 { // the dimensions begin at 1
				sums[d].add(k, &c.Measures)
			}
		}
	}
	return sums
}

func (im *importer) copyMarginals(ctx context.Context) error {
	sums := im.marginals()
	im.distinct = usage.Distinct{
		Users: int64(len(sums[byUser].of)), Groups: int64(len(sums[byGroup].of)),
		Types: int64(len(sums[byType].of)), Filesets: int64(len(sums[byFileset].of)),
	}
	type row struct {
		dimension dimension
		key       keyPair
		*usage.Measures
	}
	var rows []row
	for d, s := range sums {
		for k, m := range s.of {
			rows = append(rows, row{dimension(d), k, m})
		}
	}
	slices.SortFunc(rows, func(a, b row) int { // as the primary key
		return cmp.Or(cmp.Compare(a.dimension, b.dimension),
			cmp.Compare(a.key.first, b.key.first), cmp.Compare(a.key.second, b.key.second))
	})
	columns := measureNames("filesystem_id", "scan_id", "dimension", "key", "key2")
	return im.copy(ctx, "marginal", columns, len(rows), func(i int, r *copyRow) {
		m := &rows[i]
		r.int8(im.FileSystemID, im.ScanID)
		r.int2(int16(m.dimension))
		r.int8(m.key.first, m.key.second)
		r.measures(m.Measures)
	})
}

func (im *importer) copySizes(ctx context.Context) error {
	columns := []string{"tier", "day", "scan_id", "dimension", "key", "by", "bucket", "files", "size", "allocated"}
	cells := im.Summary.Sizes
	return im.copy(ctx, "size_histogram", columns, len(cells), func(i int, r *copyRow) {
		c := &cells[i]
		im.detail(r)
		r.int2(int16(dimensionOf(c.Dimension)))
		r.int8(im.key(c.Dimension, c.Value))
		r.int2(histogramBy(c.By), int16(c.Bucket))
		r.int8(c.Files)
		r.bytes(c.Size, c.Allocated)
	})
}

// copySizeTotals copies the fine histogram of the whole scan. The file types
// partition the files, so their bars sum to it.
func (im *importer) copySizeTotals(ctx context.Context) error {
	cells := im.Summary.Sizes
	type bar struct {
		by     int16
		bucket usage.SizeBucket
	}
	totals := make(map[bar]usage.BucketRow)
	for i := range cells {
		c := &cells[i]
		if c.Dimension != usage.Type {
			continue
		}
		k := bar{histogramBy(c.By), c.Bucket}
		t := totals[k]
		t.Files += c.Files
		t.Size, t.Allocated = t.Size.Add(c.Size), t.Allocated.Add(c.Allocated)
		totals[k] = t
	}
	keys := slices.SortedFunc(maps.Keys(totals), func(a, b bar) int {
		return cmp.Or(cmp.Compare(a.by, b.by), cmp.Compare(a.bucket, b.bucket))
	})
	columns := []string{"scan_id", "by", "bucket", "files", "size", "allocated"}
	return im.copy(ctx, "size_total", columns, len(keys), func(i int, r *copyRow) {
		t := totals[keys[i]]
		r.int8(im.ScanID)
		r.int2(keys[i].by, int16(keys[i].bucket))
		r.int8(t.Files)
		r.bytes(t.Size, t.Allocated)
	})
}

func (im *importer) copyAges(ctx context.Context) error {
	columns := measureNames("tier", "day", "scan_id", "dimension", "key", "clock", "class")
	cells := im.Summary.Ages
	return im.copy(ctx, "age_histogram", columns, len(cells), func(i int, r *copyRow) {
		c := &cells[i]
		im.detail(r)
		r.int2(int16(dimensionOf(c.Dimension)))
		r.int8(im.key(c.Dimension, c.Value))
		r.int2(clockNumber(c.Clock), int16(c.Class))
		r.measures(&c.Measures)
	})
}

func (im *importer) copyDirectories(ctx context.Context) error {
	paths, err := im.savePaths(ctx)
	if err != nil {
		return err
	}
	columns := measureNames(
		"tier", "day", "scan_id", "preorder", "last", "parent", "path_id", "uid", "gid", "fileset_id", "newest")
	dirs := im.Summary.Directories
	return im.copy(ctx, "directory", columns, len(dirs), func(i int, r *copyRow) {
		d := &dirs[i]
		im.detail(r)
		r.int4(int32(i), int32(d.Last), int32(d.Parent))
		r.int8(paths[i], int64(d.UID), int64(d.GID), im.filesets[d.Fileset], d.Newest)
		r.measures(&d.Measures)
	})
}

func (im *importer) copyProblems(ctx context.Context) error {
	failures, skipped := im.Summary.Errors, im.Summary.Skipped
	const insertErrors = `INSERT INTO scan_error (scan_id, op, errno, message, count, paths) VALUES ($1, $2, $3, $4, $5, $6)`
	const insertSkipped = `INSERT INTO scan_skipped (scan_id, reason, count, paths) VALUES ($1, $2, $3, $4)`
	var batch pgx.Batch // a few kinds of each
	for _, e := range failures {
		batch.Queue(insertErrors,
			im.ScanID, printable(e.Op), printable(e.Errno), printable(e.Message), e.Count, blobs(e.Paths))
	}
	for _, k := range skipped {
		batch.Queue(insertSkipped, im.ScanID, printable(string(k.Reason)), k.Count, blobs(k.Paths))
	}
	if batch.Len() == 0 {
		return nil
	}
	if err := im.tx.SendBatch(ctx, &batch).Close(); err != nil {
		return fmt.Errorf("store what could not be read: %w", err)
	}
	return nil
}
