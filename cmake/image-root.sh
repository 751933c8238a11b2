#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lays out a root directory that holds one program and what it needs to run, for an image without a shell or
# a package manager: the program with its symbols, its shared libraries, all licences, the system's CAs, and
# a bill of materials (image-sbom.sh). Nothing in it may be written to, not even by its owner.
#
#	cmake/image-root.sh BINARY ROOT
#
# A binary that was cross-built gets the libraries of the root directory that it was built against, which its
# build directory tells. What has no architecture is this machine's.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
binary=$1
root=$2
name=$(basename "$binary")
# What is neither a program nor a library of a package, but in the program all the same.
built_in="libiberty-dev libxxhash-dev"

build=$(dirname "$binary")/CMakeCache.txt
# setting NAME: of the build.
setting() {
	sed -n "s/^$1:[A-Z]*=//p" "$build" 2>/dev/null
}
sysroot=$(setting CMAKE_SYSROOT)

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
	real=$(realpath "$sysroot$1")
	dpkg-query --admindir="$sysroot/var/lib/dpkg" -S "$1" "${real#"$sysroot"}" 2>/dev/null |
		sed 's/:.*//; q' | grep . || { echo "$0: no package has $1" >&2; return 1; }
}

# needed FILE...: the names of the libraries that they ask for.
needed() {
	readelf -Wd "$@" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' | sort -u
}

# Prints the libraries of a program, and theirs, by their places.
libraries_of() {
	found=
	wanted=$(needed "$1")
	while [ -n "$wanted" ]; do
		new=
		for name in $wanted; do
			# The loader is the one that the program names.
			[ "$name" != "$(basename "$loader")" ] || continue
			place=$(place_of "$name")
			case " $found " in *" $place "*) continue ;; esac
			found="$found $place"
			new="$new $sysroot$place"
		done
		# $new is a list of words.
		# shellcheck disable=SC2086
		wanted=$([ -z "$new" ] || needed $new)
	done
	echo "$found"
}

place_of() {
	for directory in "/lib/$triplet" "/usr/lib/$triplet"; do
		[ -f "$sysroot$directory/$1" ] || continue
		echo "$directory/$1"
		return
	done
	echo "$0: no $1 for $triplet" >&2
	return 1
}

add "$name" "$binary" "/usr/bin/$name"
llvm-strip -g "$root/usr/bin/$name"
# For other programs, which mount it.
add "$name" "$(dirname "$binary")/libflamelet-heap.so" /usr/lib/flamelet/libflamelet-heap.so
for file in LICENSE bpf/LICENSE LICENSES/BSD-2-Clause.txt LICENSES/GPL-2.0.txt; do
	add "$name" "$here/../$file" "/usr/share/doc/$name/$file"
done

loader=$(readelf -Wl "$binary" | sed -n 's/.*program interpreter: \(.*\)\]$/\1/p')
case $loader in
*x86-64*) triplet=x86_64-linux-gnu ;;
*aarch64*) triplet=aarch64-linux-gnu ;;
*) echo "$0: no architecture is known with the loader $loader" >&2; exit 1 ;;
esac
libraries=$(libraries_of "$binary")
for library in $loader $libraries; do
	package=$(owner_of "$library")
	add "$package" "$sysroot$library" "$library"
done
# Written by that package's scripts, so that no list of files has it.
add ca-certificates /etc/ssl/certs/ca-certificates.crt

for package in $(cut -d ' ' -f 1 "$owners" | sort -u) $built_in; do
	licence=/usr/share/doc/$package/copyright
	for place in "$sysroot$licence" "$licence"; do
		[ ! -f "$place" ] || { add "$package" "$place" "$licence"; break; }
	done
done
# The texts that these refer to.
for licence in /usr/share/common-licenses/*; do
	[ -L "$licence" ] || add base-files "$licence"
done

if [ -n "$sysroot" ]; then
	version=$(setting FLAMELET_VERSION)
	version=${version:-$(setting CMAKE_PROJECT_VERSION)}
else
	version=$("$binary" version | cut -d ' ' -f 2)
fi
mkdir -p "$root/usr/share/sbom"
"$here/image-sbom.sh" "$root" "$owners" "$name" "$version" "$sysroot" >"$root/usr/share/sbom/$name.spdx.json"

find "$root" -type f -exec chmod 0444 {} +
chmod 0555 "$root/usr/bin/$name" "$root"/lib*/ld-linux*
find "$root" -depth -type d -exec chmod 0555 {} +
