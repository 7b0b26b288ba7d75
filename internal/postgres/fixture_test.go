package postgres_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"fstally/internal/postgres"
	"fstally/internal/usage"
	"fstally/test/postgrestest"
)

// fixture is a store on a database of its own, with one file system.
type fixture struct {
	*postgres.Store
	t   testing.TB
	url string
	fs  usage.FileSystem
}

var everything = usage.Everything()

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	return newFixtureIn(tb, time.UTC)
}

func newFixtureIn(tb testing.TB, zone *time.Location) *fixture {
	tb.Helper()
	f := &fixture{t: tb, url: postgrestest.New(tb)}
	store, err := postgres.Open(tb.Context(), f.url, postgres.Options{
		Location: zone, RetryAfter: time.Microsecond, // the next attempt may begin at once
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(store.Close)
	f.Store = store
	f.fs = f.addFileSystem("home")
	return f
}

func (f *fixture) addFileSystem(name string) usage.FileSystem {
	f.t.Helper()
	added, err := f.AddFileSystem(f.t.Context(), usage.FileSystem{Name: name, Root: "/srv/" + name})
	if err != nil {
		f.t.Fatal(err)
	}
	return added
}

// sql runs a statement beside the store.
func (f *fixture) sql(sql string, args ...any) {
	f.t.Helper()
	if err := f.withConn(func(c *pgx.Conn) error {
		_, err := c.Exec(f.t.Context(), sql, args...)
		return err
	}); err != nil {
		f.t.Fatal(err)
	}
}

// count returns the number that a query answers.
func (f *fixture) count(sql string, args ...any) (n int64) {
	f.t.Helper()
	if err := f.withConn(func(c *pgx.Conn) error {
		return c.QueryRow(f.t.Context(), sql, args...).Scan(&n)
	}); err != nil {
		f.t.Fatal(err)
	}
	return n
}

func (f *fixture) withConn(use func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(f.t.Context(), f.url)
	if err != nil {
		return err
	}
	return errors.Join(use(conn), conn.Close(f.t.Context()))
}

// request is the import of a scan made elsewhere at that time.
func (f *fixture) request(started time.Time, s *usage.Summary) postgres.ImportRequest {
	return postgres.ImportRequest{FileSystemID: f.fs.ID, Summary: s, Meta: &usage.Meta{
		ResultID: uuid.NewString(), Version: "test", Root: f.fs.Root, FSType: "xfs", Host: "node1", Engine: "test",
		Started: started, Finished: started.Add(time.Minute), SizeClasses: usage.DefaultSizeClasses(),
	}}
}

func (f *fixture) store(req postgres.ImportRequest) usage.Scan {
	f.t.Helper()
	scan, err := f.Import(f.t.Context(), req)
	if err != nil {
		f.t.Fatal(err)
	}
	return scan
}

// add imports a scan made elsewhere at that time.
func (f *fixture) add(started time.Time, s *usage.Summary) usage.Scan {
	f.t.Helper()
	return f.store(f.request(started, s))
}

func (f *fixture) usage(q usage.Query) usage.Table {
	f.t.Helper()
	table, err := f.Usage(f.t.Context(), everything, q)
	if err != nil {
		f.t.Fatal(err)
	}
	return table
}

// at returns noon of a day.
func at(day string) time.Time {
	t, err := time.Parse(time.DateTime, day+" 12:00:00")
	if err != nil {
		panic(err)
	}
	return t
}

// cell is one file of n bytes.
func cell(uid uint32, typ, fileset string, n int64) usage.Cell {
	size := usage.ByteCount(n)
	return usage.Cell{
		Key: usage.Key{UID: uid, GID: uid / 10, Type: typ, Fileset: fileset, SizeClass: usage.DefaultSizeClasses().Of(n)},
		Measures: usage.Measures{Files: 1, Inodes: 1, Size: size, Allocated: size.Add(usage.ByteCount(512)),
			Slack: usage.ByteCount(512)},
	}
}

// summarize makes the summary of which these are the cells.
func summarize(cells ...usage.Cell) *usage.Summary {
	s := &usage.Summary{Cells: cells, Categories: map[string]string{}}
	s.Directories = []usage.DirectoryRow{{Parent: -1}}
	seen := make(map[string]int)
	bars, ages := make(map[usage.SizeCell]usage.Measures), make(map[usage.AgeCell]usage.Measures)
	for _, c := range cells {
		s.Totals.Add(c.Measures)
		s.Categories[c.Type] = "kind of " + c.Type[:min(1, len(c.Type))]
		if _, ok := seen[c.Fileset]; !ok && c.Fileset != "" {
			seen[c.Fileset] = len(s.Directories)
			s.Directories = append(s.Directories, usage.DirectoryRow{
				Last: len(s.Directories), Name: c.Fileset, UID: c.UID, Fileset: c.Fileset, Newest: -2, Measures: c.Measures})
		}
		if c.Files == 0 {
			continue
		}
		for _, by := range []usage.Measure{usage.Size, usage.Allocated} {
			for _, d := range []usage.Dimension{usage.User, usage.Type, usage.Fileset} {
				k := usage.SizeCell{Dimension: d, Value: s.Value(&c, d), By: by, Bucket: usage.BucketOf(by.Of(c.Measures))}
				m := bars[k]
				m.Add(c.Measures)
				bars[k] = m
			}
		}
		for _, clock := range []usage.Clock{usage.ByMtime, usage.ByAtime} {
			for _, d := range []usage.Dimension{usage.User, usage.Fileset} {
				k := usage.AgeCell{Dimension: d, Value: s.Value(&c, d), Clock: clock, Class: c.AgeClass}
				m := ages[k]
				m.Add(c.Measures)
				ages[k] = m
			}
		}
	}
	for k, m := range bars {
		k.Files, k.Size, k.Allocated = m.Files, m.Size, m.Allocated
		s.Sizes = append(s.Sizes, k)
	}
	for k, m := range ages {
		k.Measures = m
		s.Ages = append(s.Ages, k)
	}
	s.Directories[0].Last = len(s.Directories) - 1
	s.Directories[0].Measures = s.Totals
	s.Counters.Entries, s.Counters.Links = s.Totals.Inodes, s.Totals.Files
	return s
}

// random makes a summary with many values in each dimension, the same for one seed.
func random(seed uint64) *usage.Summary {
	r := rand.New(rand.NewPCG(seed, 1))
	byKey := make(map[usage.Key]usage.Measures)
	for range 2000 {
		c := cell(uint32(r.IntN(40))+1000, fmt.Sprintf("t%d", r.IntN(30)), strings.Repeat("p", r.IntN(7)), r.Int64N(1<<40))
		c.GID, c.Pool, c.AgeClass = uint32(r.IntN(5)), uint32(r.IntN(3)), usage.AgeClass(r.IntN(usage.AgeClasses-1))
		m := byKey[c.Key]
		m.Add(c.Measures)
		byKey[c.Key] = m
	}
	var cells []usage.Cell
	for k, m := range byKey {
		cells = append(cells, usage.Cell{Key: k, Measures: m})
	}
	slices.SortFunc(cells, func(a, b usage.Cell) int { return strings.Compare(fmt.Sprint(a.Key), fmt.Sprint(b.Key)) })
	return summarize(cells...)
}
