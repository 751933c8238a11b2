#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing of the given sections of packages.txt (all sections when none is given).
# Says nothing when nothing is missing. Never removes a package.
#
#	cmake/install-packages.sh [-n | -c] [SECTION...]
#
# -n only lists what is missing. -c, unless the variable CI is set, lists it, says how to get it, and fails.
set -eu

list=$(dirname "$0")/../packages.txt

# Prints the entries of the sections named, alternatives separated by "|", without blanks.
entries() {
	awk -v wanted=" $* " '
		{ sub(/#.*/, "") }
		/^\[/ { gsub(/[][ \t]/, ""); section = $0; next }
		{ gsub(/[ \t]/, "") }
		$0 != "" && (wanted == "  " || index(wanted, " " section " ")) { print }
	' "$list"
}

is_installed() {
	dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null | grep -q '^.i'
}

# Prints the first alternative of an entry of which none is installed.
missing_of() {
	for package in $(echo "$1" | tr '|' ' '); do
		is_installed "$package" && return
	done
	echo "${1%%|*}"
}

# Says what is missing, and how to get it: "make deps" is for three sections.
refuse() {
	echo "These packages are missing:$missing" >&2
	echo "Install them as root:" >&2
	case " $* " in
	*" kernels "* | *" arm64"*) ;;
	*) echo "  make deps" >&2; echo "or" >&2 ;;
	esac
	echo "  apt-get update && apt-get install --no-install-recommends$missing" >&2
	exit 1
}

mode=install
case "${1:-}" in
-n) mode=list ;;
-c) mode=check ;;
esac
[ $mode = install ] || shift
for section in "$@"; do
	grep -q "^\[$section\]" "$list" || { echo "$0: packages.txt has no section [$section]" >&2; exit 2; }
done
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	echo "Not a Debian system; the build needs the equivalents of: $(entries "$@" | tr '\n' ' ')" >&2
	exit 0
fi

missing=
for entry in $(entries "$@"); do
	package=$(missing_of "$entry")
	missing="$missing${package:+ $package}"
done
[ -n "$missing" ] || exit 0

if [ $mode = list ]; then
	echo "missing packages:$missing"
	exit 0
fi
if [ "$(id -u)" != 0 ] || { [ $mode = check ] && [ -z "${CI:-}" ]; }; then
	refuse "$@"
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
# $missing is a list of words. --no-remove: the machine's owner decides what goes.
# shellcheck disable=SC2086
apt-get -qq -o Dpkg::Use-Pty=0 install --yes --no-install-recommends --no-remove $missing </dev/null
