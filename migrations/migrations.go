// Package migrations embeds the schema of the store: numbered SQL files for
// goose, each applied in one transaction together with its version record, so
// that a failure leaves the version before it and the next start tries again.
//
// A published file never changes; a later one alters what it made.
package migrations

import "embed"

// FS holds the SQL files.
//
//go:embed *.sql
var FS embed.FS
