// Package statements records the SQL behind a request and tells which tables it
// reads. Package server asserts that for every page, and test/bench fetches the
// same rows again without fstally.
package statements
