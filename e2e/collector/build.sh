#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the OpenTelemetry Collector of this directory at its pinned versions and prints the path of the
# binary. It is kept outside the tree, one a version of the pins: the first build takes two minutes and
# 450 MB of modules, the next ones nothing. Without Go or without the modules: a reason, status 77.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

skip() {
	echo "SKIP: $1" >&2
	exit 77
}

pins=$(cat "$here/go.mod" "$here/go.sum" "$here/main.go" | sha256sum | cut -c1-16)
cache=${FLAMELET_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/flamelet}/collector/$pins
binary=$cache/collector
if [ -x "$binary" ]; then
	echo "$binary"
	exit 0
fi

command -v go >/dev/null || skip "the collector needs Go"
wants=$(sed -n 's/^go //p' "$here/go.mod")
has=$(go env GOVERSION | sed 's/^go//')
oldest=$(printf '%s\n%s\n' "$wants" "$has" | sort -V | head -n 1)
[ "$oldest" = "$wants" ] || skip "the collector needs Go $wants, this is $has"

# Only the first proxy: the next one would be a direct fetch from the modules' repositories.
GOPROXY=$(go env GOPROXY | cut -d, -f1)
export GOPROXY GOTOOLCHAIN=local GOFLAGS=-buildvcs=false CGO_ENABLED=0

cd "$here"
nice -n 15 go list -mod=readonly -deps . >/dev/null || skip "the collector's modules cannot be had"
mkdir -p "$cache"
nice -n 15 go build -mod=readonly -trimpath -ldflags '-s -w' -o "$binary.$$" . >&2
mv "$binary.$$" "$binary"
echo "$binary"
