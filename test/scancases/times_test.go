//go:build linux

package scancases_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/result"
	"fstally/internal/usage"
	"fstally/test/tree"
)

func modified(at time.Time) tree.Node { return tree.Timed{Node: tree.File{Size: 1}, Mtime: at} }

// C021, C022, C027: times before 1970 are times, also of directories.
func TestTimesBeforeTheEpoch(t *testing.T) {
	root := t.TempDir()
	tree.Make(t, root, tree.Dir{
		"d": tree.Timed{Mtime: time.Unix(-3600, 0), Node: tree.Dir{
			"zero": modified(time.Unix(0, 0)), "minus1": modified(time.Unix(-1, 0)),
			"old":  modified(time.Date(1903, 5, 1, 0, 0, 0, 0, time.UTC)),
			"moon": modified(time.Date(1969, 11, 13, 12, 0, 0, 0, time.UTC)),
		}},
	})
	c := check(t, options(root))
	wantRow(t, c.told.AgeClasses, "older", 4, 4)
	if c.told.Errors != 0 {
		t.Errorf("%d errors", c.told.Errors)
	}
}

// C024: what is later than the scan is a class of its own, until it is not.
func TestFutureTimes(t *testing.T) {
	root := t.TempDir()
	now := time.Now()
	tree.Make(t, root, tree.Dir{
		"a": modified(now.Add(36 * time.Hour)), "b": modified(time.Date(2106, 2, 8, 0, 0, 0, 0, time.UTC)), "now": modified(now),
	})
	o := options(root)
	o.Started = now.Add(time.Second)
	for night, future := range []int64{2, 2, 1} {
		c := check(t, o)
		wantRow(t, c.told.AgeClasses, "future", future, future)
		wantRow(t, c.told.AgeClasses, "7d", 3-future, 3-future)
		if c.Meta.Finished.Before(c.Meta.Started) {
			t.Errorf("night %d ends before it begins", night)
		}
		o.Started = o.Started.Add(24 * time.Hour)
	}
}

// C025: years that no date is written for pass through a result file.
func TestTimesBeyondTheYear9999(t *testing.T) {
	root := tmpfs(t, "")
	tree.Make(t, root, tree.Dir{
		"y10000": modified(time.Unix(253402300800, 0)), "y2262": modified(time.Unix(9223372036, 0)),
		"far": modified(time.Unix(1<<62, 0)),
	})
	c := check(t, options(root))
	wantRow(t, c.told.AgeClasses, "future", 3, 3)
	var file bytes.Buffer
	if err := result.Write(&file, c.Result); err != nil {
		t.Fatal(err)
	}
	again, err := result.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c.Summary(), again.Summary()); diff != "" {
		t.Errorf("read again: %s", diff)
	}
}

// C028: 2038 is a year like others.
func TestTimesAfter2038(t *testing.T) {
	root := t.TempDir()
	at := time.Date(2038, 1, 20, 0, 0, 5, 0, time.UTC)
	tree.Make(t, root, tree.Dir{"f": modified(at)})
	o := options(root)
	o.Started = time.Date(2038, 1, 21, 0, 0, 0, 0, time.UTC)
	c := check(t, o)
	wantRow(t, c.told.AgeClasses, "7d", 1, 1)
	if usage.AgeOf(o.Started.Unix(), at.Unix()) != usage.Age7Days || !c.Meta.Started.Equal(o.Started) {
		t.Errorf("a scan of %s says that it began %s", o.Started, c.Meta.Started)
	}
}
