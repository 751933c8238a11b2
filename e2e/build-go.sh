#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds a Go program at the versions that a directory of this tree pins and prints the path of the binary. It is kept
# outside the tree, one a version of the pins: only the first build takes time. Without Go or without the modules:
# a reason, status 77.
#
#	e2e/build-go.sh DIRECTORY PACKAGE [BUILD-FLAG...]
set -eu
here=$(cd "$1" && pwd)
name=$(basename "$here")
package=$2
shift 2

skip() {
	echo "SKIP: $1" >&2
	exit 77
}

pins=$(cat "$here/go.mod" "$here/go.sum" "$here"/*.go | sha256sum | cut -c1-16)
cache=${FLAMELET_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/flamelet}/$name/$pins
binary=$cache/$name
if [ -x "$binary" ]; then
	echo "$binary"
	exit 0
fi

command -v go >/dev/null || skip "$name needs Go"
wants=$(sed -n 's/^go //p' "$here/go.mod")
has=$(go env GOVERSION | sed 's/^go//')
oldest=$(printf '%s\n%s\n' "$wants" "$has" | sort -V | head -n 1)
[ "$oldest" = "$wants" ] || skip "$name needs Go $wants, this is $has"

# Only the first proxy: the next one would be a direct fetch from the modules' repositories.
GOPROXY=$(go env GOPROXY | cut -d, -f1)
export GOPROXY GOTOOLCHAIN=local GOFLAGS=-buildvcs=false CGO_ENABLED=0

cd "$here"
nice -n 15 go list -mod=readonly "$@" -deps "$package" >/dev/null || skip "the modules of $name cannot be had"
mkdir -p "$cache"
nice -n 15 go build -mod=readonly -trimpath -ldflags '-s -w' "$@" -o "$binary.$$" "$package" >&2
mv "$binary.$$" "$binary"
echo "$binary"
