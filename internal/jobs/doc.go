// Package jobs runs the scans that are queued in the store.
//
// A [Supervisor] works the queue: it claims a queued scan, which makes it the owner of
// the scan's lease; starts the scanner as a child process that writes a result into the
// spool folder and tells its progress; renews the lease while the child lives; imports
// the result; and removes it. The child has the rights to read the tree, the supervisor
// has the database, and neither can harm the other: a scanner that hangs on a dead
// mount, crashes or is killed costs one attempt.
//
// Whatever is interrupted is found again: a scan whose owner is gone is marked as
// interrupted and tried again, and a result that was complete when the supervisor went
// away is imported by the next one, once.
//
// The supervisor of a server also keeps house: it turns schedules into queued scans. Why
// it does so this way, and what River is for, is in docs/adr/0008-schedules-and-queue.md.
package jobs
