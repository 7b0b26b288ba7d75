package classify

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"

	"fstally/internal/usage"
)

// Other is the category of every type that no list names, and of files without
// a usable extension.
const Other = "other"

// Categories tell which category a file type belongs to.
type Categories struct{ of map[string]string }

//go:embed categories.txt
var builtIn string

// BuiltInCategories returns the list that comes with the program.
func BuiltInCategories() Categories {
	c, err := parseCategories(builtIn)
	if err != nil {
		panic("categories.txt: " + err.Error()) // a test parses it
	}
	return c
}

// LoadCategories returns the built-in list with a site's own file over it: a
// type that the file names moves to the category that the file says.
//
// A line holds a category (a-z, digits, dashes), a colon and types, separated by
// white space; a category may have several lines. # begins a comment. A type
// that the file names twice is an error.
func LoadCategories(path string) (Categories, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Categories{}, fmt.Errorf("read the categories of file types: %w", err)
	}
	site, err := parseCategories(string(text))
	if err != nil {
		return Categories{}, fmt.Errorf("categories of file types in %s: %w", path, err)
	}
	c := BuiltInCategories()
	maps.Copy(c.of, site.of)
	return c, nil
}

var categoryPattern = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

func parseCategories(text string) (Categories, error) {
	c := Categories{of: make(map[string]string)}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		category, list, ok := strings.Cut(line, ":")
		if !ok || !categoryPattern.MatchString(category) {
			return c, fmt.Errorf("line %d: want a category, a colon and types, such as \"image: png jpg\"", number)
		}
		for t := range strings.FieldsSeq(list) {
			if !canonical(t) {
				return c, fmt.Errorf("line %d: %q is not a file type: write an extension in lower case without its dot",
					number, t)
			}
			if before, found := c.of[t]; found {
				return c, fmt.Errorf("line %d: %q is in category %q already", number, t, before)
			}
			c.of[t] = category
		}
	}
	return c, nil
}

// canonical reports whether some file has exactly this type.
func canonical(t string) bool {
	x, reserved := extensionOf([]byte("x." + t))
	return reserved == "" && x.String() == t
}

// Of returns the category of a type as Type returns it. A compressed file is
// what it holds, where that is known, and what its last suffix is otherwise;
// entries that are not regular files are usage.NotFiles.
func (c Categories) Of(fileType string) string {
	switch fileType {
	case usage.TypeDir, usage.TypeSymlink, usage.TypeSpecial:
		return usage.NotFiles
	}
	if category, ok := c.of[fileType]; ok {
		return category
	}
	if inner, outer, compound := strings.Cut(fileType, "."); compound {
		if category, ok := c.of[inner]; ok {
			return category
		}
		return c.Of(outer)
	}
	return Other
}
