// Command fstally tells the people who run big file systems where the space and
// the files went. See README.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // zones, for machines that have none
)

// version is set by the linker (see Makefile).
var version = "development"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	executable, err := os.Executable()
	if err == nil {
		err = run(ctx, append([]string{executable}, os.Args[1:]...), os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	}
	stop()
	os.Exit(tell(os.Stderr, err))
}
