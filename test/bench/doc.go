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
//   - retention.go: pages beside a run of retention.
//
// With -retention WEEKS it says what a scan takes in the store, and times all pages
// without and with a run of retention beside them, which drops so many weeks of
// nights (retention.go). The store should be large: fstally demo --years 13.7 makes
// 10,000 scans, which are spread over ten file systems of three years. It changes the
// store: use a copy.
//
// What is over the budget is marked; it is a report, not a test.
package main
