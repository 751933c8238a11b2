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
introducers=
number=0
ALL=99 SOME=3
PATIENCE_SECONDS=60
# Of a second of two CPUs.
QUIET_TICKS=20

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

# has_name PID NAME: succeeds if the process has become the program.
has_name() {
	read -r comm <"/proc/$1/comm" && [ "$comm" = "$2" ]
}

# stop_in_main NAME: the process that was started last, once it is that program.
stop_in_main() {
	until has_name $! "$1"; do
		sleep 0.05
	done
	sleep 0.3
	kill -STOP $!
}

# start_programs NUMBER: those of the first containers.
start_programs() {
	while read -r container cgroup program && [ $((number += 1)) -le "$1" ]; do
		run_in_container "$cgroup" "$program" &
		stop_in_main "$container"
		programs="$programs $!"
	done <"$directory/containers"
	number=0
}

# Processes of the same programs with another name, which are sampled and not judged.
start_introducers() {
	while read -r container _ program; do
		mkdir -p "$container_root/introducers/$container"
		ln -s "$program" "$container_root/introducers/$container/$INTRODUCER"
		nice -n 19 chroot "$container_root" "/introducers/$container/$INTRODUCER" </dev/null >/dev/null 2>&1 &
		stop_in_main "$INTRODUCER"
		introducers="$introducers $!"
	done <"$directory/containers"
}

stop_introducers() {
	# shellcheck disable=SC2086
	kill -KILL $introducers
	introducers=
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

# run_for SECONDS PROCESS...: at other times they take none from the recorder.
run_for() {
	run_seconds=$1
	shift
	kill -CONT "$@"
	sleep "$run_seconds"
	kill -STOP "$@"
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

# Clock ticks that the machine has worked.
busy_ticks() {
	read -r _ user nice system _ </proc/stat
	echo $((user + nice + system))
}

is_quiet() {
	ticks=$(busy_ticks)
	sleep 1
	[ $(($(busy_ticks) - ticks)) -lt $QUIET_TICKS ]
}

# wait_for_recorder COMMAND: until it succeeds, or the recorder has given up.
wait_for_recorder() {
	read -r now _ </proc/uptime
	end=$((${now%.*} + PATIENCE_SECONDS))
	until "$@" || [ "${now%.*}" -ge $end ] || ! kill -0 "$recorder" 2>/dev/null; do
		sleep 0.1
		read -r now _ </proc/uptime
	done
}

# The recorder learns of the programs' files, and has the time to read them.
introduce_programs() {
	# shellcheck disable=SC2086
	[ -z "$introducers" ] || run_for 1.5 $introducers
	wait_for_recorder is_quiet
}

# record NAME SECONDS OPTION...: the programs, which are stopped.
record() {
	name=$1
	seconds=$2
	shift 2
	say "$name.start" "$(tr '\n' ' ' </proc/self/cgroup)"
	# The options are a list of words.
	# shellcheck disable=SC2086
	"$FLAMELET" record --duration 0 --frequency "$FREQUENCY_HZ" --unwind-cache /run/unwind-cache \
		--output "$results/$name.pb.gz" $OPTIONS "$@" >"$results/$name.log" 2>&1 &
	recorder=$!
	wait_for_recorder grep -qs profiling "$results/$name.log"
	say "$name.introduce"
	introduce_programs
	tell_cpu_time "$name.before"
	say "$name.run"
	# shellcheck disable=SC2086
	run_for "$seconds" $programs
	tell_cpu_time "$name.after"
	kill -INT $recorder 2>/dev/null
	wait $recorder
	say "$name.status" $?
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
start_introducers
start_programs $ALL
record unified "$SECONDS_LONG"
mount -t tmpfs none /sys/kernel/btf
record no-btf "$SECONDS_LONG"
umount /sys/kernel/btf
stop_introducers
stop_programs
mount_both_versions
with_version_1=$hierarchies
hierarchies="$cgroups/unified $with_version_1"
start_programs $SOME
record hybrid "$SECONDS_SHORT"
stop_programs
hierarchies=$with_version_1
start_programs $SOME
record legacy "$SECONDS_SHORT"
stop_programs
# Additional steps of this architecture's test.
if [ -e "$directory/more.sh" ]; then
	# shellcheck source=/dev/null
	. "$directory/more.sh"
fi
say end
echo o >/proc/sysrq-trigger
sleep 60
