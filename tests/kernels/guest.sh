#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures Flamelet on the kernel of a virtual machine: records busy programs, which are containers by their
# cgroups, once for each kind of cgroup hierarchies and for each way of capture. It is the guest's first process;
# at its end the guest ends. Profiles and logs go to /run/logs, for the test to judge; what it has to know beside
# them is told on the console:
#
#	@ SECONDS KEY VALUE...
#
#	guest.sh DIRECTORY
#
# DIRECTORY has `variables` and `containers`, a line each: NAME CGROUP PROGRAM; and perhaps `more.sh`.
set -u
# The machine's own programs take ten times as long to start.
export PATH=/run/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/run TMPDIR=/run
mkdir /run/bin
/run/busybox --install -s /run/bin
directory=$1
# shellcheck source=/dev/null
. "$directory/variables"

results=/run/logs
cgroups=/sys/fs/cgroup
hierarchies=$cgroups
# Flamelet reads the files of local file systems alone, and the machine's are not local here.
container_root=/run/files
programs=
number=0
ALL=99 SOME=3
START_SECONDS=60

say() {
	read -r uptime _ </proc/uptime
	echo "@ $uptime $*"
}

start_network() {
	ip link set lo up
	ip address add "$ADDRESS" dev eth0
	ip link set eth0 up
	ip route add default via "$GATEWAY"
}

# Version 1 for the controllers, and version 2 without any.
mount_both_versions() {
	umount $cgroups
	mount -t tmpfs none $cgroups
	mkdir $cgroups/unified
	mount -t cgroup2 none $cgroups/unified
	hierarchies=
	for controller in memory cpu pids; do
		mkdir $cgroups/$controller
		mount -t cgroup -o $controller none $cgroups/$controller &&
			hierarchies="$hierarchies $cgroups/$controller"
	done
}

# run_in_container CGROUP PROGRAM: becomes the program. It leaves the recorder the time it needs.
run_in_container() {
	for hierarchy in $hierarchies; do
		mkdir -p "$hierarchy$1"
		echo 0 >"$hierarchy$1/cgroup.procs"
	done
	exec nice -n 19 chroot "$container_root" "$2" </dev/null >/dev/null 2>&1
}

# Whether the process has become the program.
has_name() {
	read -r comm <"/proc/$1/comm" && [ "$comm" = "$2" ]
}

# start_programs NUMBER: those of the first containers.
start_programs() {
	while read -r container cgroup program && [ $((number += 1)) -le "$1" ]; do
		run_in_container "$cgroup" "$program" &
		until has_name $! "$container"; do
			sleep 0.05
		done
		programs="$programs $!"
	done <"$directory/containers"
	number=0
	sleep 0.2
	# They take no time from the recorder before it samples, and while it looks for names.
	# shellcheck disable=SC2086
	kill -STOP $programs
}

stop_programs() {
	# shellcheck disable=SC2086
	kill -KILL $programs
	# shellcheck disable=SC2086
	wait $programs 2>/dev/null
	programs=
	for hierarchy in $hierarchies; do
		find "$hierarchy"/kubepods* -depth -type d -exec rmdir {} +
	done
}

# tell_cpu_time WHEN: what each container has used so far. The kernel counts it where there is version 2.
tell_cpu_time() {
	[ -e "$cgroups/cgroup.procs" ] || return 0
	while read -r container cgroup _; do
		[ -e "$cgroups$cgroup" ] || continue
		read -r _ used <"$cgroups$cgroup/cpu.stat"
		say "$1" "$container" "$used"
	done <"$directory/containers"
}

is_sampling() {
	stat -c %N /proc/$recorder/fd/* 2>/dev/null | grep -q perf_event
}

# wait_for_recorder COMMAND: until it succeeds, or the recorder has given up.
wait_for_recorder() {
	tries=$((START_SECONDS * 10))
	until "$@" || [ $tries = 0 ] || ! kill -0 "$recorder" 2>/dev/null; do
		sleep 0.1
		tries=$((tries - 1))
	done
}

# record NAME PROGRAMS SECONDS OPTION...
record() {
	name=$1
	nr_programs=$2
	seconds=$3
	shift 3
	say "$name.start" "$(tr '\n' ' ' </proc/self/cgroup)"
	start_programs "$nr_programs"
	# The options are a list of words.
	# shellcheck disable=SC2086
	"$FLAMELET" record --duration 0 --frequency "$FREQUENCY_HZ" --unwind-cache /run/unwind-cache \
		--output "$results/$name.pb.gz" $OPTIONS "$@" >"$results/$name.log" 2>&1 &
	recorder=$!
	wait_for_recorder is_sampling
	say "$name.wake"
	# shellcheck disable=SC2086
	kill -CONT $programs
	wait_for_recorder grep -q profiling "$results/$name.log"
	tell_cpu_time "$name.before"
	sleep "$seconds"
	tell_cpu_time "$name.after"
	# shellcheck disable=SC2086
	kill -STOP $programs
	say "$name.end"
	kill -INT $recorder 2>/dev/null
	wait $recorder
	say "$name.status" $?
	stop_programs
}

say kernel "$(uname -r)"
mkdir -p /run/unwind-cache
mkdir $container_root/dev
mount -t devtmpfs none $container_root/dev
start_network
if [ -n "$PROGRAM_SIZES" ]; then
	"$PROGRAM_SIZES" >$results/instructions 2>$results/instructions.log
	say instructions.status $?
fi
# It fills the cache of unwind tables: what follows is about stacks, not about the first second.
record first $ALL 1
record unified $ALL "$SECONDS_LONG"
if [ -n "$HAS_CAPTURE" ]; then
	record perf $ALL "$SECONDS_LONG" --capture=perf
	mount -t tmpfs none /sys/kernel/btf
	record no-btf $SOME "$SECONDS_SHORT"
	umount /sys/kernel/btf
fi
mount_both_versions
with_version_1=$hierarchies
hierarchies="$cgroups/unified $with_version_1"
record hybrid $SOME "$SECONDS_SHORT"
hierarchies=$with_version_1
record legacy $SOME "$SECONDS_SHORT"
# What this architecture's test has besides.
if [ -e "$directory/more.sh" ]; then
	# shellcheck source=/dev/null
	. "$directory/more.sh"
fi
say end
echo o >/proc/sysrq-trigger
sleep 60
