// Package identity asks the host for the names of user and group ids.
//
// It runs after the walk, because a directory service may be slow or away, and
// goes through getent(1): without cgo Go reads only /etc/passwd, while sites
// keep their users in LDAP, SSSD or NIS.
package identity
