package oracle

import (
	"context"
	"fmt"
	"math/big"
	"os/exec"
	"strings"
)

// Du returns what `du -s -x -B1 root` says. It equals Result.Allocated where
// the tree has no bind mounts, subvolumes, nested mounts or pruned directories.
func Du(ctx context.Context, root string) (*big.Int, error) {
	out, err := exec.CommandContext(ctx, "du", "-s", "-x", "-B1", "--", root).Output()
	if err != nil {
		return nil, fmt.Errorf("du %s: %w", root, err)
	}
	digits, _, _ := strings.Cut(string(out), "\t")
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return nil, fmt.Errorf("du %s printed %q", root, out)
	}
	return n, nil
}
