#!/bin/sh
# After the files are there, of deb (configure), rpm (1, 2) and the offline bundle.
# Makes the user; starts and enables nothing.
set -e

[ "${1:-configure}" = configure ] || [ "$1" = 1 ] || [ "$1" = 2 ] || exit 0

if ! getent passwd fstally >/dev/null; then
	useradd --system --user-group --home-dir /var/lib/fstally --no-create-home \
		--shell /usr/sbin/nologin --comment "fstally" fstally
fi

# No systemd runs in a container or while an image is made.
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
# After an upgrade, a server that runs takes the new program. A scan goes on with
# the old one: the server takes its result in at its next start.
systemctl try-restart fstally.service
