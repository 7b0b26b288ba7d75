package embeddedpg_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fstally/internal/embeddedpg"
)

func TestParseVersion(t *testing.T) {
	for text, want := range map[string][2]int{
		"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n": {15, 18},
		"postgres (PostgreSQL) 13.0":                             {13, 0},
		"postgres (PostgreSQL) 18beta1":                          {18, 0},
		"postgres (PostgreSQL) 9.6.24":                           {9, 6},
	} {
		major, minor, err := embeddedpg.ParseVersion(text)
		if err != nil || [2]int{major, minor} != want {
			t.Errorf("ParseVersion(%q) = %d, %d, %v; want %v", text, major, minor, err, want)
		}
	}
	for _, text := range []string{"", "psql 15", "postgres (PostgreSQL) x", "postgres (PostgreSQL) 99999999999999999999"} {
		if major, minor, err := embeddedpg.ParseVersion(text); err == nil {
			t.Errorf("ParseVersion(%q) = %d, %d, want an error", text, major, minor)
		}
	}
}

func TestChosenVersion(t *testing.T) {
	for _, tc := range []struct {
		name      string
		dataMajor int
		installed []int
		want      int
	}{
		{"newest for new data", 0, []int{13, 15, 17}, 17},
		{"that of the data", 15, []int{13, 15, 17}, 15},
		{"not another than that of the data", 14, []int{13, 15, 17}, 0},
		{"too old for new data", 0, []int{9, 10}, 0},
		{"old data go on", 10, []int{9, 10}, 10},
		{"none", 0, nil, 0},
	} {
		if got := embeddedpg.ChosenMajor(tc.dataMajor, tc.installed...); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}

func TestSocketPathFits(t *testing.T) {
	for dir, want := range map[string]bool{
		"/var/lib/fstally/postgres/run":  true,
		"/" + strings.Repeat("x", 92):    true, // 93 + len("/.s.PGSQL.5432") = 107
		"/" + strings.Repeat("x", 93):    false,
		"/a,b":                           false,
		"/a b":                           false,
		`/a"b`:                           false,
		"/a\nb":                          false,
		"/gr\u00f6\u00dfe/postgres/run/": true,
	} {
		if got := embeddedpg.SocketPathFits(dir); got != want {
			t.Errorf("SocketPathFits(%q) = %v, want %v", dir, got, want)
		}
	}
}

func TestLogIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	log := embeddedpg.NewLog(path)
	defer log.Close()
	line := bytes.Repeat([]byte("x"), 1<<16)
	line[len(line)-1] = '\n'
	for range 3 * embeddedpg.LogLimit / len(line) {
		if _, err := log.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := log.Write([]byte("first of the end\nlast\n")); err != nil {
		t.Fatal(err)
	}
	if got, want := log.Tail(), "first of the end\nlast"; got != want {
		t.Errorf("Tail = %q, want %q", got, want)
	}
	for _, name := range []string{path, path + ".1"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > embeddedpg.LogLimit+int64(len(line)) {
			t.Errorf("%s has %d bytes, limit %d", name, info.Size(), embeddedpg.LogLimit)
		}
	}
}

func TestLogGoesOnWithoutItsFile(t *testing.T) {
	log := embeddedpg.NewLog(filepath.Join(t.TempDir(), "no such directory", "log"))
	defer log.Close()
	if n, err := log.Write([]byte("disk full\n")); n != 10 || err != nil {
		t.Errorf("Write = %d, %v", n, err)
	}
	if got := log.Tail(); got != "disk full" {
		t.Errorf("Tail = %q", got)
	}
}
