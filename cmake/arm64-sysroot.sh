#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a root directory of arm64 packages beside the other caches, and prints its path: what a cross compiler
# builds against (cmake/aarch64.cmake), and what a virtual machine runs on (tests/kernels).
#
#	cmake/arm64-sysroot.sh [SECTION...]
#
# It holds the libraries of [build] in packages.txt (what ends in -dev), everything of the other sections named,
# and all that these depend on. They come from this machine's own apt sources, by an apt configuration of its
# own: neither apt nor dpkg of the machine learns of another architecture. It needs no root, and runs nothing
# that it unpacks. It is made once, and again when it lacks a package; who wants newer ones removes it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/flamelet
sysroot=$cache/arm64-sysroot
apt=$sysroot.apt
unfinished=$sysroot.unfinished

# Prints the packages of a section of packages.txt.
section() {
	awk -v wanted="[$1]" '
		{ sub(/#.*/, "") }
		/^\[/ { section = $1; next }
		NF && section == wanted { print $1 }
	' "$here/../packages.txt"
}

wanted() {
	section build | grep -e '-dev$'
	for name in "$@"; do
		section "$name"
	done
}

# The sources are the machine's, and how to reach them (proxies); what it runs before and after is not.
configure_apt() {
	mkdir -p "$apt/lists/partial" "$apt/archives/partial"
	# What would pull in a compiler is told that there is one: it is the cross compiler.
	printf '%s\n' 'Package: gcc-aarch64-linux-gnu' 'Status: install ok installed' 'Architecture: arm64' 'Version: 9:1' \
		'Maintainer: none' 'Description: cross compiler' >"$apt/status"
	apt-config dump --no-empty Acquire | grep -Ev '^Acquire::(IndexTargets|CompressionTypes|Languages|GzipIndexes)' >"$apt/apt.conf"
	cat >>"$apt/apt.conf" <<-END
		APT::Architecture "arm64";
		APT::Architectures { "arm64"; };
		APT::Install-Recommends "false";
		APT::Sandbox::User "";
		Acquire::Languages "none";
		Debug::NoLocking "true";
		Dir::Cache "$apt";
		Dir::Etc::main "/dev/null";
		Dir::Etc::parts "/dev/null";
		Dir::Etc::preferencesparts "/dev/null";
		Dir::State "$apt";
		Dir::State::status "$apt/status";
	END
}

# Files from the package of which nobody reads them here are left out.
unpack() {
	dpkg-deb --fsys-tarfile "$1" | tar -x -C "$unfinished" --keep-directory-symlink --no-same-owner \
		--exclude './usr/share/man/*' --exclude './usr/share/locale/*' \
		--exclude './usr/share/doc/*/[!c]*' --exclude './usr/share/gtk-doc/*'
}

# What dpkg-query needs to know a package, its files and their owner by: image-root.sh asks it.
register() {
	database=$unfinished/var/lib/dpkg
	mkdir -p "$database/info"
	# Names of files have an architecture.
	echo 1 >"$database/info/format"
	name=$(dpkg-deb -f "$1" Package)
	{ dpkg-deb -f "$1" | sed '1a Status: install ok installed'; echo; } >>"$database/status"
	[ "$(dpkg-deb -f "$1" Multi-Arch)" != same ] || name=$name:arm64
	dpkg-deb --fsys-tarfile "$1" | tar -t | sed 's,^\.,,; s,/$,,; s,^$,/.,' >"$database/info/$name.list"
}

# An absolute link would lead out of the root, to the machine's own files.
make_links_relative() {
	find "$unfinished" -type l -lname '/*' | while read -r link; do
		ln -sfn -r "$unfinished$(readlink "$link")" "$link"
	done
}

fill() {
	configure_apt
	export APT_CONFIG="$apt/apt.conf"
	apt-get -qq update
	apt-get -qq --yes --download-only install "$@" </dev/null
	for directory in bin lib sbin; do
		mkdir -p "$unfinished/usr/$directory"
		ln -s "usr/$directory" "$unfinished/$directory"
	done
	for package in "$apt"/archives/*.deb; do
		unpack "$package"
		register "$package"
	done
	make_links_relative
	printf '%s\n' "$@" >"$unfinished/packages"
}

packages=$(wanted "$@")
mkdir -p "$cache"
exec 9>"$sysroot.lock"
flock 9
if ! echo "$packages" | grep -qvxFf "$sysroot/packages" 2>/dev/null && [ -d "$sysroot" ]; then
	echo "$sysroot"
	exit 0
fi

# What an earlier try left that was killed goes as well.
trap 'rm -rf "$apt" "$unfinished"' EXIT
rm -rf "$apt" "$unfinished"
# What it was made for before is still wanted.
old=$(cat "$sysroot/packages" 2>/dev/null || :)
# shellcheck disable=SC2046,SC2086
fill $(printf '%s\n' $packages $old | sort -u) >&2
rm -rf "$sysroot"
mv "$unfinished" "$sysroot"
echo "$sysroot"
