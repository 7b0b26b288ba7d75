package api_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/server/storetest"
	"fstally/internal/usage"
)

type userAnswer struct {
	User  struct{ Key, Name string }
	Total struct{ Files, Allocated json.Number }
	Items []struct {
		FileSystem string `json:"filesystem"`
		Scan       struct{ ID json.Number }
		Files      json.Number
		Share      float64
	}
}

// A person is one sum over all file systems, from the latest scan of each.
func TestUserOverAllFileSystems(t *testing.T) {
	s := example()
	home := s.Watch("home", "/home")
	s.AddScan(home, night.AddDate(0, 0, -1), storetest.Tree{{UID: 1000, Type: "a", Files: 900, Size: 1}})
	s.AddScan(home, night.Add(-time.Hour), storetest.Tree{
		{UID: 1000, Type: "a", Files: 9, Size: 1}, {UID: 7, Type: "a", Files: 27, Size: 1},
	})
	s.Watch("fresh", "/fresh")
	s.AddScan(s.Watch("others", "/others"), night, storetest.Tree{{UID: 7, Type: "a", Files: 1, Size: 1}})
	got := get[userAnswer](t, serve(t, s), "/users/1000?by=files")
	var items []string
	for _, it := range got.Items {
		items = append(items, it.FileSystem+" "+it.Scan.ID.String()+" "+it.Files.String())
	}
	if diff := cmp.Diff([]string{"home 5 9", "scratch 2 3"}, items); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	if got.User.Key != "1000" || got.User.Name != "alice" || got.Total.Files != "12" || got.Items[0].Share != 0.25 {
		t.Errorf("answer %+v, want alice with 12 files, a quarter of home", got)
	}
	// Who has nothing has nothing, and that is an answer.
	none := get[userAnswer](t, serve(t, s), "/users/4242")
	if len(none.Items) != 0 || none.Total.Files != "0" || none.User.Name != "4242" {
		t.Errorf("a user without files: %+v", none)
	}
	// Only what the caller may see is summed.
	scoped := get[userAnswer](t, serveAs(t, s, usage.OnlyFileSystems(home)), "/users/1000")
	if len(scoped.Items) != 1 || scoped.Total.Files != "9" {
		t.Errorf("within one file system: %+v", scoped)
	}
	if w := do(t, serve(t, s), http.MethodGet, "/users/"); w.Code != http.StatusNotFound {
		t.Errorf("no user = %d", w.Code)
	}
}
