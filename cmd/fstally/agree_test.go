package main

import (
	"encoding/csv"
	"math/big"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"fstally/test/oracle"
)

// TestEverythingAgrees scans the torture tree and holds the API, its CSV and the
// Capacity page to the oracle, and to each other.
func TestEverythingAgrees(t *testing.T) {
	root := torture(t)
	dataDir := filepath.Join(t.TempDir(), "data")
	fstally(t, dataDir, "scan", "--name=hell", root)
	want := checkAgainstOracle(t, root)
	p := serve(t, dataDir)

	rows := apiRows(t, p, want)
	if diff := cmp.Diff(rows, csvRows(t, p)); diff != "" {
		t.Errorf("the CSV differs from the JSON: %s", diff)
	}
	page := p.page("/fs/hell/capacity?by=allocated")
	for _, row := range rows {
		exact := grouped(row.Allocated) + " bytes"
		if page.Find(`[title*="`+exact+`"]`).Length() == 0 {
			t.Errorf("the Capacity page does not show %s of %s", exact, row.Name)
		}
	}
	// Sums beyond 2^63 in a page (cases C118, C124) and names as text (C029, C033).
	if text := p.page("/fs/hell/capacity?by=size").Text(); !strings.Contains(text, "16 EiB") {
		t.Error("the Capacity page does not show 16 EiB of size")
	}
	for _, path := range []string{"/fs/hell/capacity", "/fs/hell/files", "/scans/1"} {
		if page := p.page(path); page.Find("script:not([src]):not([type='application/json'])").Length() != 0 {
			t.Errorf("%s holds a script of its own", path)
		}
	}
	if text := p.page("/fs/hell/files").Text(); !strings.Contains(text, `d\xff`) {
		t.Error(`the Files page does not show the fileset d\xff`)
	}
}

type userRow struct{ Key, Name, Allocated string }

// apiRows returns the ten largest users by the API, held to the oracle.
func apiRows(t *testing.T, p *program, want oracle.Result) (rows []userRow) {
	t.Helper()
	type measures struct{ Files, Inodes, Size, Allocated *big.Int }
	var top struct {
		Total measures
		Items []struct {
			Key, Name string
			measures
		}
		Others *measures
	}
	p.get("/api/v1/filesystems/hell/top/users?by=allocated&limit=10", &top)
	if top.Total.Allocated.Cmp(want.Allocated) != 0 || top.Total.Size.Cmp(want.Size) != 0 || top.Total.Files.Int64() != want.Files {
		t.Errorf("the total is %v, want %d files, %d allocated, size %d", top.Total, want.Files, want.Allocated, want.Size)
	}
	counted := make(map[string]*big.Int)
	for _, row := range want.Users {
		counted[row.Key] = row.Allocated
	}
	sum := new(big.Int)
	for _, item := range top.Items {
		if counted[item.Key] == nil || item.Allocated.Cmp(counted[item.Key]) != 0 {
			t.Errorf("user %s has %d, the oracle says %d", item.Key, item.Allocated, counted[item.Key])
		}
		sum.Add(sum, item.Allocated)
		rows = append(rows, userRow{item.Key, item.Name, item.Allocated.String()})
	}
	if top.Others != nil {
		sum.Add(sum, top.Others.Allocated)
	}
	if sum.Cmp(top.Total.Allocated) != 0 || len(rows) < 4 {
		t.Errorf("%d items and others sum to %d, the total is %d", len(rows), sum, top.Total.Allocated)
	}
	return rows
}

func csvRows(t *testing.T, p *program) (rows []userRow) {
	t.Helper()
	status, body := p.try(http.MethodGet, "/api/v1/filesystems/hell/top/users?by=allocated&limit=10&format=csv")
	if status != http.StatusOK {
		t.Fatalf("CSV: %d %s", status, body)
	}
	lines, err := csv.NewReader(strings.NewReader(string(body))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := make(map[string]int)
	for i, head := range lines[0] {
		column[head] = i
	}
	for _, line := range lines[1:] {
		if key := line[column["key"]]; key != "" { // the others have none
			rows = append(rows, userRow{key, line[column["name"]], line[column["allocated_bytes"]]})
		}
	}
	return rows
}

// page fetches a page as a browser with the token would.
func (p *program) page(path string) *goquery.Document {
	p.t.Helper()
	status, body := p.try(http.MethodGet, path)
	if status != http.StatusOK {
		p.t.Fatalf("GET %s: %d %s", path, status, body)
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(string(body)))
	if err != nil {
		p.t.Fatal(err)
	}
	return doc
}

// grouped puts commas between thousands, written apart from the code under test.
func grouped(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
