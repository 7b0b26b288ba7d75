// Package push brings results to a fstally serve elsewhere, over HTTP: from nodes that
// scan and hold no database credentials. It is the sender to package upload.
//
// A result is hours of load on a file system, so it is never lost: it stays in the spool
// until the server has it in its store, or has refused it for good.
package push
