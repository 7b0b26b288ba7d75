package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"fstally/internal/postgres"
	"fstally/internal/usage"
	"fstally/test/postgrestest"
)

// watcher calls before and after with each statement of a store.
type watcher struct {
	before func(sql string)
	after  func(c *pgx.Conn, sql string)
}

type statement struct{}

func (w watcher) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if w.before != nil {
		w.before(data.SQL)
	}
	return context.WithValue(ctx, statement{}, data.SQL)
}

func (w watcher) TraceQueryEnd(ctx context.Context, c *pgx.Conn, _ pgx.TraceQueryEndData) {
	if w.after != nil {
		sql, _ := ctx.Value(statement{}).(string)
		w.after(c, sql)
	}
}

// watched opens another store on the same database, of which every statement is told.
func (f *fixture) watched(w watcher) *postgres.Store {
	f.t.Helper()
	store, err := postgres.Open(f.t.Context(), f.url, postgres.Options{Tracer: w})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(store.Close)
	return store
}

// aged is a store with a week of nights that is past its days, and what is kept.
type aged struct {
	*fixture
	scans []usage.Scan
	old   []int64 // of the week
	today time.Time
	want  map[int64]usage.Table // of details, before
}

func newAged(t *testing.T) *aged {
	t.Helper()
	a := &aged{fixture: newFixture(t), today: day("2026-03-01"), want: make(map[int64]usage.Table)}
	for _, date := range []string{"2026-01-01", "2026-01-05", "2026-01-06", "2026-01-07", "2026-02-27"} {
		a.scans = append(a.scans, a.add(at(date), small()))
	}
	a.old = []int64{a.scans[2].ID, a.scans[3].ID}
	a.retain(20, 0, 0)
	a.thinOut("2026-01-25") // the empty partition of the week before
	a.look()
	return a
}

// look remembers what pages say.
func (a *aged) look() {
	a.t.Helper()
	for _, s := range a.scans {
		table, err := a.page(a.t.Context(), s.ID)
		if err != nil {
			a.t.Fatal(err)
		}
		a.want[s.ID] = table
	}
}

// renew fills the week again after it has gone.
func (a *aged) renew() {
	a.t.Helper()
	for i := range a.old {
		s := a.add(at("2026-01-06").AddDate(0, 0, i), small())
		a.scans[2+i], a.old[i] = s, s.ID
	}
	a.look()
}

// finish runs ThinOut until no other run is at it: the server may not have noticed
// yet that it has ended.
func (a *aged) finish(when string) {
	a.t.Helper()
	for {
		thinned, err := a.ThinOut(a.t.Context(), a.today)
		if err != nil || thinned.Postponed != 0 {
			a.t.Errorf("%s: again: %+v, %v", when, thinned, err)
		}
		if thinned.Why == "" {
			return
		}
	}
}

// page asks for details as a page does.
func (a *aged) page(ctx context.Context, scan int64) (usage.Table, error) {
	user := uint32(2)
	return a.Usage(ctx, everything, usage.Query{
		ScanID: scan, GroupBy: usage.Type, By: usage.Size, Limit: 10, Filter: usage.Filter{User: &user}})
}

// check fails unless a reader has all details of each scan or is told that they are
// not kept.
func (a *aged) check(when string) (thinned int) {
	a.t.Helper()
	for _, s := range a.scans {
		table, err := a.page(a.t.Context(), s.ID)
		if errors.Is(err, usage.ErrThinned) {
			thinned++
			continue
		}
		if diff := cmp.Diff(a.want[s.ID], table); err != nil || diff != "" {
			a.t.Errorf("%s: scan of %s: %v %s", when, s.Day, err, diff)
		}
	}
	return thinned
}

// expectDone fails unless the old week is gone and nothing else.
func (a *aged) expectDone(when string) {
	a.t.Helper()
	if thinned := a.check(when); thinned != len(a.old) {
		a.t.Errorf("%s: %d scans are thinned, want %d", when, thinned, len(a.old))
	}
	a.withDetails(a.scans)
	if n := a.leftOvers(); n != 0 {
		a.t.Errorf("%s: %d tables are left", when, n)
	}
}

// leftOvers counts what is left of the old week.
func (a *aged) leftOvers() int64 {
	a.t.Helper()
	return a.count(`SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname LIKE '%nightly_2026w02'`)
}

