#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the guest a node: containerd and a kubelet, as the test has configured them. It is the guest's
# first process: at its end the guest ends, and orphans are its to wait for.
#
#	node.sh DIRECTORY
set -eu
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/run TMPDIR=/run/tmp
directory=$1
. "$directory/variables"

say() {
	echo "$(cut -d' ' -f1 /proc/uptime) s: $1"
}

say "Linux $(uname -r), perf_event_paranoid $(cat /proc/sys/kernel/perf_event_paranoid)"
echo "$PARANOID" >/proc/sys/kernel/perf_event_paranoid
# The limits that systemd gives to container runtimes.
ulimit -n 1048576
mkdir -p /run/tmp /run/containerd /var/lib/kubelet/manifests
# The kubelet hands its mounts on to containers.
mount --make-rshared /

# Answers to pods reach them: the guest says that their addresses are its own.
ip link set lo up
ip address add "$ADDRESS/24" dev eth0
ip link set eth0 up
ip route add default via "$GATEWAY"
echo 1 >/proc/sys/net/ipv4/ip_forward
echo 1 >/proc/sys/net/ipv4/conf/eth0/proxy_arp

containerd --config "$directory/containerd.toml" >/run/logs/containerd.log 2>&1 &
until ctr --address "$RUNTIME" version >/dev/null 2>&1; do
	sleep 0.2
done
say "containerd answers"
for archive in $IMAGES; do
	ctr --address "$RUNTIME" --namespace k8s.io images import "$archive" >/run/logs/import.log 2>&1
done
say "images are there"
"$KUBELET" --config="$directory/kubelet.json" --kubeconfig="$LOGIN" \
	--hostname-override="$NODE_NAME" --node-ip="$ADDRESS" --v=2 >/run/logs/kubelet.log 2>&1 &
wait $!
say "the kubelet ended"
