#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs inside a node's own mount and network namespaces before anything else does.
#
#	prepare.sh DIRECTORY NODE_IP SERVICE_IP
set -eu
directory=$1 node_ip=$2 service_ip=$3

# Everything is at its usual path, and nothing of it is the host's.
for place in run var/lib var/log; do
	mkdir -p "$directory/$place"
	mount --bind "$directory/$place" "/$place"
done
mkdir -p /run/containerd /var/lib/kubelet/manifests "$directory/sysctl"

# A kubelet sets these, and they are the host's: it finds them as it wants them and leaves them alone.
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
	kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
	name=${setting%=*}
	file=$directory/sysctl/$(echo "$name" | tr / _)
	echo "${setting#*=}" >"$file"
	mount --bind "$file" "/proc/sys/$name"
done

# The kubelet hands its mounts on to containers.
mount --make-rshared /

# A kubelet refuses a loopback address. The service address is the API server's own: nothing translates it.
ip link set lo up
ip link add node0 type veth peer name node1
ip address add "$node_ip/24" dev node0
ip address add "$service_ip/32" dev lo
ip link set node0 up
ip link set node1 up
ip route add default dev node0
echo 1 >/proc/sys/net/ipv4/ip_forward
