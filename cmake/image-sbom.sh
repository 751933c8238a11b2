#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the bill of materials of a root directory that image-root.sh has laid out, as SPDX 2.3 in JSON: every
# file with its checksums, whose it is, and of each package what dpkg knows about it.
#
#	cmake/image-sbom.sh ROOT OWNERS NAME VERSION [SYSROOT] >FILE
#
# OWNERS has a line "PACKAGE PATH" for each file. NAME is the program and its own package, of that VERSION. The
# packages are those of SYSROOT, as arm64-sysroot.sh makes it; those that it has not, and all without it, are this
# machine's.
# With SOURCE_DATE_EPOCH set, the same files give the same text.
set -eu
export LC_ALL=C
root=$1
owners=$2
name=$3
version=$4
sysroot=${5:-}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null
. /etc/os-release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Lines "PATH PACKAGE SHA1 SHA256", sorted, from here on the only list of files.
sort -k 2 "$owners" | while read -r package path; do
	echo "$path $package $(sha1sum <"$root$path" | cut -c -40) $(sha256sum <"$root$path" | cut -c -64)"
done >"$work/files"

# The names that a package's copyright file, where it is a table, gives to licences: "MIT, GPL-2+".
licences_of() {
	file=$root/usr/share/doc/$1/copyright
	head -n 1 "$file" 2>/dev/null | grep -q '^Format:' || return 0
	sed -n 's/^License: *\([^ ].*\)/\1/p' "$file" | sort -u | paste -s -d , | sed 's/,/, /g'
}

# What SPDX wants to know of all files of a package: the checksum of their sorted checksums.
verification_code() {
	awk -v package="$1" '$2 == package { print $3 }' "$work/files" | sort | tr -d '\n' | sha1sum | cut -c -40
}

# ask_dpkg ROOT PACKAGE: fails if it is not installed there.
ask_dpkg() {
	# shellcheck disable=SC2016
	dpkg-query --admindir="$1/var/lib/dpkg" -W -f '${db:Status-Abbrev}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}\n' \
		"$2" 2>/dev/null | sed -n 's/^ii \t//p' | head -n 1 | grep .
}

# One line a package, fields separated by tabs; "-" where there is nothing.
packages() {
	cut -d ' ' -f 2 "$work/files" | sort -u | while read -r package; do
		printf '%s\t%s\t%s\t' "$package" "$(verification_code "$package")" "$(licences_of "$package")"
		[ "$package" != "$name" ] || { printf '%s\n' "$version"; continue; }
		ask_dpkg "$sysroot" "$package" || ask_dpkg "" "$package"
	done
}

packages >"$work/packages"
# shellcheck disable=SC2153
awk -v name="$name" -v version="$version" -v distribution="$ID-$VERSION_ID" -v vendor="$ID" -v vendor_name="$NAME" \
	-v created="$(date -u ${SOURCE_DATE_EPOCH:+-d "@$SOURCE_DATE_EPOCH"} +%Y-%m-%dT%H:%M:%SZ)" \
	-v digest="$(cat "$work/files" "$work/packages" | sha256sum | cut -c -32)" \
	-f "$here/image-sbom.awk" "$work/packages" "$work/files"
