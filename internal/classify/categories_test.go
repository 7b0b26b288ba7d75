package classify_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fstally/internal/classify"
	"fstally/internal/usage"
)

func TestCategoryOf(t *testing.T) {
	c := classify.BuiltInCategories()
	for fileType, want := range map[string]string{
		"fastq": "genomics", "fastq.gz": "genomics", "nii.gz": "medical", "tar.gz": "archive", "gz": "archive",
		"unheard-of.zst": "archive", "gz.gz": "archive", "c++": "source", "h5": "dataset", "safetensors": "model",
		"ckpt": "checkpoint", "sif": "container", "log": "log", "o": "build", "sqlite": "database", "docx": "document",
		"unheard-of": classify.Other, usage.None: classify.Other, usage.Numbered: classify.Other, usage.Rest: classify.Other,
		usage.TypeDir: usage.NotFiles, usage.TypeSymlink: usage.NotFiles, usage.TypeSpecial: usage.NotFiles,
	} {
		if got := c.Of(fileType); got != want {
			t.Errorf("category of %q = %q, want %q", fileType, got, want)
		}
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "categories.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadCategories(t *testing.T) {
	path := write(t, "# ours\nseismic: segy2 dat # from the vessel\n\nseismic: p190\narchive:\ttar.gz\n")
	c, err := classify.LoadCategories(path)
	if err != nil {
		t.Fatal(err)
	}
	for fileType, want := range map[string]string{
		"segy2": "seismic", "p190": "seismic", "dat": "seismic", "dat.xz": "seismic", "tar.gz": "archive", "png": "image",
	} {
		if got := c.Of(fileType); got != want {
			t.Errorf("category of %q = %q, want %q", fileType, got, want)
		}
	}
}

func TestLoadCategoriesRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"image png":            "line 1",
		"a: x\n\nb: y x":       `line 3: "x" is in category "a" already`,
		"a: x x":               "already",
		"a: .png":              "without its dot",
		"a: PNG":               "lower case",
		"a: 123":               "not a file type",
		"(none): png":          "line 1",
		"a: (none)":            "not a file type",
		"a: tar.gz.gz":         "not a file type",
		"a: seventeen-letters": "not a file type",
	} {
		if _, err := classify.LoadCategories(write(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := classify.LoadCategories(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing file loads")
	}
}
