// Package upload takes results that come over HTTP in pieces, and imports each once.
//
// A result of a big file system is gigabytes, and the link over which it comes may
// break at any byte; so may the sender, this server and the database. Therefore all that
// is known of an upload is in a folder: the announcement, and the bytes that are there.
// An upload that is complete is the server's to bring into the store, whether its sender
// comes back or not, and it is removed only when it is there or was refused for good.
// That it is stored once is the store's doing, which knows every result by its id.
//
// The folder holds, for an upload of the id ID:
//
//	ID.json   the announcement; of a refused upload, with the reason
//	ID.part   the bytes so far
//	ID.fst    all of them, in the place of ID.part
//
// docs/adr/0009-push.md says why the protocol is as it is.
package upload
