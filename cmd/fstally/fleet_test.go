package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"fstally/internal/postgres"
	"fstally/internal/usage"
	"fstally/test/postgrestest"
	"fstally/test/tree"
)

// fleetVariable sets how many scans the fleet has to do; CI takes the default.
const fleetVariable = "FSTALLY_TEST_FLEET"

// member is a server or worker of a fleet, which is started again when it is killed.
type member struct {
	t       *testing.T
	url     string
	dataDir string
	args    []string
	program *program // the one that runs
}

// start starts it and waits until it is ready.
func (m *member) start() {
	m.t.Helper()
	m.program = launch(m.t, m.dataDir, func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "FSTALLY_DATABASE_URL="+m.url, "FSTALLY_RETRY_AFTER=1s", "FSTALLY_ATTEMPTS=20")
	}, m.args...)
}

// gauge returns a value of /metrics.
func (m *member) gauge(name string) int {
	m.t.Helper()
	_, body := m.program.try("GET", "/metrics")
	found := regexp.MustCompile(`(?m)^` + name + ` (\d+)$`).FindSubmatch(body)
	if found == nil {
		m.t.Fatalf("there is no metric %s", name)
	}
	n, err := strconv.Atoi(string(found[1]))
	if err != nil {
		m.t.Fatal(err)
	}
	return n
}

// Three servers and two workers on one database, all but one of which are killed at
// random while they scan: every scan is published exactly once, with what is there, and
// each attempt that was lost is visible; what the survivor used, it gives back.
func TestFleet(t *testing.T) {
	t.Parallel()
	scans := 40
	if text := os.Getenv(fleetVariable); text != "" {
		var err error
		if scans, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	url := postgrestest.NewEmpty(t, "ENCODING 'UTF8' TEMPLATE template0") // they migrate it, all at once
	var fleet []*member
	for i, args := range [][]string{
		{"serve", "--listen", "127.0.0.1:0"}, {"serve", "--listen", "127.0.0.1:0"}, {"serve", "--listen", "127.0.0.1:0"},
		{"worker", "w1"}, {"worker", "w2"},
	} {
		fleet = append(fleet, &member{t: t, url: url, dataDir: filepath.Join(t.TempDir(), fmt.Sprint(i)), args: args})
	}
	var starts sync.WaitGroup
	for _, m := range fleet[:3] {
		starts.Go(m.start)
	}
	starts.Wait()
	for _, m := range fleet[3:] { // which do not migrate
		m.start()
	}
	store, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	files := map[int64]int64{}
	for i := range scans {
		fs := usage.NewFileSystem(fmt.Sprintf("fs%d", i), filepath.Join(t.TempDir(), fmt.Sprint(i)))
		fs.Walkers, fs.OpsLimit, fs.Worker = 1, 20, []string{"", "", "", "w1", "w2"}[i%5]
		dir := tree.Dir{}
		for j := range 5 + i%7 {
			dir[fmt.Sprint("f", j)] = tree.File{Size: int64(j)}
		}
		if err := os.Mkdir(fs.Root, 0o755); err != nil {
			t.Fatal(err)
		}
		tree.Make(t, fs.Root, dir)
		if fs, err = store.AddFileSystem(t.Context(), fs); err != nil {
			t.Fatal(err)
		}
		files[fs.ID] = int64(len(dir))
	}
	survivor := fleet[0]
	idle := func() bool {
		queued, running, err := store.QueueDepth(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return queued+running == 0
	}
	ids := slices.Sorted(maps.Keys(files))
	queue := func(ids []int64) {
		for _, id := range ids {
			if _, err := store.QueueScan(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
	}
	queue(ids[:10]) // before them it has fewer connections
	await(t, "warm", idle)
	goroutines, descriptors := survivor.gauge("go_goroutines"), survivor.gauge("process_open_fds")
	queue(ids[10:])

	random := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	kills := 0
	for deadline := time.Now().Add(10 * time.Minute); ; {
		if idle() {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the queue is not empty after ten minutes")
		}
		<-tick.C
		if kills < scans/3 { // then they may come to an end
			victim := fleet[1+random.IntN(len(fleet)-1)]
			victim.program.kill()
			victim.start()
			kills++
		}
	}
	checkFleet(t, url, files)
	t.Logf("%d processes were killed", kills)
	defer func() {
		t.Logf("goroutines %d, then %d; descriptors %d, then %d",
			goroutines, survivor.gauge("go_goroutines"), descriptors, survivor.gauge("process_open_fds"))
	}()
	const pools = 8 // connections that come and go with the work, in two pools
	await(t, "back at the goroutines and descriptors of before", func() bool {
		return survivor.gauge("go_goroutines") <= goroutines+pools && survivor.gauge("process_open_fds") <= descriptors+pools
	})
}

// checkFleet holds that every file system has one published scan with its files, and
// that every other attempt was interrupted or given up.
func checkFleet(t *testing.T, url string, files map[int64]int64) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context()) //nolint:errcheck // it only read
	const sql = `
		SELECT s.filesystem_id, s.id, s.occurrence, s.attempt, s.state, s.published_at IS NOT NULL, s.files,
			COALESCE((SELECT sum(m.files) FROM marginal AS m WHERE m.scan_id = s.id AND m.dimension = 1), 0)::bigint
		FROM scan AS s
		ORDER BY s.id`
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	published := map[int64]int{}
	states := map[string]int{}
	for rows.Next() {
		var fs, id, found, summed int64
		var attempt int
		var state string
		var isPublished bool
		var occurrence time.Time
		if err := rows.Scan(&fs, &id, &occurrence, &attempt, &state, &isPublished, &found, &summed); err != nil {
			t.Fatal(err)
		}
		states[state]++
		switch {
		case isPublished:
			published[fs]++
			if found != files[fs] || summed != files[fs] {
				t.Errorf("scan %d has %d files, and %d by user, want %d", id, found, summed, files[fs])
			}
		case state != "interrupted" && state != "cancelled":
			t.Errorf("attempt %d, scan %d, is %s", attempt, id, state)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for fs := range files {
		if published[fs] != 1 {
			t.Errorf("file system %d has %d published scans", fs, published[fs])
		}
	}
	t.Logf("scans by state: %v", states)
}
