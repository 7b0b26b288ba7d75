package classify_test

import (
	"fmt"
	"regexp"
	"sync"
	"testing"

	"fstally/internal/classify"
	"fstally/internal/usage"
)

func typeOf(types *classify.Types, name string) string { return types.Name(types.Of([]byte(name))) }

// C038 and what surrounds it.
func TestType(t *testing.T) {
	types := classify.NewTypes(0)
	for name, want := range map[string]string{
		".bashrc": usage.None, ".gitignore": usage.None, "foo.": usage.None, "x.": usage.None,
		"...": usage.None, "noext": usage.None, "Makefile": usage.None, "": usage.None, ".": usage.None,
		".hidden.txt": "txt", "..file.txt": "txt", "a..b": "b", ".a.b": "b", "a.tar.gz": "tar.gz",
		"v1.2.3": usage.Numbered, "core.1234": usage.Numbered, "x.0": usage.Numbered,
		"dump.12345678901234567890": usage.Numbered,

		"DATA.TXT": "txt", "reads_R1.FastQ.GZ": "fastq.gz", "brain.nii.gz": "nii.gz", "x.cpio.Z": "cpio.z",
		"a.gz": "gz", ".tar.gz": "gz", "page.1.gz": "gz", "a..gz": "gz", "a.b~.gz": "gz", "a.gz.gz": "gz.gz",
		"a.json.br": "json.br", "a.tar.7z": "7z",
		"a.abcdefghijklmnop.zst": "abcdefghijklmnop.zst", "a.abcdefghijklmnopq.zst": "zst",

		"a.abcdefghijklmnop": "abcdefghijklmnop", "a.abcdefghijklmnopq": usage.None,
		"main.c++": "c++", "x.sqlite-wal": "sqlite-wal", "a.x_t": "x_t", "a.1z": "1z",
		"a.b~": usage.None, "a.b(1)": usage.None, "a.\u00e9": usage.None, "a.\xff": usage.None, "a.b c": usage.None,
		"a.12-4": usage.None, "a._": usage.None, "a.\u0130": usage.None, "a.\u212a": usage.None, "a.b\n": usage.None,
	} {
		for range 2 { // the second time from the cache
			if got := typeOf(types, name); got != want {
				t.Errorf("Type(%q) = %q, want %q", name, got, want)
			}
		}
	}
}

var validType = regexp.MustCompile(`^([a-z0-9_+-]{1,16}\.)?[a-z0-9_+-]{1,16}$`)

func FuzzType(f *testing.F) {
	for _, seed := range []string{"a.tar.gz", ".hidden.txt", "v1.2.3", "a.\xffgz", "...", "x.GZ.gz"} {
		f.Add([]byte(seed))
	}
	types := classify.NewTypes(0)
	f.Fuzz(func(t *testing.T, name []byte) {
		got := typeOf(types, string(name))
		if got == usage.None || got == usage.Numbered {
			return
		}
		if !validType.MatchString(got) {
			t.Errorf("Type(%q) = %q", name, got)
		}
		if again := typeOf(types, "x."+got); again != got {
			t.Errorf("a file of type %q has type %q", got, again)
		}
	})
}

func TestTypesBeyondTheLimit(t *testing.T) {
	types := classify.NewTypes(2000)
	for round := range 2 {
		for i := range 3000 {
			want := fmt.Sprintf("t%d", i)
			if i >= 2000 {
				want = usage.Rest
			}
			if got := typeOf(types, fmt.Sprintf("f.t%d", i)); got != want {
				t.Fatalf("round %d: type %d is %q, want %q", round, i, got, want)
			}
		}
	}
	if !types.Full() {
		t.Error("the table does not say that it is full")
	}
	if types.Name(0) != usage.Rest {
		t.Errorf("number 0 is %q", types.Name(0))
	}
}

// TestTypesConcurrently is for the race detector, and for numbers given twice.
func TestTypesConcurrently(t *testing.T) {
	types := classify.NewTypes(0)
	var workers sync.WaitGroup
	for w := range 8 {
		workers.Go(func() {
			for i := range 5000 {
				want := fmt.Sprintf("t%d", (i*(w+1))%5000)
				if got := typeOf(types, "f."+want); got != want {
					t.Errorf("got %q, want %q", got, want)
					return
				}
			}
		})
	}
	workers.Wait()
	seen := make(map[uint32]bool)
	for i := range 5000 {
		seen[types.Of(fmt.Appendf(nil, "f.t%d", i))] = true
	}
	if len(seen) != 5000 {
		t.Errorf("%d numbers for 5000 types", len(seen))
	}
}

func TestTypesDoNotAllocate(t *testing.T) {
	types := classify.NewTypes(0)
	name := []byte("reads.FASTQ.gz")
	if n := testing.AllocsPerRun(100, func() { types.Of(name) }); n != 0 {
		t.Errorf("%v allocations per file of a known type", n)
	}
}

// BenchmarkTypes names the type of one file: of one of a few types, as the files of
// a directory have them, and of one of many.
func BenchmarkTypes(b *testing.B) {
	for _, kinds := range []int{3, 300, 50_000} {
		b.Run(fmt.Sprint(kinds), func(b *testing.B) {
			types := classify.NewTypes(0)
			var names [1 << 16][]byte
			for i := range names {
				names[i] = fmt.Appendf(nil, "sample_%06d.x%d", i, i*7919%kinds)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				types.Of(names[i&(1<<16-1)])
			}
		})
	}
}
