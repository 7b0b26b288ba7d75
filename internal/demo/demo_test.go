package demo_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"fstally/internal/demo"
	"fstally/internal/postgres"
	"fstally/internal/usage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small is a demo that takes a moment.
func small() demo.Options {
	return demo.Options{
		Years: demo.MinYears, Users: 20, Seed: 1, Until: time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC), Location: time.UTC,
	}
}

const (
	nights = 37 // of small
	gap    = 7  // without a scan
)

// memory is a store that keeps what it is given, in the order of each file system.
type memory struct {
	mu      sync.Mutex
	systems []usage.FileSystem
	scans   map[string][]postgres.ImportRequest // by the name of the file system
	limit   int                                 // of scans; then it fails
}

var errFull = errors.New("no space left on device")

func (m *memory) FileSystems(context.Context, usage.Scope) ([]usage.FileSystem, error) {
	return m.systems, nil
}

func (m *memory) AddFileSystem(_ context.Context, f usage.FileSystem) (usage.FileSystem, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f.ID = int64(len(m.systems) + 1)
	m.systems = append(m.systems, f)
	return f, nil
}

func (m *memory) Import(_ context.Context, req postgres.ImportRequest) (usage.Scan, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.scans == nil {
		m.scans = make(map[string][]postgres.ImportRequest)
	}
	name := m.systems[req.FileSystemID-1].Name
	m.scans[name] = append(m.scans[name], req)
	m.limit--
	if m.limit == 0 {
		return usage.Scan{}, errFull
	}
	return usage.Scan{}, nil
}

func fill(t *testing.T, o demo.Options) *memory {
	t.Helper()
	m := &memory{}
	if err := demo.Fill(t.Context(), m, o, func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	return m
}

// prints tells two scans apart by all that a store makes of them.
func prints(m *memory) map[string]string {
	all := make(map[string]string)
	for name, scans := range m.scans {
		for _, s := range scans {
			var b strings.Builder
			fmt.Fprintln(&b, *s.Meta)
			for _, d := range usage.AllDimensions() {
				fmt.Fprintln(&b, s.Summary.Marginal(d)) // fmt sorts maps
			}
			fmt.Fprintln(&b, s.Summary.Counters, s.Summary.Directories, s.Summary.Sizes, s.Summary.Ages, s.Summary.Errors)
			all[name+" "+s.Meta.Started.Format(time.DateOnly)] = b.String()
		}
	}
	return all
}

func TestTheSameEachTime(t *testing.T) {
	first := prints(fill(t, small()))
	if want := 2 * (nights - gap); len(first) != want {
		t.Fatalf("%d scans, want %d", len(first), want)
	}
	if diff := cmp.Diff(first, prints(fill(t, small()))); diff != "" {
		t.Errorf("a second demo differs: %.2000s", diff)
	}
	other := small()
	other.Seed++
	if maps.Equal(first, prints(fill(t, other))) {
		t.Error("another seed makes the same demo")
	}
}

// TestEverySumAgrees holds what aggregate.Partial.Check does not look at; Fill
// itself checks the rest.
func TestEverySumAgrees(t *testing.T) {
	for name, scans := range fill(t, small()).scans {
		for _, s := range scans {
			sum := s.Summary
			for _, d := range usage.AllDimensions() {
				var total usage.Measures
				for _, m := range sum.Marginal(d) {
					total.Add(m)
				}
				if total != sum.Totals {
					t.Errorf("%s by %s: %v, want %v", name, d, total, sum.Totals)
				}
			}
			ages := make(map[string]usage.Measures)
			for _, a := range sum.Ages {
				k := string(a.Dimension) + string(a.Clock)
				m := ages[k]
				m.Add(a.Measures)
				ages[k] = m
			}
			var files usage.Measures
			for _, c := range sum.Cells {
				if c.Files > 0 {
					files.Add(c.Measures)
				}
			}
			for k, m := range ages {
				if m != files {
					t.Errorf("%s ages by %s: %v, want %v", name, k, m, files)
				}
			}
			c := sum.Counters
			if c.Directories+c.Symlinks+c.Specials+sum.Totals.Files != sum.Totals.Inodes || c.Entries < sum.Totals.Inodes {
				t.Errorf("%s: counters %+v do not fit %d inodes", name, c, sum.Totals.Inodes)
			}
			capacity := s.Meta.Capacity
			if capacity.Used().Cmp(sum.Totals.Allocated) < 0 || capacity.Free.IsZero() {
				t.Errorf("%s: of %s only %s is free with %s allocated", name, capacity.Size, capacity.Free, sum.Totals.Allocated)
			}
		}
	}
}

// TestFullSize holds what issue 3 asks of a night.
func TestFullSize(t *testing.T) {
	o := small()
	o.Users = 300
	for name, scans := range fill(t, o).scans {
		for i, s := range scans {
			night := s.Meta.Started.Format(time.DateOnly)
			if n := len(s.Summary.Cells); n < 20_000 && !suspectNight(name, night) {
				t.Errorf("%s on %s has %d cells", name, night, n)
			}
			if n := len(s.Summary.Marginal(usage.Fileset)); n < 40 && !suspectNight(name, night) {
				t.Errorf("%s on %s has %d filesets", name, night, n)
			}
			if n := len(s.Summary.Marginal(usage.User)); n < 250 && !suspectNight(name, night) {
				t.Errorf("%s on %s has %d users", name, night, n)
			}
			if i == 0 && s.Meta.Finished.Sub(s.Meta.Started) > 4*time.Hour {
				t.Errorf("%s took until %s", name, s.Meta.Finished)
			}
		}
	}
}

func suspectNight(name, night string) bool { return name == "scratch" && night == "2026-06-21" }

func TestFailures(t *testing.T) {
	m := &memory{limit: 3}
	if err := demo.Fill(t.Context(), m, small(), func(int, int) {}); !errors.Is(err, errFull) {
		t.Errorf("with a full store: %v", err)
	}
	full := &memory{systems: []usage.FileSystem{{ID: 1, Name: "home"}}}
	err := demo.Fill(t.Context(), full, small(), func(int, int) {})
	if _, ok := errors.AsType[*demo.NotEmptyError](err); !ok || !strings.Contains(err.Error(), "home") || full.scans != nil {
		t.Errorf("into a store with a file system: %v", err)
	}
	for name, change := range map[string]func(*demo.Options){
		"too short":     func(o *demo.Options) { o.Years = 0.01 },
		"too few users": func(o *demo.Options) { o.Users = 3 },
	} {
		o := small()
		change(&o)
		if err := demo.Fill(t.Context(), &memory{}, o, func(int, int) {}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
