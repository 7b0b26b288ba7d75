// Command bench times each page and API call of fstally on a demo store, beside
// the time that plain pgx takes to fetch the same rows:
//
//	test/bench/run [-data-dir DIR] [-n 200]
//
// For each address it starts the program anew, with its Postgres, and asks once
// (cold: the caches of both are empty, that of the operating system is not), then
// -n times (warm) over one connection. Then it runs the same statements without
// fstally as often, and reads every row into memory.
//
//   - requests.go: which addresses.
//   - program.go: the program under test.
//   - replay.go: the statements behind an address, by plain pgx.
//   - report.go: the table.
//
// What is over the budget is marked; it is a report, not a test.
package main
