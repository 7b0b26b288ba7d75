package server_test

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"fstally/internal/server/storetest"
	"fstally/internal/usage"
	"fstally/test/bench/routes"
	"fstally/test/bench/statements"
	"fstally/test/postgrestest"
)

var update = flag.Bool("update", false, "write testdata/statements.txt anew")

// tiers is a store of two file systems whose scans lie in several partitions: of
// two years, a month, a week, and the newest night.
func tiers() *storetest.Store {
	s := &storetest.Store{Users: map[uint32]string{1000: "alice", 1001: "others"}}
	nights := []time.Time{
		time.Date(2025, 11, 10, 1, 30, 0, 0, zone), time.Date(2026, 10, 5, 1, 30, 0, 0, zone),
		time.Date(2026, 10, 12, 1, 30, 0, 0, zone), time.Date(2026, 11, 2, 1, 30, 0, 0, zone),
		time.Date(2026, 11, 16, 1, 30, 0, 0, zone), time.Date(2026, 11, 23, 1, 30, 0, 0, zone),
		night.AddDate(0, 0, -1), night,
	}
	for _, name := range []string{"projects", "scratch"} {
		fs := s.Watch(name, "/gpfs/"+name)
		s.Plans = append(s.Plans, usage.Schedule{FileSystemID: fs, Plan: "nightly 01:30", Zone: "UTC", Enabled: true})
		for i, at := range nights {
			s.AddScan(fs, at, storetest.Tree{
				{UID: 1000, Type: "txt", Fileset: "home", Files: 3, Size: 5000},
				{UID: 1001, Type: "tar.gz", Fileset: "home", Files: int64(10 + i), Size: 1 << 30},
			})
		}
	}
	return s
}

// readers lists requests of every address that is read. ids of scans: 1 to 8 are
// of projects, 9 to 16 of scratch, oldest first.
func readers() []string {
	const fs, api = "/fs/scratch", "/api/v1/filesystems/scratch"
	list := []string{
		"/", "/login", "/healthz", "/readyz", "/metrics", "/static/app.css",
		fs, fs + "/capacity", fs + "/capacity?by=files&range=1y", fs + "/capacity?scan=11",
		fs + "/files", fs + "/files?type=txt", fs + "/files?histogram=fine&scan=11&type=txt",
		fs + "/users", fs + "/groups", fs + "/types", fs + "/categories", fs + "/filesets",
		fs + "/users?grown=7",
		fs + "/users/1000", fs + "/users/1000?scan=11", fs + "/types/txt", fs + "/filesets/home",
		fs + "/history", fs + "/history?group_by=user", fs + "/history?group_by=fileset&top=10&range=1y",
		fs + "/scans", fs + "/schedule", fs + "/settings", "/schedules", "/settings", "/scans/16", "/scans/16/progress", "/scans/16/events",
		"/users/1000", "/api",

		"/api/v1/openapi.json", "/api/v1/filesystems", "/api/v1/scans/16", "/api/v1/users/1000",
		"/api/v1/retention", "/api/v1/schedules", "/api/v1/schedules/preview?plan=every+6h&zone=UTC", api, api + "/schedule",
		api + "/scans", api + "/histogram", api + "/histogram?type=txt&scan=11",
		api + "/top/users", api + "/top/users?type=txt", api + "/top/users?order=change&since_days=7",
		api + "/history", api + "/history?format=csv", api + "/history?group_by=type&key=txt&from=2026-11-01",
	}
	for _, d := range usage.AllDimensions() {
		list = append(list, api+"/usage?group_by="+string(d), api+"/history?group_by="+string(d))
	}
	return append(list, api+"/usage?group_by=category&user=1000", api+"/usage?scan=9&type=txt", api+"/usage?fileset=home&format=csv")
}

// details are the tables that are partitioned, beginnings of their partitions'
// names.
func details() []string { return []string{"usage", "size_histogram", "age_histogram", "directory"} }

// TestStatements holds what every address asks of Postgres: how many statements,
// and which tables and partitions they read. A page that begins to read the cube,
// another partition, or once per row fails here. What is on purpose is written by
//
//	go test ./internal/server -run TestStatements -update
func TestStatements(t *testing.T) {
	recorder := new(statements.Recorder)
	database := postgrestest.New(t)
	handler, _ := storedAt(t, tiers(), database, recorder)
	s := &site{Handler: handler}
	missing, err := routes.Missing(handler, readers())
	if err != nil || len(missing) > 0 {
		t.Fatalf("add requests of these addresses to readers(): %v %v", missing, err)
	}
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // it only explained
	var text strings.Builder
	for _, path := range readers() {
		text.WriteString(asked(t, s, recorder, conn, path))
	}
	const golden = "testdata/statements.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(text.String(), "\n")); diff != "" {
		t.Errorf("statements (-%s +now):\n%s", golden, diff)
	}
}

// asked sends a request and describes its statements: how many read which tables.
func asked(t *testing.T, s *site, recorder *statements.Recorder, conn *pgx.Conn, path string) string {
	t.Helper()
	recorder.Take()
	w := s.get(t, path)
	if w.Code >= http.StatusBadRequest {
		t.Fatalf("GET %s = %d %s", path, w.Code, w.Body)
	}
	sent, transactions := recorder.Take()
	times := make(map[string]int)
	for _, statement := range sent {
		tables, err := statements.Tables(t.Context(), conn, statement)
		if err != nil {
			t.Fatalf("GET %s: %v", path, err)
		}
		for _, d := range details() {
			if parts := slices.DeleteFunc(slices.Clone(tables), func(name string) bool { return !strings.HasPrefix(name, d+"_") }); len(parts) > 1 {
				t.Errorf("GET %s: one statement reads several partitions: %v", path, parts)
			}
		}
		times[strings.Join(tables, ", ")]++
	}
	text := fmt.Sprintf("%s: %d in %d transactions\n", path, len(sent), transactions)
	for _, tables := range slices.Sorted(maps.Keys(times)) {
		text += fmt.Sprintf("%6d  %s\n", times[tables], tables)
	}
	return text
}
