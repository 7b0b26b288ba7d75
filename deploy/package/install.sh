#!/bin/sh
# Installs the offline bundle, of which this script is a part, where there is no
# deb or rpm to do it: run it as root in the folder that was unpacked. It starts and
# enables nothing, and leaves settings alone that are there. Run it again for an
# upgrade.
#
#   ./install.sh              into /
#   DESTDIR=/some/where ./install.sh    only copies, such as into an image
set -eu

cd "$(dirname "$0")"
sha256sum --check --quiet SHA256SUMS

find root -type f | while read -r file; do
	target=${DESTDIR:-}/${file#root/}
	case $target in
	*/etc/*) [ ! -e "$target" ] || continue ;;
	esac
	mode=$(stat -c %a "$file")
	install -d -m 755 "$(dirname "$target")"
	# Beside and then in place of the old: a program that runs cannot be written.
	install -m "$mode" "$file" "$target.new"
	mv -f "$target.new" "$target"
done
install -d -m 755 "${DESTDIR:-}/etc/fstally/scan" "${DESTDIR:-}/etc/fstally/push"
[ -n "${DESTDIR:-}" ] || ./postinstall.sh
