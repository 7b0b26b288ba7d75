# Sourced by the scripts beside it: what they all ask the machine.
# shellcheck shell=bash

# Server programs, and mkfs and the like, often are outside an ordinary user's PATH.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

say() { printf '%s\n' "$*" >&2; }

die() {
	say "error: $*"
	exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# In CI nothing may be left out: what is missing is an error there.
test_all() { [[ ${FSTALLY_TEST_ALL:-} == 1 ]]; }

is_debian() { [[ -e /etc/debian_version ]] && have apt-get; }

is_root() { [[ $(id -u) == 0 ]]; }

# Postgres server programs, where Debian, RHEL and the PGDG packages put them.
have_postgres() {
	have postgres || compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null ||
		compgen -G '/usr/pgsql-*/bin/postgres' >/dev/null
}

# Without server programs fstally may fetch some for its private database.
allow_download() {
	have_postgres && return
	say "allowing fstally to download Postgres for its private database (FSTALLY_ALLOW_DOWNLOAD=1)"
	export FSTALLY_ALLOW_DOWNLOAD=1
}

have_browser() {
	[[ -n ${FSTALLY_CHROMIUM:-} ]] || have chromium || have chromium-browser || have google-chrome
}

have_compiler() { have "${CC:-gcc}"; }
