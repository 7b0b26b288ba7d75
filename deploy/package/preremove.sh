#!/bin/sh
# Before the files go, of deb (remove) and rpm (0): stops what runs. An upgrade
# stops nothing.
set -e

[ "${1:-}" = remove ] || [ "${1:-}" = 0 ] || exit 0
[ -d /run/systemd/system ] || exit 0

systemctl stop 'fstally-scan@*' 'fstally-push@*' 'fstally-worker@*'
for link in /etc/systemd/system/timers.target.wants/fstally-scan@*.timer \
	/etc/systemd/system/timers.target.wants/fstally-push@*.timer \
	/etc/systemd/system/multi-user.target.wants/fstally-worker@*.service; do
	[ ! -L "$link" ] || systemctl disable "${link##*/}"
done
systemctl disable --now fstally.service
