package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"

	"github.com/google/go-cmp/cmp"
)

// Parse reads the JSON of a dry run.
func Parse(text []byte) (Result, error) {
	var r Result
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&r); err != nil {
		return r, fmt.Errorf("output of a dry run: %w", err)
	}
	return r, nil
}

// Diff tells how got differs from want, "" where they agree. The order of rows
// and rows in which everything is 0 make no difference.
func Diff(want, got Result) string {
	got.Started = want.Started
	return cmp.Diff(want, got,
		cmp.Comparer(func(a, b *big.Int) bool { return value(a).Cmp(value(b)) == 0 }),
		cmp.Transformer("ByKey", func(rows []Row) map[string]Row {
			byKey := make(map[string]Row)
			for i, row := range rows {
				key := row.Key
				if slices.ContainsFunc(rows[:i], func(r Row) bool { return r.Key == key }) {
					key += " (again)" // never equal to what the other side has
				}
				if row.Files != 0 || row.Inodes != 0 || value(row.Size).Sign() != 0 || value(row.Allocated).Sign() != 0 {
					byKey[key] = row
				}
			}
			return byKey
		}))
}

// value takes a number that is missing in the JSON for one that nothing equals.
func value(n *big.Int) *big.Int {
	if n == nil {
		return big.NewInt(-1)
	}
	return n
}
