#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The guest's first process. Its root is the machine's own, read-only; what a node writes to is in
# memory. The kernel passes it the directory of the test, as `directory=`.
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
mkdir /host/run/logs
mount -t 9p -o rw,trans=virtio,version=9p2000.L logs /host/run/logs

# The machine's root becomes the root of the mount namespace, not of this process alone: whoever enters
# the namespace, as `kubectl exec` does, starts there.
exec switch_root /host /bin/sh "$directory/guest/node.sh" "$directory/guest"
