package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"fstally/internal/server/storetest"
)

// years is a store with so many nights up to the last one, but for those in a hole,
// of user 1000, and of 1001 in the first night alone.
func years(nights int, hole func(night int) bool) *storetest.Store {
	s := &storetest.Store{Users: map[uint32]string{1000: "alice", 1001: "bob"}}
	fs := s.Watch("scratch", "/scratch")
	for i := range nights {
		if hole(i) {
			continue
		}
		tree := storetest.Tree{{UID: 1000, Type: "txt", Fileset: "home", Files: int64(1000 + i), Size: 1 << 20}}
		if i == 0 {
			tree = append(tree, storetest.Tree{{UID: 1001, Type: "old", Fileset: "home", Files: 1, Size: 1}}...)
		}
		s.AddScan(fs, night.AddDate(0, 0, i+1-nights), tree)
	}
	return s
}

// TestLongHistories holds what pages show of a history that is longer than a chart:
// scans of all of its time, its ends and its gap, but changes to the day.
func TestLongHistories(t *testing.T) {
	const nights, holeFrom, holeTo = 1700, 1000, 1040
	s := open(t, years(nights, func(i int) bool { return i >= holeFrom && i < holeTo }))
	for _, path := range []string{
		"/fs/scratch/capacity?by=files", "/fs/scratch/history?by=files", "/fs/scratch/history?by=files&group_by=user",
		"/fs/scratch/users/1000?by=files", "/users/1000?by=files",
	} {
		doc := s.read(t, path, http.StatusOK)
		var data struct {
			Times  []int64
			Found  []string // of the whole
			Gaps   []int
			Series []struct{ Values []string }
		}
		if err := json.Unmarshal([]byte(doc.Find("#history-data, #history-scratch-data").Text()), &data); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		values := data.Found
		if len(data.Series) > 0 {
			values = data.Series[0].Values
		}
		step, most := 3, 750
		if len(data.Series) > 0 {
			step, most = 7, 400
		}
		if n := len(values); n > most || n < nights/(step+1) || len(data.Times) != n {
			t.Errorf("%s: %d points at %d times", path, n, len(data.Times))
			continue
		}
		if first, last := values[0], values[len(values)-1]; first != "1000" && first != "1001" || last != fmt.Sprint(1000+nights-1) {
			t.Errorf("%s goes from %s to %s", path, first, last)
		}
		before, after := fmt.Sprint(1000+holeFrom-1), fmt.Sprint(1000+holeTo)
		if at := slices.Index(values, after); at < 1 || values[at-1] != before || len(data.Gaps) != 1 || data.Gaps[0] != at {
			t.Errorf("%s: gaps %v, want one before the point of %s files", path, data.Gaps, after)
		}
		every := map[int]string{3: "one every 3 days", 7: "one a week"}[step]
		wantWords(t, doc, " of 1,660 scans since", every, "among those of the chart; the CSV has all 1,660.")
	}
	wantWords(t, s.read(t, "/fs/scratch/capacity", http.StatusOK), "30 days", "1 day")
	wantWords(t, s.read(t, "/fs/scratch/history?by=files", http.StatusOK),
		"Week: since 23 Nov 2026; month: since 31 Oct 2026; year: since 30 Nov 2025.")
	wantWords(t, s.read(t, "/fs/scratch/history?by=files&range=1y", http.StatusOK), "files in 366 scans since")
	// Who was there once is not unknown, although no chart shows that night.
	s.read(t, "/fs/scratch/users/1001", http.StatusOK)
	s.read(t, "/users/1001", http.StatusOK)
	s.read(t, "/fs/scratch/users/1002", http.StatusNotFound)
	s.read(t, "/users/1002", http.StatusNotFound)
}
