package server_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"fstally/internal/server/storetest"
	"fstally/internal/usage"
)

func TestList(t *testing.T) {
	s := open(t, example())
	doc := s.read(t, "/fs/scratch/users?by=files", http.StatusOK)
	wantWords(t, doc, "4 users, by files", "alice", "uid 4242 no account", "total")
	if got := doc.Find(`th[aria-sort="descending"]`).Text(); got != "files" {
		t.Errorf("the list is in the order of %q", got)
	}
	for _, want := range []string{
		`a[href="/fs/scratch/users/1001?by=files"]`,
		`thead a[href="/fs/scratch/users?by=slack"]`,
		`a[href="/fs/scratch/groups?by=files"]`,
		`a[href="/api/v1/filesystems/scratch/usage?by=files&format=csv&group_by=user&limit=100&scan=40&since_days=7"]`,
	} {
		if doc.Find(want).Length() == 0 {
			t.Errorf("no %s", want)
		}
	}
	for _, path := range []string{"groups", "types", "categories", "filesets"} {
		wantWords(t, s.read(t, "/fs/scratch/"+path+"?scan=10", http.StatusOK), "100.0%", "1 day", "7 days")
	}
	for _, bad := range []string{"page=0", "page=x", "page=-1", "page=99999999999999999999", "by=money"} {
		s.read(t, "/fs/scratch/users?"+bad, http.StatusBadRequest)
	}
	s.read(t, "/fs/scratch/pools", http.StatusNotFound)
	// A head leads to its list.
	if s.read(t, "/fs/scratch/capacity?scan=39&by=size", http.StatusOK).
		Find(`tfoot a[href="/fs/scratch/users?by=size&scan=39"]`).Length() == 0 {
		t.Error("the top of the users does not lead to all of them")
	}
}

// What grew most comes first, however small it is.
func TestListByGrowth(t *testing.T) {
	store := &storetest.Store{}
	fs := store.Watch("data", "/data")
	for day := range 8 {
		store.AddScan(fs, night.AddDate(0, 0, day-7), storetest.Tree{
			{UID: 1, Type: "txt", Files: 100 - int64(day)}, {UID: 2, Type: "txt", Files: 10 + 2*int64(day)},
			{UID: 3, Type: "txt", Files: 50},
		})
	}
	s := open(t, store)
	order := func(path string) string {
		return strings.Join(s.read(t, path, http.StatusOK).Find(".list tbody th a").Map(
			func(_ int, a *goquery.Selection) string { return a.AttrOr("href", "") }), " ")
	}
	const by = "?by=files"
	want := "/fs/data/users/2" + by + " /fs/data/users/3" + by + " /fs/data/users/1" + by
	if got := order("/fs/data/users?by=files&grown=7"); got != want {
		t.Errorf("by growth: %s", got)
	}
	doc := s.read(t, "/fs/data/users?by=files&grown=7", http.StatusOK)
	wantWords(t, doc, "what grew most first", "▲+ 14", "▼− 7")
	if got := doc.Find("[aria-sort]").Text(); got != "7 days" {
		t.Errorf("the list is in the order of %q", got)
	}
	if doc.Find(`a[href*="order=change"][href*="since_days=7"]`).Length() == 0 {
		t.Error("the CSV has another order")
	}
	// Where there is nothing to compare with, the largest come first.
	if got := order("/fs/data/users?by=files&grown=7&scan=1"); !strings.HasPrefix(got, "/fs/data/users/1?") {
		t.Errorf("of the first scan: %s", got)
	}
	s.read(t, "/fs/data/users?grown=2", http.StatusBadRequest)
}

// Over all pages every user is there once, in order, and each page sums to the
// whole.
func TestListPages(t *testing.T) {
	const users = 250
	store := &storetest.Store{}
	fs := store.Watch("many", "/many")
	var tree storetest.Tree
	for i := range users {
		tree = append(tree, storetest.Line{UID: uint32(i), Type: "txt", Files: int64(i % 7), Size: 1})
	}
	store.AddScan(fs, night, tree)
	s := open(t, store)
	var seen []string
	last := int64(1 << 62)
	for number := 1; number <= 3; number++ {
		doc := s.read(t, "/fs/many/users?by=files&page="+strconv.Itoa(number), http.StatusOK)
		sum := int64(0)
		doc.Find(".list tbody tr").Each(func(_ int, row *goquery.Selection) {
			files := exactFiles(t, row)
			sum += files
			if row.HasClass("others") {
				return
			}
			if files > last {
				t.Errorf("page %d: %d files after %d", number, files, last)
			}
			last = files
			address, _ := row.Find("a").Attr("href")
			seen = append(seen, address)
		})
		if total := exactFiles(t, doc.Find(".list tfoot tr")); sum != total {
			t.Errorf("page %d sums to %d files of %d", number, sum, total)
		}
	}
	unique := map[string]bool{}
	for _, address := range seen {
		unique[address] = true
	}
	if len(seen) != users || len(unique) != users {
		t.Errorf("the pages list %d users, %d different ones, of %d", len(seen), len(unique), users)
	}
	wantWords(t, s.read(t, "/fs/many/users?page=2", http.StatusOK), "101 to 200 of 250 users", "150 others on other pages")
	// Beyond the end there is a way back.
	if s.read(t, "/fs/many/users?page=9", http.StatusOK).Find(`a[href="/fs/many/users"]`).Length() == 0 {
		t.Error("no way back from beyond the end")
	}
}

