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

mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose machine /host
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
