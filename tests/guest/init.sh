#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The guest's first process. Its root is the machine's own, read-only; what is written to is in memory, or the
# test's in /run/logs. Files that must be on a local file system are in /run/files; /run/busybox has programs that
# start fast. The kernel passes the script, of its command line, `directory=` of the test and the `script=` there that
# goes on.
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
for module in /modules/*; do
	insmod "$module"
done

# share TAG DIRECTORY
share() {
	mkdir -p "$2"
	mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose "$1" "$2"
}

# The root of another architecture has no shell and not the places that the test needs: it and the machine's
# directories `shares` become parts of one in memory.
compose_root() {
	mount -t tmpfs none /host
	share machine /machine
	for place in bin dev etc proc run sys tmp usr var/lib var/log; do
		mkdir -p "/host/$place"
	done
	cp /bin/busybox /host/bin
	/host/bin/busybox --install /host/bin
	ln -s usr/lib /host/lib
	mount --bind /machine/usr /host/usr
	mount --bind /machine/etc /host/etc
	number=0
	for place in $(echo "$shares" | tr , ' '); do
		share share$number "/host$place"
		number=$((number + 1))
	done
}

if [ -n "${shares:-}" ]; then
	compose_root
else
	share machine /host
fi
mount -t proc none /host/proc
mount -t sysfs none /host/sys
mount -t devtmpfs none /host/dev
mkdir -p /host/dev/pts /host/dev/shm
mount -t devpts none /host/dev/pts
mount -t tmpfs none /host/dev/shm
mount -t cgroup2 none /host/sys/fs/cgroup
for place in run var/lib var/log; do
	mount -t tmpfs none "/host/$place"
done
mkdir /host/run/logs /host/run/files
cp -a /root/. /host/run/files
cp /bin/busybox /host/run
mount -t 9p -o rw,trans=virtio,version=9p2000.L,msize=512000 logs /host/run/logs

# The machine's root becomes the root of the mount namespace, not of this process alone: whoever enters
# the namespace, as `kubectl exec` does, starts there.
# shellcheck disable=SC2154
exec switch_root /host /bin/sh "$script" "$directory"
