package demo

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

// profile is a file type as a field of research has it.
type profile struct {
	fileType string
	share    float64 // of the bytes, relative to the other profiles of the field
	size     float64 // typical, bytes
}

//go:embed profiles.txt
var profilesText string

// common is the field whose types are found in all others.
const common = "common"

// profilesByField reads profiles.txt.
func profilesByField() (map[string][]profile, error) {
	fields := make(map[string][]profile)
	for line := range strings.Lines(profilesText) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) != 4 {
			return nil, fmt.Errorf("profiles.txt: %q is not a field, a type, a share and a size", line)
		}
		share, err := strconv.ParseFloat(words[2], 64)
		if err != nil {
			return nil, fmt.Errorf("profiles.txt: share of %q: %w", line, err)
		}
		size, err := parseSize(words[3])
		if err != nil {
			return nil, fmt.Errorf("profiles.txt: size of %q: %w", line, err)
		}
		fields[words[0]] = append(fields[words[0]], profile{words[1], share, size})
	}
	return fields, nil
}

// parseSize reads a number of KiB, MiB or GiB such as 4.1M.
func parseSize(text string) (float64, error) {
	shift := strings.Index("KMG", text[len(text)-1:])
	if shift < 0 {
		return 0, fmt.Errorf("%q ends in none of K, M, G", text)
	}
	n, err := strconv.ParseFloat(text[:len(text)-1], 64)
	return n * float64(int64(1024)<<(10*shift)), err
}
