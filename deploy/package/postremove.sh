#!/bin/sh
# After the files are gone, of deb (remove, purge) and rpm (0). The store stays,
# whatever was asked: years of history are nobody's by-product.
set -e

case ${1:-} in
remove | purge | 0) ;;
*) exit 0 ;;
esac

[ ! -d /run/systemd/system ] || systemctl daemon-reload
if [ -d /var/lib/fstally ]; then
	echo "fstally: the history in /var/lib/fstally and the user fstally are kept;" \
		"to delete them: rm -r /var/lib/fstally && userdel fstally"
fi
