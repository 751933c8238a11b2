#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lays out a root directory that holds one program and what it needs to run, for an image without a shell or
# a package manager: the program with its symbols, its shared libraries, all licences, the system's CAs, and
# a bill of materials (image-sbom.sh). Nothing in it may be written to, not even by its owner.
#
#	cmake/image-root.sh BINARY ROOT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
binary=$1
root=$2
name=$(basename "$binary")
# What is neither a program nor a library of a package, but in the program all the same.
built_in="libiberty-dev libxxhash-dev"

owners=$(mktemp)
trap 'rm -f "$owners"' EXIT

# add PACKAGE FILE [PLACE]: copies the file to the same place below the root, or to another one.
add() {
	place=${3:-$2}
	mkdir -p "$root$(dirname "$place")"
	cp -L "$2" "$root$place"
	echo "$1 $place" >>"$owners"
}

# Debian lists some libraries below /lib and some below /usr/lib.
owner_of() {
	dpkg-query -S "$1" "$(realpath "$1")" 2>/dev/null | sed 's/:.*//; q' | grep . ||
		{ echo "$0: no package has $1" >&2; return 1; }
}

add "$name" "$binary" "/usr/bin/$name"
strip -g "$root/usr/bin/$name"
for file in LICENSE bpf/LICENSE LICENSES/BSD-2-Clause.txt LICENSES/GPL-2.0.txt; do
	add "$name" "$here/../$file" "/usr/share/doc/$name/$file"
done

# "libc.so.6 => /lib/…/libc.so.6 (0x…)", and "/lib64/ld-linux….so.2 (0x…)" for the loader.
for library in $(ldd "$binary" | awk '$2 == "=>" { print $3 } $1 ~ /^\// { print $1 }'); do
	package=$(owner_of "$library")
	add "$package" "$library"
done
# Written by that package's scripts, so that no list of files has it.
add ca-certificates /etc/ssl/certs/ca-certificates.crt

for package in $(cut -d ' ' -f 1 "$owners" | sort -u) $built_in; do
	licence=/usr/share/doc/$package/copyright
	[ ! -f "$licence" ] || add "$package" "$licence"
done
# The texts that these refer to.
for licence in /usr/share/common-licenses/*; do
	[ -L "$licence" ] || add base-files "$licence"
done

version=$("$binary" version | cut -d ' ' -f 2)
mkdir -p "$root/usr/share/sbom"
"$here/image-sbom.sh" "$root" "$owners" "$name" "$version" >"$root/usr/share/sbom/$name.spdx.json"

find "$root" -type f -exec chmod 0444 {} +
chmod 0555 "$root/usr/bin/$name" "$root"/lib*/ld-linux*
find "$root" -depth -type d -exec chmod 0555 {} +
