#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lays out a root directory that holds one program and what it needs to run, for an image without a shell or
# a package manager: the program with its symbols, its shared libraries, their licences, the system's CAs.
#
#	cmake/image-root.sh BINARY ROOT
set -eu
binary=$1
root=$2

mkdir -p "$root/usr/bin" "$root/tmp"
strip -g -o "$root/usr/bin/$(basename "$binary")" "$binary"

# "libc.so.6 => /lib/…/libc.so.6 (0x…)", and "/lib64/ld-linux….so.2 (0x…)" for the loader.
libraries=$(ldd "$binary" | awk '$2 == "=>" { print $3 } $1 ~ /^\// { print $1 }')
for library in $libraries; do
	cp -L --parents "$library" "$root"
	# Debian lists some below /lib and some below /usr/lib.
	package=$(dpkg-query -S "$library" "$(realpath "$library")" 2>/dev/null | sed 's/:.*//; q')
	licence=/usr/share/doc/$package/copyright
	[ ! -f "$licence" ] || cp -L --parents "$licence" "$root"
done
cp -L --parents /etc/ssl/certs/ca-certificates.crt "$root"
