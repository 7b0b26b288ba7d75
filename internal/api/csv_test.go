package api_test

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"fstally/internal/server/storetest"
	"fstally/internal/usage"
)

func queryEscape(s string) string { return url.QueryEscape(s) }

// C140: cells of text are guarded against formulas, numbers never are, and the
// file is read back as what it was.
func TestCSVIsGuarded(t *testing.T) {
	s := &storetest.Store{Users: map[uint32]string{}}
	fs := s.Watch("evil", "/evil")
	var tree storetest.Tree
	for i, name := range hostile {
		s.Users[uint32(i)] = name
		tree = append(tree, storetest.Line{UID: uint32(i), Type: "txt", Fileset: name, Files: 1, Size: 1})
	}
	s.AddScan(fs, night, tree)
	h := serve(t, s)
	for _, group := range []string{"user", "fileset"} {
		w := do(t, h, http.MethodGet, "/filesystems/evil/usage?limit=1000&group_by="+group, "Accept", "text/csv")
		records, err := csv.NewReader(w.Body).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", group, err)
		}
		names := map[string]bool{}
		for _, record := range records[1:] {
			names[record[1]] = true
			for i, field := range record {
				if strings.ContainsAny(field, "\x00\x1b\n\r\t\u202e\u2028") {
					t.Errorf("%s: cell %q has control characters", group, field)
				}
				if i > 1 && strings.HasPrefix(field, "'") {
					t.Errorf("%s: number %q is guarded", group, field)
				}
				if i <= 1 && field != "" && strings.ContainsRune("=+-@", rune(field[0])) {
					t.Errorf("%s: text %q is not guarded", group, field)
				}
			}
		}
		for _, want := range []string{"'-12345", "'=1+1", hostile[0], `a\x0ab`} {
			if !names[want] {
				t.Errorf("%s: no cell %q in %q", group, want, records)
			}
		}
	}
	w := do(t, h, http.MethodGet, "/filesystems/evil/histogram?format=csv")
	if !strings.Contains(w.Body.String(), "\n3072,up to 3 KiB,-1,3072,") {
		t.Errorf("a negative number is not plain: %s", w.Body)
	}
}

func TestFormatIsNegotiated(t *testing.T) {
	h := serve(t, example())
	path := "/filesystems/scratch/top/users"
	const asJSON, asCSV = "application/json", "text/csv; charset=utf-8; header=present"
	for _, tc := range []struct{ query, accept, want string }{
		{"", "", asJSON},
		{"", "*/*", asJSON},
		{"", "text/html,application/xhtml+xml,*/*;q=0.8", asJSON},
		{"", "text/csv", asCSV},
		{"", "application/json;q=0.5, text/csv", asCSV},
		{"", "text/csv;q=0.5, application/json", asJSON},
		{"?format=csv", "application/json", asCSV},
		{"?format=json", "text/csv", asJSON},
	} {
		w := do(t, h, http.MethodGet, path+tc.query, "Accept", tc.accept)
		if got := w.Header().Get("Content-Type"); w.Code != http.StatusOK || got != tc.want {
			t.Errorf("%q as %q = %d %q, want %q", tc.query, tc.accept, w.Code, got, tc.want)
		}
		if got := w.Header().Get("Vary"); got != "Accept" {
			t.Errorf("Vary = %q", got)
		}
	}
	// A single scan is no list.
	if w := do(t, h, http.MethodGet, "/scans/1", "Accept", "text/csv"); w.Header().Get("Content-Type") != asJSON {
		t.Errorf("a scan as CSV = %q", w.Header().Get("Content-Type"))
	}
}

// C134, C135: the head and the others are the whole, pages neither repeat nor
// miss anyone, and ties have one order.
func TestPages(t *testing.T) {
	s := &storetest.Store{}
	fs := s.Watch("ties", "/ties")
	var tree storetest.Tree
	for uid := range uint32(12) {
		tree = append(tree, storetest.Line{UID: 12 - uid, Type: "txt", Files: 1, Size: 1 << 20})
	}
	s.AddScan(fs, night, tree)
	h := serve(t, s)
	type answer struct {
		Items []struct {
			Key   string
			Files int64
			Share float64
		}
		Others *struct{ Count, Files int64 }
		Total  struct{ Files int64 }
	}
	var keys []string
	for _, offset := range []string{"0", "5", "10", "15"} {
		a := get[answer](t, h, "/filesystems/ties/top/users?limit=5&offset="+offset)
		files, count := int64(0), int64(len(a.Items))
		for _, it := range a.Items {
			keys = append(keys, it.Key)
			files += it.Files
		}
		if a.Others != nil {
			files += a.Others.Files
			count += a.Others.Count
		}
		if files != a.Total.Files || count != 12 {
			t.Errorf("offset %s: %d of %d files, %d of 12 users", offset, files, a.Total.Files, count)
		}
	}
	if got := strings.Join(keys, " "); got != "1 2 3 4 5 6 7 8 9 10 11 12" {
		t.Errorf("pages list %s", got)
	}
}

// Every dimension answers, and to the same total (C019).
func TestEveryDimension(t *testing.T) {
	h := serve(t, example())
	type answer struct{ Total map[string]any }
	want := get[answer](t, h, "/filesystems/scratch/usage?group_by=user")
	for _, d := range usage.AllDimensions() {
		for _, by := range usage.AllMeasures() {
			got := get[answer](t, h, "/filesystems/scratch/usage?group_by="+string(d)+"&by="+string(by))
			for m, n := range want.Total {
				if got.Total[m] != n {
					t.Errorf("total %s by %s = %v, want %v", m, d, got.Total[m], n)
				}
			}
		}
	}
}