// TestThinOutBreaksOffAnywhere breaks a run off before each of its statements, and
// by the death of its connection after it, then runs it again.
func TestThinOutBreaksOffAnywhere(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"cancelled before", "killed after"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			a := newAged(t)
			statements := 1
			for n := 1; n <= statements; n++ {
				last := a.breakOff(t, how, n)
				when := fmt.Sprintf("%s statement %d, %.40q", how, n, last)
				a.check(when)
				a.finish(when)
				a.expectDone(when)
				if last != "" {
					statements = n + 1
					a.renew()
				}
			}
			if statements < 15 {
				t.Errorf("a run has %d statements only", statements)
			}
		})
	}
}

// breakOff runs ThinOut and ends it at its nth statement, which it returns; "" if
// there is none.
func (a *aged) breakOff(t *testing.T, how string, n int) (last string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	count, armed := 0, false
	watch := watcher{
		before: func(sql string) {
			count++
			if armed && count == n && how == "cancelled before" {
				last = sql
				cancel()
			}
		},
		after: func(c *pgx.Conn, sql string) {
			if armed && count == n && how == "killed after" {
				last = sql
				a.sql(`SELECT pg_terminate_backend($1, 10000)`, c.PgConn().PID())
			}
		},
	}
	store := a.watched(watch)
	count, armed = 0, true
	_, err := store.ThinOut(ctx, a.today)
	if last == "" && err != nil {
		t.Errorf("without a break: %v", err)
	}
	return last
}

// TestPendingDetachIsFinished: a reader in the way of DETACH leaves it pending, and
// no other reader waits behind it.
func TestPendingDetachIsFinished(t *testing.T) {
	t.Parallel()
	for _, blocking := range []bool{false, true} {
		t.Run(fmt.Sprintf("blocking %t", blocking), func(t *testing.T) {
			t.Parallel()
			a := newAged(t)
			conn, err := pgx.Connect(t.Context(), a.url)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // it only read
			var begun, checked atomic.Bool
			store := a.watched(watcher{before: func(sql string) {
				if strings.Contains(sql, "DETACH PARTITION") && begun.CompareAndSwap(false, true) {
					// Younger than the mark, so not waited for before.
					if _, err := conn.Exec(t.Context(), `BEGIN; SELECT count(*) FROM usage`); err != nil {
						t.Error(err)
					}
				}
			}, after: func(_ *pgx.Conn, sql string) {
				if strings.Contains(sql, "DETACH PARTITION") && checked.CompareAndSwap(false, true) {
					a.check("behind the reader")
				}
			}})
			thinned, err := store.ThinOutWithin(t.Context(), a.today, time.Nanosecond, 50*time.Millisecond, 2, blocking)
			if err != nil || thinned.Postponed != 1 || thinned.Why == "" || !checked.Load() {
				t.Errorf("with a reader in the way: %+v, %v", thinned, err)
			}
			if n := a.check("after it gave up"); n != len(a.old) {
				t.Errorf("%d are thinned", n)
			}
			want := int64(1)
			if blocking {
				want = 0
			}
			if n := a.count(`SELECT count(*) FROM pg_inherits WHERE inhdetachpending`); n != want {
				t.Errorf("%d partitions are pending", n)
			}
			a.expectBackupWithout(t)
			// An import meanwhile is stored as if it had been there before.
			late := a.add(at("2026-01-08"), small())
			if late.Thinned == blocking {
				t.Errorf("an import into the partition: thinned %t", late.Thinned)
			}
			if _, err := conn.Exec(t.Context(), `ROLLBACK`); err != nil {
				t.Fatal(err)
			}
			if thinned, err := a.ThinOut(t.Context(), a.today); err != nil || thinned.Postponed != 0 {
				t.Errorf("again: %+v, %v", thinned, err)
			}
			a.expectDone("in the end")
			a.withDetails([]usage.Scan{late})
		})
	}
}

