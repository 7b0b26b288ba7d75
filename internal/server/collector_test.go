package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"fstally/internal/server"
	"fstally/internal/usage"
)

// wantMetrics holds lines against an answer of /metrics; those that begin with "no "
// must not be in it.
func wantMetrics(t *testing.T, s *site, lines ...string) {
	t.Helper()
	body := s.get(t, "/metrics").Body.String()
	for _, line := range lines {
		if absent, ok := strings.CutPrefix(line, "no "); ok {
			if strings.Contains(body, "\n"+absent) {
				t.Errorf("there is %s in:\n%s", absent, grep(body, "fstally_"))
			}
			continue
		}
		if !strings.Contains(body, "\n"+line+"\n") {
			t.Errorf("no %s in:\n%s", line, grep(body, "fstally_"))
		}
	}
}

// A night is watched: what ran, what runs, what comes, what waits, and what did not.
func TestMetricsOfNights(t *testing.T) {
	store := exampleOf(3)
	store.Kept = usage.Retention{NightlyDays: 60, WeeklyDays: 400}
	old := store.AddState(1, night.AddDate(0, 0, -20), usage.NotRun) // of another week, whatever its number
	old.Queued = night.AddDate(0, 0, -20)
	suspect := store.AddScan(1, night.Add(time.Hour), nil)
	suspect.Verdict, suspect.Published, suspect.Attempt = usage.Suspect, time.Time{}, 2
	store.Systems[0].CurrentScanID = 3
	for range 20 { // more than are read at a time
		store.AddState(1, night.Add(2*time.Hour), usage.NotRun)
	}
	spool := errors.New("the disk is gone")
	s := newSite(t, store, func(c *server.Config) {
		c.AllowAnonymous = true
		c.SpoolSize = func() (int, int64, error) { return 2, 1 << 30, spool }
	})
	const fs = `{filesystem="scratch"}`
	wantMetrics(t, s,
		"fstally_database_up 1", "fstally_collect_errors 1", "no fstally_spool_files",
		`fstally_newest_scan_state{filesystem="scratch",state="complete"} 1`,
		`fstally_newest_scan_state{filesystem="scratch",state="failed"} 0`,
		`fstally_newest_scan_verdict{filesystem="scratch",verdict="suspect"} 1`,
		`fstally_newest_scan_verdict{filesystem="scratch",verdict="clean"} 0`,
		"fstally_newest_scan_attempt"+fs+" 2", "fstally_skipped_occurrences"+fs+" 20", "fstally_scan_running"+fs+" 0",
		"fstally_schedule_enabled"+fs+" 1", "fstally_schedule_next_timestamp_seconds"+fs+" 1.796085e+09",
		`fstally_retention_seconds{tier="monthly"} 0`, `fstally_retention_seconds{tier="weekly"} 3.456e+07`,
		`fstally_queue_scans{state="queued"} 0`, "no fstally_running_scan",
	)

	spool = nil
	running := store.AddState(1, night.Add(8*time.Hour), usage.Running)
	running.Progress.Stalled, running.Progress.LastAnswer = true, night.Add(8*time.Hour+time.Minute)
	store.AddState(1, night.Add(9*time.Hour), usage.NotRun) // newer than what runs
	store.Plans[0].Enabled = false
	wantMetrics(t, s,
		"fstally_collect_errors 0", "fstally_spool_files 2", "fstally_spool_bytes 1.073741824e+09",
		`fstally_newest_scan_state{filesystem="scratch",state="running"} 1`,
		`fstally_newest_scan_verdict{filesystem="scratch",verdict="suspect"} 0`,
		"fstally_scan_running"+fs+" 1", "fstally_running_scan_stalled"+fs+" 1",
		"fstally_running_scan_entries"+fs+" 12345", "fstally_running_scan_last_answer_timestamp_seconds"+fs+" 1.79602746e+09",
		`fstally_queue_scans{state="running"} 1`,
		"fstally_schedule_enabled"+fs+" 0", "no fstally_schedule_next",
	)

	problems, err := promlint.New(strings.NewReader(s.get(t, "/metrics").Body.String())).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		if strings.HasPrefix(problem.Metric, "fstally_") {
			t.Errorf("%s: %s", problem.Metric, problem.Text)
		}
	}

	// C083: what cannot be read is not missing without a word.
	store.Err = errors.New("password=hunter2")
	wantMetrics(t, s, "fstally_database_up 0", "fstally_collect_errors 1", "fstally_spool_files 2", "no fstally_scan_")
}

func TestReady(t *testing.T) {
	store := example()
	var supervisor error
	s := newSite(t, store, func(c *server.Config) {
		c.Ready = func(context.Context) error { return supervisor }
	})
	for _, tc := range []struct {
		name           string
		store, program error
		reason         string
	}{
		{"all is well", nil, nil, ""},
		{"no database", usage.ErrUnavailable, nil, "the database does not answer"},
		{"another schema", errors.New("schema 9 of user=admin"), nil, "the database does not fit this program"},
		{"no queue", nil, errors.New("user=admin: no workers"), "no scans are run"},
	} {
		store.Err, supervisor = tc.store, tc.program
		want := http.StatusOK
		if tc.reason != "" {
			want = http.StatusServiceUnavailable
		}
		text, answer := s.get(t, "/readyz"), s.get(t, "/readyz", "Accept", "application/json")
		if text.Code != want || !strings.HasPrefix(text.Body.String(), tc.reason) || strings.Contains(text.Body.String(), "admin") {
			t.Errorf("%s: %d %s", tc.name, text.Code, text.Body)
		}
		var got struct {
			Ready  bool
			Reason string
		}
		if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil || answer.Code != want ||
			got.Ready != (tc.reason == "") || !strings.HasPrefix(got.Reason, tc.reason) {
			t.Errorf("%s: %d %s", tc.name, answer.Code, answer.Body)
		}
		if w := s.get(t, "/healthz"); w.Code != http.StatusOK {
			t.Errorf("%s: the process is said to be dead", tc.name)
		}
	}
}
