#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records the load "calls" of each runtime, one after another. It is the first process of an arm64 guest, which ends when
# it does. Profiles, logs and what the loads told go to /run/logs.
#
#	arm64_runtimes.sh DIRECTORY
#
# DIRECTORY has `variables` and `loads/`.
set -u
export PATH=/run/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/run TMPDIR=/run
mkdir /run/bin
/run/busybox --install -s /run/bin
directory=$1
# shellcheck source=/dev/null
. "$directory/variables"

results=/run/logs
told=/run/told
PATIENCE_SECONDS=60
# Of a second of two CPUs.
QUIET_TICKS=20

say() {
	read -r uptime _ </proc/uptime
	echo "@ $uptime $*"
}

# Flamelet reads the files of local file systems alone.
copy_runtimes() {
	mkdir -p /run/local/lib /run/local/jvm /run/local/bin
	cp -a /usr/lib/aarch64-linux-gnu/. /run/local/lib
	cp -a /usr/lib/jvm/. /run/local/jvm
	mount --bind /run/local/lib /usr/lib/aarch64-linux-gnu
	mount --bind /run/local/jvm /usr/lib/jvm
	cp -L /usr/bin/node /usr/bin/python3 "$FLAMELET" /run/local/bin
}

# wait_for COMMAND: until it succeeds, or the load has ended.
wait_for() {
	read -r now _ </proc/uptime
	end=$((${now%.*} + PATIENCE_SECONDS))
	until "$@" || [ "${now%.*}" -ge $end ] || ! kill -0 "$load" 2>/dev/null; do
		sleep 0.1
		read -r now _ </proc/uptime
	done
}

has_told() {
	ls $told/*.json >/dev/null 2>&1
}

busy_ticks() {
	read -r _ user nice system _ </proc/stat
	echo $((user + nice + system))
}

is_quiet() {
	ticks=$(busy_ticks)
	sleep 1
	[ $(($(busy_ticks) - ticks)) -lt $QUIET_TICKS ]
}

run_for() {
	kill -CONT "$load"
	sleep "$1"
	kill -STOP "$load"
}

# record NAME COMMAND...: first the recorder learns of the files, and has the time to read them.
record() {
	name=$1
	shift
	rm -rf $told
	mkdir $told
	"$@" </dev/null >"$results/$name.load.log" 2>&1 &
	load=$!
	wait_for has_told
	say "$name.told"
	kill -STOP "$load"
	/run/local/bin/flamelet record --duration 0 --frequency "$FREQUENCY_HZ" --unwind-cache /run/unwind-cache \
		--pid "$load" --output "$results/$name.pb.gz" >"$results/$name.log" 2>&1 &
	recorder=$!
	wait_for grep -qs profiling "$results/$name.log"
	run_for 1.5
	wait_for is_quiet
	run_for "$SECONDS_LONG"
	kill -INT $recorder
	wait $recorder
	say "$name.status" $?
	kill -KILL "$load"
	cat $told/*.json >"$results/$name.json"
}

say kernel "$(uname -r)"
mkdir /run/unwind-cache
ip link set lo up
copy_runtimes
loads=$directory/loads
record cpython /run/local/bin/python3 -B "$loads/load.py" $told calls
record v8 /run/local/bin/node "$loads/load.js" $told calls
record hotspot /usr/lib/jvm/java-17-openjdk-arm64/bin/java -Xmx256m -cp "$loads" Load $told
say end
echo o >/proc/sysrq-trigger
sleep 60