// expectBackupWithout restores a backup and fails unless its scans are whole and no
// partition is half gone.
func (a *aged) expectBackupWithout(t *testing.T) {
	t.Helper()
	var file bytes.Buffer
	if _, err := postgres.Backup(t.Context(), a.url, "test", &file, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	b, err := postgres.OpenBackup(&file)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	url := postgrestest.NewEmpty(t, "ENCODING 'UTF8' TEMPLATE template0")
	report, err := postgres.Restore(t.Context(), url, b, nil, func(int64) {})
	if err != nil || len(report.LeftOut) != 0 {
		t.Fatalf("restore: %+v, %v", report, err)
	}
	store, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	restored := aged{fixture: &fixture{Store: store, t: t, url: url, fs: a.fs}, scans: a.scans, old: a.old, today: a.today, want: a.want}
	if thinned := restored.check("restored"); thinned != len(a.old) {
		t.Errorf("%d are thinned after a restore", thinned)
	}
	if thinned, err := store.ThinOut(t.Context(), a.today); err != nil || thinned.Postponed != 0 {
		t.Errorf("after a restore: %+v, %v", thinned, err)
	}
	restored.expectDone("after a restore")
}

// TestDetachedTablesAreInNoBackup stops before the first DROP.
func TestDetachedTablesAreInNoBackup(t *testing.T) {
	a := newAged(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	store := a.watched(watcher{before: func(sql string) {
		if strings.HasPrefix(sql, "DROP TABLE") {
			cancel()
		}
	}})
	if _, err := store.ThinOut(ctx, a.today); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if n := a.leftOvers(); n != 4 {
		t.Errorf("%d tables are left, want 4, one of them detached", n)
	}
	a.expectBackupWithout(t)
	// Imports neither break on the table in their way nor bring zeros.
	late := a.add(at("2026-01-09"), small())
	if !late.Thinned {
		t.Error("details are stored beside a table that is on its way out")
	}
	// What was begun is finished, though the days are no longer past.
	a.retain(0, 0, 0)
	a.finish("for ever")
	a.expectDone("in the end")
}

// TestWhatOthersDetachedIsLeft: somebody may keep old details elsewhere.
func TestWhatOthersDetachedIsLeft(t *testing.T) {
	a := newAged(t)
	a.sql(`ALTER TABLE usage DETACH PARTITION usage_nightly_2026w02`)
	a.retain(0, 0, 0)
	if thinned, err := a.ThinOut(t.Context(), a.today); err != nil || thinned.Partitions != 0 {
		t.Errorf("%+v, %v", thinned, err)
	}
	if n := a.leftOvers(); n != 4 {
		t.Errorf("%d tables are left, want 4", n)
	}
}

// TestBackupsAreNotDisturbed runs ThinOut in the middle of a backup.
func TestBackupsAreNotDisturbed(t *testing.T) {
	a := newAged(t)
	var once sync.Once
	progress := func(int64) {
		once.Do(func() {
			thinned, err := a.ThinOut(t.Context(), a.today)
			if err != nil || thinned.Postponed != 1 || thinned.Partitions != 0 {
				t.Errorf("during a backup: %+v, %v", thinned, err)
			}
		})
	}
	var file bytes.Buffer
	if _, err := postgres.Backup(t.Context(), a.url, "test", &file, progress); err != nil {
		t.Fatal(err)
	}
	if thinned := a.check("after the backup"); thinned != 0 {
		t.Errorf("%d are thinned", thinned)
	}
	if thinned, err := a.ThinOut(t.Context(), a.today); err != nil || thinned.Partitions != 1 {
		t.Errorf("after the backup: %+v, %v", thinned, err)
	}
	a.expectDone("after the backup")
}

// TestOlderReadersAreWaitedFor: one that began before the scans were marked still
// has all details, and nobody waits meanwhile.
func TestOlderReadersAreWaitedFor(t *testing.T) {
	a := newAged(t)
	conn, err := pgx.Connect(t.Context(), a.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // it only read
	const begin = `BEGIN READ ONLY ISOLATION LEVEL REPEATABLE READ; SELECT FROM scan`
	if _, err := conn.Exec(t.Context(), begin); err != nil {
		t.Fatal(err)
	}
	thinned, err := a.ThinOutWithin(t.Context(), a.today, time.Nanosecond, 50*time.Millisecond, 2, false)
	if err != nil || thinned.Postponed != 1 || thinned.Bytes != 0 {
		t.Errorf("with an older reader: %+v, %v", thinned, err)
	}
	if n := a.count(`SELECT count(*) FROM pg_locks WHERE NOT granted`); n != 0 {
		t.Errorf("%d wait for a lock", n)
	}
	a.check("with an older reader")
	var rows int
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM usage WHERE scan_id = $1`, a.old[0]).Scan(&rows); err != nil || rows != 3 {
		t.Errorf("the older reader sees %d rows, %v", rows, err)
	}
	if _, err := conn.Exec(t.Context(), `COMMIT`); err != nil {
		t.Fatal(err)
	}
	if _, err := a.ThinOut(t.Context(), a.today); err != nil {
		t.Error(err)
	}
	a.expectDone("in the end")
}

// TestReadersSeeAllOrAreTold reads in a loop while partitions go, with a bound on
// locks that only a queue behind the drop would reach.
func TestReadersSeeAllOrAreTold(t *testing.T) {
	a := newAged(t)
	for d := range 40 { // ten weeks
		a.scans = append(a.scans, a.add(at("2025-06-02").AddDate(0, 0, 2*d), small()))
	}
	a.look()
	bounded, err := postgres.Open(t.Context(), a.url+"&lock_timeout=1000", postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer bounded.Close()
	readers := &aged{fixture: &fixture{Store: bounded, t: t, url: a.url}, scans: a.scans, want: a.want}
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			for ctx.Err() == nil {
				readers.check("meanwhile")
			}
		})
	}
	thinned, err := a.ThinOut(t.Context(), a.today)
	stop()
	group.Wait()
	if err != nil || thinned.Partitions < 10 || thinned.Postponed != 0 {
		t.Errorf("%+v, %v", thinned, err)
	}
	a.withDetails(a.scans)
}

// TestOneRunsAtATime starts a second run inside of the first.
func TestOneRunsAtATime(t *testing.T) {
	a := newAged(t)
	var once sync.Once
	store := a.watched(watcher{before: func(sql string) {
		if strings.Contains(sql, "SET thinned") {
			once.Do(func() {
				second, err := a.ThinOut(t.Context(), a.today)
				if err != nil || second.Partitions+second.Postponed != 0 || second.Why == "" {
					t.Errorf("the second: %+v, %v", second, err)
				}
			})
		}
	}})
	if thinned, err := store.ThinOut(t.Context(), a.today); err != nil || thinned.Partitions != 1 || thinned.Scans != 2 {
		t.Errorf("the first: %+v, %v", thinned, err)
	}
	a.expectDone("in the end")
}

// TestImportsWhileTheirPartitionGoes imports into the week before each statement of a
// run: nothing fails, no rows are lost, and the next run takes what came in between.
func TestImportsWhileTheirPartitionGoes(t *testing.T) {
	a := newAged(t)
	var armed bool
	var imported []usage.Scan
	store := a.watched(watcher{before: func(sql string) {
		if !armed {
			return
		}
		armed = false // not by its own statements, were they told
		scan, err := a.Import(t.Context(), a.request(at("2026-01-06").Add(time.Duration(len(imported))*time.Minute), small()))
		if err != nil {
			t.Errorf("before %.60q: %v", sql, err)
		}
		imported = append(imported, scan)
		a.check(fmt.Sprintf("before %.60q", sql))
		armed = true
	}})
	armed = true
	if thinned, err := store.ThinOut(t.Context(), a.today); err != nil || thinned.Postponed != 0 {
		t.Errorf("%+v, %v", thinned, err)
	}
	armed = false
	a.withDetails(imported)
	if len(imported) < 15 {
		t.Errorf("%d imports only", len(imported))
	}
	if thinned, err := a.ThinOut(t.Context(), a.today); err != nil || thinned.Postponed != 0 {
		t.Errorf("the next run: %+v, %v", thinned, err)
	}
	if left := a.withDetails(imported); len(left) != 0 {
		t.Errorf("after the next run, these of %d have details: %d", len(imported), left)
	}
	for _, s := range imported {
		if table := a.usage(usage.Query{ScanID: s.ID, GroupBy: usage.User, By: usage.Size, Limit: 10}); len(table.Rows) != 2 {
			t.Errorf("scan of %s has %d users", s.Day, len(table.Rows))
		}
	}
	a.expectDone("in the end")
}

// TestImportHoldsItsPartition runs ThinOut between the rows of an import and its end.
func TestImportHoldsItsPartition(t *testing.T) {
	a := newAged(t)
	var once sync.Once
	store := a.watched(watcher{before: func(sql string) {
		if strings.Contains(sql, "state = 'complete', verdict = @verdict") || strings.Contains(sql, "SET\n\t\t\tstate = 'complete'") {
			once.Do(func() {
				thinned, err := a.ThinOut(t.Context(), a.today)
				if err != nil || thinned.Postponed != 1 || thinned.Partitions != 0 {
					t.Errorf("during an import: %+v, %v", thinned, err)
				}
			})
		}
	}})
	scan, err := store.Import(t.Context(), a.request(at("2026-01-08"), small()))
	once.Do(func() { t.Error("the import was not met") })
	if err != nil || scan.Thinned {
		t.Errorf("the import: thinned %t, %v", scan.Thinned, err)
	}
	a.withDetails([]usage.Scan{scan})
	if thinned, err := a.ThinOut(t.Context(), a.today); err != nil || thinned.Scans != 3 {
		t.Errorf("after it: %+v, %v", thinned, err)
	}
	a.expectDone("in the end")
}

// TestBlockingDetach is the way before Postgres 14.
func TestBlockingDetach(t *testing.T) {
	a := newAged(t)
	thinned, err := a.ThinOutWithin(t.Context(), a.today, time.Minute, 100*time.Millisecond, 100, true)
	if err != nil || thinned.Partitions != 1 || thinned.Bytes == 0 {
		t.Errorf("%+v, %v", thinned, err)
	}
	a.expectDone("in the end")
}
