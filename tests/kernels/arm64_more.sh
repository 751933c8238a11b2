# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The rest of guest.sh on arm64: the unit tests, and the unwinder against libdw. `$directory` has `units.0` and
# `units.1`, a line each: NAME COMMAND...; ORACLE is a command, its programs are ORACLE_PROGRAMS.

run_units() {
	while read -r test program arguments; do
		# Some read their own file, which must be on a local file system.
		cp "$program" "/run/$test"
		# The arguments are a list of words.
		# shellcheck disable=SC2086
		timeout -s KILL 120 "/run/$test" $arguments </dev/null >"$results/units/$test" 2>&1
		say unit "$test" $?
		rm "/run/$test"
	done <"$1"
}

# Its table goes beside the programs, which are on a file system that cannot be written to.
compare_with_libdw() {
	mkdir /run/oracle
	ln -s "$ORACLE_PROGRAMS" /run/oracle/programs
	# shellcheck disable=SC2086
	python3 -B $ORACLE /run/oracle $ORACLE_NAMES </dev/null >$results/oracle.log 2>&1
	say oracle.status $?
	cp /run/oracle/oracle.txt $results/
}

cd /run || exit
mkdir $results/units
run_units "$directory/units.0" &
first=$!
run_units "$directory/units.1"
wait $first
[ -z "$ORACLE" ] || compare_with_libdw
