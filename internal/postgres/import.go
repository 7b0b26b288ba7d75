package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"fstally/internal/usage"
)

// ImportRequest is a result on its way into the store.
type ImportRequest struct {
	FileSystemID int64
	// ScanID is the scan that the result answers, which Owner runs or which was
	// interrupted; 0 for a scan made elsewhere, which gets a row of its own.
	ScanID  int64
	Owner   string
	Origin  usage.Origin // of a scan that gets a row; "" is usage.ByImport
	Meta    *usage.Meta
	Summary *usage.Summary
	// DetailFrom is the lowest tier of which details are still kept at the age of
	// the scan, Nightly for a new one. A scan of a lower tier is stored as
	// retention would have left it: totals, marginals and the fine histogram.
	DetailFrom Tier
}

// Import stores a result and publishes it, unless it is suspect, in one
// transaction: after an error nothing of it is visible. It returns the scan.
//
// A result that is in the store already gives an ImportedError. ErrLeaseLost:
// another owner runs the scan. ErrEnded: the scan has a result or was ended, or
// another attempt of its occurrence was published first.
func (s *Store) Import(ctx context.Context, req ImportRequest) (usage.Scan, error) {
	scan, err := s.importResult(ctx, req)
	if violates(err, "scan_result_key") { // by an import into another file system, meanwhile
		err = imported(ctx, s.pool, req.Meta.ResultID)
	}
	if violates(err, "scan_occurrence_key") {
		err = fmt.Errorf("another attempt was published first: %w", ErrEnded)
	}
	if err != nil {
		id := ""
		if req.Meta != nil {
			id = req.Meta.ResultID
		}
		return usage.Scan{}, fmt.Errorf("import result %q into file system %d: %w", id, req.FileSystemID, err)
	}
	s.log.InfoContext(ctx, "imported a scan", "scan", scan.ID, "filesystem_id", scan.FileSystemID,
		"verdict", scan.Verdict, "entries", scan.Counters.Entries, "day", scan.Day)
	return scan, nil
}

func (s *Store) importResult(ctx context.Context, req ImportRequest) (usage.Scan, error) {
	if err := checkResult(req); err != nil {
		return usage.Scan{}, err
	}
	if err := imported(ctx, s.pool, req.Meta.ResultID); err != nil {
		return usage.Scan{}, err
	}
	im := &importer{ImportRequest: req, day: dateOf(req.Meta.Started, s.location)}
	if err := s.ensurePartitions(ctx, im.day, im.DetailFrom); err != nil {
		return usage.Scan{}, err
	}
	if err := s.write(ctx, func(tx pgx.Tx) error { return im.saveDictionaries(ctx, tx) }); err != nil {
		return usage.Scan{}, err
	}
	err := s.write(ctx, func(tx pgx.Tx) error {
		im.tx = tx
		return im.run(ctx)
	})
	if err != nil {
		return usage.Scan{}, err
	}
	return s.Scan(ctx, usage.Everything(), im.ScanID)
}

