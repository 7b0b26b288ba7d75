// Package embeddedpg runs the private Postgres of fstally's default set-up: a
// server of the installed Postgres programs on a data directory inside
// FSTALLY_DATA_DIR, reachable only through a Unix socket and only by the user
// who runs fstally.
//
// # Processes
//
//	fstally (Start) ── lifeline (stdin), events (stdout) ── supervisor (Supervise) ── postgres
//
// The supervisor is fstally's own program, started again in a session of its
// own, so that Ctrl-C on the terminal does not end Postgres before fstally has
// finished with it. Nobody has to clean up after a crash:
//
//   - fstally dies: the lifeline closes, the supervisor stops Postgres.
//   - The supervisor dies: the kernel sends Postgres SIGQUIT (PR_SET_PDEATHSIG),
//     and fstally, which sees the events end, ends whatever is left.
//   - Both die: the kernel's signal is enough.
//   - Postgres dies: the supervisor says why and ends; [Server.Done] is closed.
//   - Anything still there at the next Start is found by its working directory,
//     which for every Postgres process is its data directory, and is stopped.
//
// A lock on FSTALLY_DATA_DIR, which the kernel drops with the process, admits
// one fstally at a time. Its file also tells other commands the address.
//
// A unit file for systemd should say KillMode=mixed: with the default,
// systemd signals Postgres at the same time as fstally.
//
// # Users
//
// Postgres refuses to run as root. Started by root, the supervisor gives up
// root for the owner of the existing data or else for the first of the
// accounts fstally, postgres and nobody. Peer authentication (the kernel tells
// the server who is at the other end of the socket) then admits root alone, so
// there is no password to keep, and other processes of that account are refused
// as well. They could still read the files of the data directory: a site that
// minds creates an account fstally.
//
// Postgres may be unable to walk to the data directory, when a directory above
// it is private to root. It is then given the folder as an open file
// descriptor, and paths under /proc/self/fd.
//
// # A new data directory
//
// [Rebuild] (rebuild.go) fills a second Postgres, in postgres.unfinished/ of
// FSTALLY_DATA_DIR, and exchanges the data directories: for a restore, and for the
// way to another major version. The old one is kept.
//
// # Why not embedded-postgres' Start
//
// The module fergusstrange/embedded-postgres deletes the data directory when
// PG_VERSION is not the version that it expects or cannot be read, opens a TCP
// port with a password, detaches the server with pg_ctl so that it outlives
// everybody, and cannot be interrupted. To drive initdb and postgres ourselves
// is less code than to work around that. Its other half, the download of server
// programs from Maven Central for machines that have none, is used as it is
// (download.go), in the supervisor, where it can be killed.
//
// Logs are written by the supervisor, not by Postgres' logging collector: one
// file of bounded size then has the messages of every stage, and the end of it
// is at hand for error messages even when the disk is full.
package embeddedpg