// exactFiles returns the files that a row of a list tells in a title.
func exactFiles(t *testing.T, row *goquery.Selection) int64 {
	t.Helper()
	title := row.Find(`td[title$=" files"]`).First().AttrOr("title", "")
	n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSuffix(title, " files"), ",", ""), 10, 64)
	if err != nil {
		t.Fatalf("files of %q: %v", row.Text(), err)
	}
	return n
}

func TestPerson(t *testing.T) {
	store := example()
	home := store.Watch("home", "/home")
	for i := range 10 {
		store.AddScan(home, night.AddDate(0, 0, i-9), storetest.Tree{
			{UID: 1001, Type: "pdf", Fileset: "x", Files: int64(i + 1), Size: 1 << 20},
		})
	}
	store.Watch("empty", "/empty")
	s := open(t, store)
	doc := s.read(t, "/users/1001", http.StatusOK)
	wantWords(t, doc, "uid 1001 over all file systems", "2 of 3", "scratch", "home", "Growth in 7 days")
	var order []string
	total := usage.Bytes{}
	doc.Find(".list tbody tr").Each(func(_ int, row *goquery.Selection) {
		order = append(order, row.Find("th a").Text())
		title, _ := row.Find("td").First().Attr("title")
		digits := strings.ReplaceAll(strings.TrimSuffix(title, " bytes"), ",", "")
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		total = total.Add(usage.ByteCount(n))
	})
	if got := fmt.Sprint(order); got != "[scratch home]" {
		t.Errorf("file systems in the order %s", got)
	}
	want := usage.GroupDigits(total.String()) + " bytes"
	if got := doc.Find(".list tfoot td").First().AttrOr("title", ""); got != want {
		t.Errorf("in all %s, the file systems sum to %s", got, want)
	}
	for _, link := range []string{
		`a[href="/fs/scratch/users/1001"]`, `a[href="/api/v1/users/1001?by=allocated&format=csv"]`,
		`a[href="/users/1001?by=files"]`,
	} {
		if doc.Find(link).Length() == 0 {
			t.Errorf("no %s", link)
		}
	}
	byFiles := s.read(t, "/users/1001?by=files&range=1y", http.StatusOK)
	wantWords(t, byFiles, "Files on home", "Files on scratch")
	if s.read(t, "/fs/scratch/users/1001", http.StatusOK).Find(`a[href="/users/1001"]`).Length() == 0 {
		t.Error("the page of a user does not lead to the one over all file systems")
	}
	wantWords(t, s.read(t, "/users/4242", http.StatusOK), "uid 4242", "no account")
	for _, uid := range []string{"7", "alice", "007", "-1", "4294967296", "%3Cb%3E"} {
		wantWords(t, s.read(t, "/users/"+uid, http.StatusNotFound), "There is no user")
	}
	s.read(t, "/users/1001?by=money", http.StatusBadRequest)
}

// Growth from nothing has no percentage, and a single night has no growth (C129).
func TestGrowthFromNothing(t *testing.T) {
	store := &storetest.Store{}
	grown := store.Watch("grown", "/grown")
	store.AddScan(grown, night.AddDate(0, 0, -1), storetest.Tree{{UID: 7, Type: "txt", Fileset: "a", Files: 3}})
	store.AddScan(grown, night, storetest.Tree{{UID: 7, Type: "txt", Fileset: "a", Files: 3, Size: 5 << 30}})
	young := store.Watch("young", "/young")
	store.AddScan(young, night, storetest.Tree{{UID: 7, Type: "txt", Fileset: "a", Files: 3}})
	s := open(t, store)
	paths := []string{"/", "/users/7", "/users/7?by=files"}
	for _, fs := range []string{"grown", "young"} {
		for _, page := range []string{
			"capacity", "capacity?by=files", "files", "users", "types?by=slack", "users/7", "types/txt", "filesets/a?by=size",
			"history?group_by=user", "history", "scans",
		} {
			paths = append(paths, "/fs/"+fs+"/"+page)
		}
	}
	for _, path := range paths {
		body := s.get(t, path).Body.String()
		for _, word := range []string{"NaN", "Inf", "null%", "+∞"} {
			if strings.Contains(body, word) {
				t.Errorf("%s says %s", path, word)
			}
		}
	}
	for _, path := range []string{"/fs/grown/capacity", "/fs/grown/users", "/users/7", "/fs/grown/users/7"} {
		wantWords(t, s.read(t, path, http.StatusOK), "5 GiB")
	}
	if growth := s.read(t, "/fs/young/capacity", http.StatusOK).Find("td.change").Length(); growth != 0 {
		t.Errorf("a single night has %d changes", growth)
	}
}
