// Command compose checks a compose file as Docker would read it, without Docker:
// syntax, schema, variables, and references between services and volumes.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: compose FILE")
		os.Exit(2)
	}
	if err := check(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func check(ctx context.Context, name string) error {
	// Without the environment: the defaults in the file must do.
	options, err := cli.NewProjectOptions([]string{name}, cli.WithName("fstally"))
	if err != nil {
		return fmt.Errorf("open %s: %w", name, err)
	}
	project, err := options.LoadProject(ctx)
	if err != nil {
		return fmt.Errorf("check %s: %w", name, err)
	}
	for _, service := range project.Services {
		if service.HealthCheck == nil {
			return fmt.Errorf("check %s: service %s has no healthcheck", name, service.Name)
		}
	}
	return nil
}