// dateOf returns the date of t in the zone, as pgx wants dates.
func dateOf(t time.Time, zone *time.Location) time.Time {
	year, month, day := t.In(zone).Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// checkResult refuses what would make wrong numbers or cannot be stored.
func checkResult(req ImportRequest) error {
	meta, summary := req.Meta, req.Summary
	if meta == nil || summary == nil {
		return errors.New("the result is empty")
	}
	if req.DetailFrom < Nightly || req.DetailFrom > Monthly {
		return fmt.Errorf("there is no retention tier %d", req.DetailFrom)
	}
	if _, err := uuid.Parse(meta.ResultID); err != nil {
		return fmt.Errorf("its id is not a UUID: %w", err)
	}
	if year := meta.Started.Year(); year < 1970 || year > 9999 {
		return fmt.Errorf("it started in the year %d: set the clock of the host that scans", year)
	}
	if err := meta.SizeClasses.Validate(); err != nil {
		return err
	}
	var sum usage.Measures
	for i := range summary.Cells {
		sum.Add(summary.Cells[i].Measures)
	}
	if sum != summary.Totals {
		return fmt.Errorf("its parts sum to %d inodes with %s bytes allocated, its totals say %d and %s: "+
			"it is damaged, scan again", sum.Inodes, sum.Allocated, summary.Totals.Inodes, summary.Totals.Allocated)
	}
	for i, d := range summary.Directories {
		if d.Parent >= i || d.Parent < 0 && i > 0 || d.Last < i || d.Last >= len(summary.Directories) {
			return fmt.Errorf("its directory %d is not in preorder: it is damaged, scan again", i)
		}
	}
	return nil
}

// imported returns an ImportedError when the result is in the store.
func imported(ctx context.Context, q querier, resultID string) error {
	scan, err := one(ctx, q, readScan, selectScan+` WHERE s.result_id = $1`, resultID)
	switch {
	case errors.Is(err, usage.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return &ImportedError{Scan: scan.Scan}
}

// importer carries one import through its steps.
type importer struct {
	ImportRequest
	tx   pgx.Tx
	day  time.Time // date in the site's zone
	tier Tier
	// thinned: its details are not kept, as they would have been dropped by now.
	thinned bool

	identity   string // of the file system as recorded, "" before the first scan
	judgement  judgement
	types      map[string]int64
	categories map[string]int64
	filesets   map[string]int64
	distinct   usage.Distinct
}

// run is the transaction of the import. The row of the scan is touched last: its
// owner renews the lease meanwhile.
func (im *importer) run(ctx context.Context) error {
	if err := im.lockFileSystem(ctx); err != nil {
		return err
	}
	if err := imported(ctx, im.tx, im.Meta.ResultID); err != nil {
		return err
	}
	if err := im.admit(ctx); err != nil {
		return err
	}
	if err := im.judge(ctx); err != nil {
		return err
	}
	if err := im.copyAll(ctx); err != nil {
		return err
	}
	return im.publish(ctx)
}

// lockFileSystem makes imports of one file system queue up. It stops no reader,
// and no scan from being queued.
func (im *importer) lockFileSystem(ctx context.Context) error {
	identity, err := one(ctx, im.tx, pgx.RowTo[[]byte],
		`SELECT identity FROM filesystem WHERE id = $1 FOR NO KEY UPDATE`, im.FileSystemID)
	if err != nil {
		return fmt.Errorf("file system %d: %w", im.FileSystemID, err)
	}
	im.identity = string(identity)
	return nil
}

// admit checks that the scan waits for this result, or makes its row.
func (im *importer) admit(ctx context.Context) error {
	if im.ScanID == 0 {
		id, err := one(ctx, im.tx, pgx.RowTo[int64], `
			INSERT INTO scan (filesystem_id, state, origin, queued_at, started_at, size_classes)
			VALUES ($1, 'complete', $2, $3, $3, $4)
			RETURNING id`, im.FileSystemID, cmp.Or(im.Origin, usage.ByImport), im.Meta.Started, im.Meta.SizeClasses[:])
		im.ScanID = id
		return err
	}
	var fileSystemID int64
	var state usage.ScanState
	var owner string
	const lookup = `SELECT filesystem_id, state, COALESCE(owner, '') FROM scan WHERE id = $1`
	err := im.tx.QueryRow(ctx, lookup, im.ScanID).Scan(&fileSystemID, &state, &owner)
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && fileSystemID != im.FileSystemID:
		return fmt.Errorf("scan %d: %w", im.ScanID, usage.ErrNotFound)
	case err != nil:
		return err
	case state == usage.Interrupted, state == usage.Running && owner == im.Owner:
		return nil
	case state == usage.Running:
		return fmt.Errorf("scan %d is run by %s: %w", im.ScanID, owner, ErrLeaseLost)
	}
	return fmt.Errorf("scan %d is %s: %w", im.ScanID, state, ErrEnded)
}

// judge compares the result with the scans before it.
func (im *importer) judge(ctx context.Context) error {
	previous, err := one(ctx, im.tx, readScan, selectScan+`
		WHERE s.filesystem_id = $1 AND `+published+` AND s.started_at < $2
		ORDER BY s.started_at DESC, s.id DESC
		LIMIT 1`, im.FileSystemID, im.Meta.Started)
	var before *outcome
	switch {
	case err == nil:
		o := previous.outcome()
		before = &o
	case !errors.Is(err, usage.ErrNotFound):
		return fmt.Errorf("read the scan before: %w", err)
	}
	suspects, err := all(ctx, im.tx, readScan, selectScan+`
		WHERE s.filesystem_id = $1 AND s.verdict = 'suspect' AND NOT s.rejected AND s.started_at < $2 AND s.started_at > $3
		ORDER BY s.started_at DESC, s.id DESC
		LIMIT 2`, im.FileSystemID, im.Meta.Started, previous.Started)
	if err != nil {
		return fmt.Errorf("read the suspect scans before: %w", err)
	}
	var earlier []outcome
	for _, s := range suspects {
		earlier = append(earlier, s.outcome())
	}
	im.judgement = judge(im.outcome(), im.identity, before, earlier)
	if im.published() {
		if im.tier, err = chooseTier(ctx, im.tx, im.FileSystemID, im.day); err != nil {
			return err
		}
	}
	if im.tier < im.DetailFrom {
		im.thinned = true
		return nil
	}
	held, err := holdPartition(ctx, im.tx, im.tier, im.day)
	im.thinned = !held
	return err
}

func (im *importer) published() bool { return im.judgement.verdict != usage.Suspect }

func (im *importer) outcome() outcome {
	return outcome{
		Entries: im.Summary.Counters.Entries, Inodes: im.Summary.Totals.Inodes, Allocated: im.Summary.Totals.Allocated,
		Squashed: im.squashedInodes(), Errors: im.Summary.Counters.Errors, Identity: im.Meta.Identity,
		Parts: im.parts(),
	}
}

// parts returns what was scanned of the root, nil where it was all.
func (im *importer) parts() []string {
	if len(im.Meta.Parts) == 0 || slices.Contains(im.Meta.Parts, "") {
		return nil
	}
	return im.Meta.Parts
}

func (s *storedScan) outcome() outcome {
	return outcome{
		Entries: s.Counters.Entries, Inodes: s.Totals.Inodes, Allocated: s.Totals.Allocated,
		Squashed: s.squashed, Errors: s.Counters.Errors, Identity: s.Identity, Suspicion: s.suspicion,
	}
}

func (im *importer) squashedInodes() int64 {
	var n int64
	ids := squashedIDs()
	for i := range im.Summary.Cells {
		if slices.Contains(ids, im.Summary.Cells[i].UID) {
			n += im.Summary.Cells[i].Inodes
		}
	}
	return n
}

// publish completes the scan's row and, if the scan is published and the newest,
// makes it the current one.
func (im *importer) publish(ctx context.Context) error {
	meta, sum, capacity := im.Meta, im.Summary, im.Meta.Capacity
	args := pgx.StrictNamedArgs{
		"id": im.ScanID, "owner": im.Owner,
		"verdict": im.judgement.verdict, "suspicion": im.judgement.suspicion, "reason": im.judgement.reason,
		"published": im.published(), "day": im.day, "tier": im.tier, "result_id": meta.ResultID,
		"started": meta.Started, "finished": zeronull.Timestamptz(meta.Finished),
		"version": printable(meta.Version), "root": []byte(meta.Root), "identity": []byte(meta.Identity),
		"fs_type": printable(meta.FSType), "host": printable(meta.Host), "engine": printable(meta.Engine),
		"walkers": meta.Walkers, "ops_limit": meta.OpsLimit, "freshness": printable(meta.Freshness),
		"offline_known": meta.Offline, "size_classes": meta.SizeClasses[:],

		"files": sum.Totals.Files, "inodes": sum.Totals.Inodes, "size": numeric(sum.Totals.Size),
		"allocated": numeric(sum.Totals.Allocated), "slack": numeric(sum.Totals.Slack),
		"offline": numeric(sum.Totals.Offline),

		"entries": sum.Counters.Entries, "links": sum.Counters.Links, "directories": sum.Counters.Directories,
		"symlinks": sum.Counters.Symlinks, "specials": sum.Counters.Specials, "vanished": sum.Counters.Vanished,
		"errors": sum.Counters.Errors, "skipped": sum.Counters.Skipped, "squashed": im.squashedInodes(),

		"users": im.distinct.Users, "groups": im.distinct.Groups, "types": im.distinct.Types,
		"filesets": im.distinct.Filesets, "types_limited": im.typesLimited(), "thinned": im.thinned,

		"capacity_size": numeric(capacity.Size), "capacity_free": numeric(capacity.Free),
		"capacity_available": numeric(capacity.Available), "inodes_total": capacity.InodesTotal,
		"inodes_free": capacity.InodesFree, "block_size": capacity.BlockSize, "capacity_source": printable(capacity.Source),
	}
	const complete = `
		UPDATE scan SET
			state = 'complete', verdict = @verdict, suspicion = @suspicion, reason = @reason, owner = NULL, progress = NULL,
			published_at = CASE WHEN @published THEN clock_timestamp() END, day = @day, tier = @tier, result_id = @result_id,
			started_at = @started, finished_at = @finished,
			version = @version, root = @root, identity = @identity, fs_type = @fs_type, host = @host, engine = @engine,
			walkers = @walkers, ops_limit = @ops_limit, freshness = @freshness,
			offline_known = @offline_known, size_classes = @size_classes,
			files = @files, inodes = @inodes, size = @size, allocated = @allocated, slack = @slack, offline = @offline,
			entries = @entries, links = @links, directories = @directories, symlinks = @symlinks, specials = @specials,
			vanished = @vanished, errors = @errors, skipped = @skipped, squashed_inodes = @squashed,
			distinct_users = @users, distinct_groups = @groups, distinct_types = @types, distinct_filesets = @filesets,
			types_limited = @types_limited, thinned = @thinned,
			capacity_size = @capacity_size, capacity_free = @capacity_free, capacity_available = @capacity_available,
			inodes_total = @inodes_total, inodes_free = @inodes_free, block_size = @block_size,
			capacity_source = @capacity_source
		WHERE id = @id AND (
			state = 'interrupted'
			OR state = 'running' AND owner = @owner
			OR state = 'complete' AND result_id IS NULL) -- made by admit`
	tag, err := im.tx.Exec(ctx, complete, args)
	if err != nil {
		return fmt.Errorf("complete scan %d: %w", im.ScanID, err)
	}
	if tag.RowsAffected() == 0 { // it ended or changed hands during the copy
		return fmt.Errorf("complete scan %d: %w", im.ScanID, ErrLeaseLost)
	}
	if !im.published() {
		return nil
	}
	err = makeCurrent(ctx, im.tx, usage.Scan{
		ID: im.ScanID, FileSystemID: im.FileSystemID, Started: meta.Started,
		FSType: printable(meta.FSType), Identity: meta.Identity,
	})
	if err != nil {
		return fmt.Errorf("publish scan %d: %w", im.ScanID, err)
	}
	return im.stopOtherAttempts(ctx)
}

// stopOtherAttempts ends what else was to become of this occurrence: the result of an
// interrupted attempt came after all.
func (im *importer) stopOtherAttempts(ctx context.Context) error {
	const stop = `
		UPDATE scan AS o SET cancel_requested = true,
			state = CASE o.state WHEN 'queued' THEN 'cancelled' ELSE o.state END,
			finished_at = CASE o.state WHEN 'queued' THEN clock_timestamp() ELSE o.finished_at END,
			reason = format('the result of the attempt before came after all, as scan %s', s.id)
		FROM scan AS s
		WHERE s.id = $1 AND o.filesystem_id = s.filesystem_id AND o.occurrence = s.occurrence AND o.id <> s.id
			AND o.state IN ('queued', 'running')`
	if _, err := im.tx.Exec(ctx, stop, im.ScanID); err != nil {
		return fmt.Errorf("stop other attempts: %w", err)
	}
	return nil
}

// typesLimited reports whether file types were folded into usage.Rest.
func (im *importer) typesLimited() bool {
	_, limited := im.types[usage.Rest]
	return limited
}
