// Package postgrestest gives tests a database of their own on a real server:
//
//	url := postgrestest.New(t)
//
// The first call of a test process starts a private Postgres, which listens on a
// socket in a temporary directory only, and migrates a template; each call
// clones it. The server ends, and its directory goes, when the process ends, in
// whatever way. With FSTALLY_TEST_DATABASE_URL set, databases are made on that
// server instead. A test that gets no database fails.
package postgrestest
