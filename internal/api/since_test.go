package api_test

import (
	"encoding/json"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"fstally/internal/server/storetest"
)

// changed is the part of an answer that is about changes.
type changed struct {
	Since       *struct{ ID int64 }
	TotalChange *json.Number `json:"total_change"`
	Items       []struct {
		Key    string
		Change *json.Number
	}
	Others *struct{ Change *json.Number }
}

// Changes of the items and of the others sum to that of the total, whatever the
// page; growth from nothing is a number and not an infinity (C129).
func TestSince(t *testing.T) {
	store := &storetest.Store{}
	fs := store.Watch("data", "/data")
	for day := range 9 {
		tree := storetest.Tree{
			{UID: 1, Type: "txt", Files: int64(10 + day), Size: 1 << 20},
			{UID: 2, Type: "txt", Files: 50 - 2*int64(day), Size: 1 << 20},
			{UID: 3, Type: "txt", Files: 7, Size: 1 << 20},
		}
		if day == 8 {
			tree = append(tree, storetest.Line{UID: 4, Type: "txt", Files: 1, Size: 5 << 30})
		}
		store.AddScan(fs, night.AddDate(0, 0, day-8), tree)
	}
	h := serve(t, store)
	whole := get[changed](t, h, "/filesystems/data/usage?by=files&since_days=7")
	got := map[string]string{}
	for _, it := range whole.Items {
		got[it.Key] = it.Change.String()
	}
	for key, want := range map[string]string{"1": "7", "2": "-14", "3": "0", "4": "1"} {
		if got[key] != want {
			t.Errorf("user %s changed by %s files, want %s", key, got[key], want)
		}
	}
	if whole.Since == nil || whole.Since.ID != 2 || whole.TotalChange.String() != "-6" {
		t.Errorf("since %v in all %s", whole.Since, whole.TotalChange)
	}
	for _, query := range []string{"limit=1", "limit=2&offset=1", "limit=2&by=files"} {
		a := get[changed](t, h, "/filesystems/data/top/users?since_days=1&"+query)
		sum := new(big.Int)
		add := func(n *json.Number) {
			v, ok := new(big.Int).SetString(n.String(), 10)
			if !ok {
				t.Fatalf("%s: %q is no number", query, n)
			}
			sum.Add(sum, v)
		}
		for _, it := range a.Items {
			add(it.Change)
		}
		add(a.Others.Change)
		if sum.String() != a.TotalChange.String() {
			t.Errorf("%s: changes sum to %s of %s", query, sum, a.TotalChange)
		}
	}
	// Who grew most, however small.
	grown := get[changed](t, h, "/filesystems/data/top/users?by=files&since_days=7&order=change&limit=3")
	keys := ""
	for _, it := range grown.Items {
		keys += it.Key + ":" + it.Change.String() + " "
	}
	if keys != "1:7 4:1 3:0 " || grown.Others.Change.String() != "-14" {
		t.Errorf("grew most: %s, others %s", keys, grown.Others.Change)
	}
	w := do(t, h, http.MethodGet, "/filesystems/data/usage?since_days=1&format=csv")
	if head, rest, _ := strings.Cut(w.Body.String(), "\n"); !strings.HasSuffix(head, ",share,change_of_allocated_bytes") ||
		!strings.Contains(rest, ",5368709120\n") {
		t.Errorf("CSV: %s", w.Body)
	}
}

// What is not known is null: before the first scan, and where a limit on types
// may have cut one off.
func TestSinceUnknown(t *testing.T) {
	store := &storetest.Store{}
	fs := store.Watch("data", "/data")
	store.Watch("new", "/new")
	store.AddScan(fs, night, storetest.Tree{{UID: 1, Type: "txt", Files: 3, Size: 9}})
	h := serve(t, store)
	a := get[changed](t, h, "/filesystems/data/usage?since_days=7")
	if a.Since != nil || a.TotalChange != nil || len(a.Items) != 1 || a.Items[0].Change != nil {
		t.Errorf("of a first scan: %+v", a)
	}
	body := do(t, h, http.MethodGet, "/filesystems/data/usage?since_days=7").Body.String()
	if !strings.Contains(body, `"change":null`) || !strings.Contains(body, `"total_change":null`) {
		t.Errorf("unknown is not null: %s", body)
	}
	if body := do(t, h, http.MethodGet, "/filesystems/data/usage").Body.String(); strings.Contains(body, "change") {
		t.Errorf("changes unasked for: %s", body)
	}
	get[changed](t, h, "/filesystems/new/usage?since_days=7")
	if w := do(t, h, http.MethodGet, "/filesystems/data/usage?order=change"); w.Code != http.StatusUnprocessableEntity ||
		!strings.Contains(w.Body.String(), "query.order") {
		t.Errorf("order=change without since_days = %d %s", w.Code, w.Body)
	}
	for _, query := range []string{"since_days=-1", "since_days=x", "since_days=7&user=1", "since_days=99999999"} {
		w := do(t, h, http.MethodGet, "/filesystems/data/usage?"+query)
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "query.since_days") {
			t.Errorf("%s = %d %s", query, w.Code, w.Body)
		}
	}
}
