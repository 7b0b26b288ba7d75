package embeddedpg

import (
	"fmt"
	"os"
	"path/filepath"
)

const (
	// Database is the database of fstally, made at the first start.
	Database = "fstally"
	// Role is the role that owns it, the only one that can log in.
	Role = "fstally"

	port = "5432" // only a part of the socket's name: nothing listens on TCP
)

// tunables is added to postgresql.conf of a new data directory: a small server
// beside other services. It is the administrator's from then on.
const tunables = `
# fstally's defaults; edit as you like. What keeps the server private is given
# on its command line.
max_connections = 50
shared_buffers = 128MB
work_mem = 16MB
maintenance_work_mem = 128MB
max_wal_size = 2GB
wal_compression = on
jit = off
timezone = 'UTC'
log_timezone = 'UTC'
lc_messages = 'C'
`

// initdbArgs makes a data directory in dir. Checksums: a broken disk block is
// reported, not charted. Encoding and locale: names are bytes, and the order of
// text is bytewise everywhere.
func initdbArgs(dir string, loading bool) []string {
	args := []string{
		"--pgdata=" + dir,
		"--username=" + Role,
		"--encoding=UTF8",
		"--no-locale",
		"--data-checksums",
		// For a server that somebody starts by hand; ours gets its own rules.
		"--auth-local=peer",
		"--auth-host=reject",
	}
	if loading {
		args = append(args, "--no-sync")
	}
	return args
}

// postgresArgs starts a server on the data directory in folder, with what must
// hold whatever postgresql.conf and ALTER SYSTEM say. A new database that is being
// loaded counts for nothing before it is whole and synced (see Rebuild): it waits
// for no disk, and logs no rows of tables that are made in the same transaction.
func postgresArgs(folder, socketDir string, loading bool) []string {
	args := []string{"-D", filepath.Join(folder, dataName)}
	durable := "on"
	if loading {
		durable = "off"
	}
	settings := [][2]string{
		{"listen_addresses", ""},
		{"port", port},
		{"unix_socket_directories", socketDir},
		{"unix_socket_permissions", "0700"},
		{"hba_file", filepath.Join(folder, hbaName)},
		{"ident_file", filepath.Join(folder, identName)},
		{"fsync", durable},
		{"full_page_writes", durable},
		{"logging_collector", "off"},
		{"log_destination", "stderr"},
	}
	if loading {
		settings = append(settings, [][2]string{
			{"wal_level", "minimal"}, {"max_wal_senders", "0"}, {"autovacuum", "off"},
		}...)
	}
	for _, setting := range settings {
		args = append(args, "-c", setting[0]+"="+setting[1])
	}
	return args
}

// writeAccessRules admits the OS user client, as Role, and nobody else.
func writeAccessRules(client string) error {
	hba := fmt.Sprintf("# Written by fstally at each start.\nlocal all %s peer map=fstally\n", Role)
	ident := fmt.Sprintf("# Written by fstally at each start.\nfstally \"%s\" %s\n", client, Role)
	for name, text := range map[string]string{hbaName: hba, identName: ident} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return fmt.Errorf("write Postgres' access rules: %w", err)
		}
	}
	return nil
}
