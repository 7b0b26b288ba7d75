package classify_test

import (
	"math"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fstally/internal/classify"
	"fstally/internal/usage"
)

var start = time.Unix(1_800_000_000, 999)

func newClassifier() *classify.Classifier {
	return classify.New(start, usage.DefaultSizeClasses())
}

// C038 and what surrounds it.
func TestType(t *testing.T) {
	c := newClassifier()
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
			if got := c.Type([]byte(name)); got != want {
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
	c := newClassifier()
	f.Fuzz(func(t *testing.T, name []byte) {
		got := c.Type(name)
		if got == usage.None || got == usage.Numbered {
			return
		}
		if !validType.MatchString(got) {
			t.Errorf("Type(%q) = %q", name, got)
		}
		if again := c.Type([]byte("x." + got)); again != got {
			t.Errorf("a file of type %q has type %q", got, again)
		}
	})
}

func TestKey(t *testing.T) {
	root := &usage.Dir{}
	project := &usage.Dir{Parent: root, Name: "p1", Depth: 1, Fileset: "p1"}
	now := start.Unix()
	for _, tc := range []struct {
		name  string
		dir   *usage.Dir
		entry usage.Entry
		want  usage.Key
	}{
		{
			"file", project,
			usage.Entry{Name: []byte("a.BAM"), UID: 4294967294, GID: 7, Size: 3073, Mtime: now - 8*86400},
			usage.Key{UID: 4294967294, GID: 7, Type: "bam", Fileset: "p1", SizeClass: 1, AgeClass: usage.Age30Days},
		},
		{
			"wild times and sizes", root,
			usage.Entry{Name: []byte("a"), Size: math.MaxInt64, Mtime: math.MinInt64},
			usage.Key{Type: usage.None, SizeClass: 4, AgeClass: usage.AgeOlder},
		},
		{
			"written in the second of the start", root,
			usage.Entry{Name: []byte("a"), Mtime: now},
			usage.Key{Type: usage.None, AgeClass: usage.Age7Days},
		},
		{
			"the root", nil,
			usage.Entry{Type: usage.Directory, Dir: root},
			usage.Key{Type: usage.TypeDir, SizeClass: usage.SizeNotFile, AgeClass: usage.AgeNotFile},
		},
		{
			"a fileset's own directory", root,
			usage.Entry{Name: []byte("p1"), Type: usage.Directory, Dir: project},
			usage.Key{Type: usage.TypeDir, Fileset: "p1", SizeClass: usage.SizeNotFile, AgeClass: usage.AgeNotFile},
		},
		{
			"symbolic link", project,
			usage.Entry{Name: []byte("l.txt"), Type: usage.Symlink, Size: 5},
			usage.Key{Type: usage.TypeSymlink, Fileset: "p1", SizeClass: usage.SizeNotFile, AgeClass: usage.AgeNotFile},
		},
		{
			"FIFO", root,
			usage.Entry{Name: []byte("f.txt"), Type: usage.Special},
			usage.Key{Type: usage.TypeSpecial, SizeClass: usage.SizeNotFile, AgeClass: usage.AgeNotFile},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, newClassifier().Key(tc.dir, &tc.entry)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestKeyDoesNotAllocate(t *testing.T) {
	c, root := newClassifier(), &usage.Dir{}
	e := usage.Entry{Name: []byte("reads.FASTQ.gz"), Size: 1}
	if n := testing.AllocsPerRun(100, func() { c.Key(root, &e) }); n != 0 {
		t.Errorf("%v allocations per file of a known type", n)
	}
}

func BenchmarkKey(b *testing.B) {
	c, root := newClassifier(), &usage.Dir{}
	e := usage.Entry{Name: []byte("sample_0001.fastq.gz"), Size: 1 << 20}
	for b.Loop() {
		c.Key(root, &e)
	}
}
