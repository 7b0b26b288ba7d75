package api_test

import (
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"fstally/internal/server/storetest"
)

// The calls of docs/api.md answer as it says there, with the fields that it shows.
func TestDocsAreTrue(t *testing.T) {
	text, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	s := &storetest.Store{}
	fs := s.Watch("lab", "/data/lab")
	for day := -2; day <= 0; day++ {
		s.AddScan(fs, night.AddDate(0, 0, day), storetest.Tree{
			{UID: 1001, Type: "h5", Fileset: "alice", Files: 1, Size: 1 << 20},
			{UID: 1002, Type: "txt", Fileset: "bob", Files: 400, Size: 1 << 10},
		})
	}
	h := serve(t, s)
	known := map[string]bool{}
	for _, schema := range newHandler(t, s).Document().Components.Schemas.Map() {
		for name := range schema.Properties {
			known[name] = true
		}
	}
	sending := regexp.MustCompile(`^\$ send (POST|PUT|PATCH|DELETE) (\S+)(?: '(.*)')?$`)
	call := regexp.MustCompile(`^\$ (?:api|curl -s -X (POST)) .*?'?(?:http\S+/api/v1/)?([a-z][^\s']*)'?$`)
	status, field := regexp.MustCompile(`"status":(\d+)`), regexp.MustCompile(`"(\w+)":`)
	calls := 0
	for i, block := range strings.Split(string(text), "\n```") {
		if i%2 == 0 {
			continue // prose, between two blocks
		}
		for _, shown := range strings.Split(block, "\n$ ")[1:] {
			command, answer, _ := strings.Cut("$ "+shown, "\n")
			found, body := call.FindStringSubmatch(command), ""
			if sent := sending.FindStringSubmatch(command); sent != nil {
				found, body = sent, sent[3]
			}
			if found == nil {
				if !strings.HasPrefix(command, "$ fstally scan --dry-run") {
					t.Errorf("a command that this test cannot run: %s", command)
				}
				continue
			}
			calls++
			method, want := http.MethodGet, http.StatusOK
			if found[1] != "" {
				method, want = found[1], http.StatusAccepted
			}
			switch {
			case body != "" && method == http.MethodPost:
				want = http.StatusCreated
			case body != "":
				want = http.StatusOK
			}
			if told := status.FindStringSubmatch(answer); told != nil {
				if want, err = strconv.Atoi(told[1]); err != nil {
					t.Fatal(err)
				}
			}
			if w := send(t, h, method, "/"+found[2], body); w.Code != want {
				t.Errorf("%s = %d %s, want %d", command, w.Code, w.Body, want)
			}
			for _, name := range field.FindAllStringSubmatch(answer, -1) {
				if !known[name[1]] {
					t.Errorf("%s: the docs show a field %s, which is not in the OpenAPI document", command, name[1])
				}
			}
		}
	}
	if calls < 20 {
		t.Errorf("only %d calls were found in the docs", calls)
	}
}
