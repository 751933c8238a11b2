#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Reads make_profile's profile with Go's pprof tool, a reader written by others.
# usage: check_go_pprof.sh MAKE_PROFILE WORK_DIR
set -eu
command -v go >/dev/null || { echo "SKIP: no go"; exit 77; }

work=$2
export PPROF_TMPDIR="$work" GOTOOLCHAIN=local GOPROXY=off
"$1" pprof "pod shop/cart" >"$work/sample.pb.gz"

# pprof OPTION…: the tool's output is in $work/out afterwards.
pprof() {
	go tool pprof -symbolize=none "$@" "$work/sample.pb.gz" >"$work/out" 2>"$work/err" ||
		{ cat "$work/err"; exit 1; }
}

# expect REGEX: a line of the output matches.
expect() {
	grep -Eq -- "$1" "$work/out" || { echo "not found: $1"; cat "$work/out"; exit 1; }
}

pprof -top
expect '^File: \[pod shop:cart\]$'
expect '^Type: cpu$'
expect '^Duration: 10s, Total samples = 500ms '
expect ' 120ms 24.00% .* vfs_read$'
expect ' 30ms +6.00% .* \[stack truncated here\]$'
expect ' 0 +0% .* 120ms 24.00%  http::serve\(int\)$'
expect ' 0 +0% .* 120ms 24.00%  http::parse\(char\*\) \(inline\)$'
expect ' 100ms 20.00% .* json.encode \(inline\)$'
expect ' 0 +0% .* 100ms 20.00%  main.main$'

pprof -top -sample_index=samples
expect ' 12 24.00% .* vfs_read$'

pprof -top -tagfocus=cpu=0:0cpu
expect ' 70ms 14.00% .* vfs_read$'
pprof -top -tagfocus=pod=db-0
expect ' 30ms +6.00% .* \[stack truncated here\]$'

pprof -comments
expect '^a title$'

pprof -raw
expect '^Period: 10000000'
expect '0x4a10 M=[0-9]+ http::parse\(char\*\) /src/http/parse.hh:15(:0)? s=12'
expect '^ +http::serve\(int\) http.cc:41(:0)? s=30'
expect '/usr/sbin/nginx 8d2a1f0c9b7e6d5c4b3a29180706f5e4d3c2b1a0 \[FN\]\[FL\]\[LN\]\[IN\]$'
expect '\[kernel.kallsyms\] 00112233445566778899aabbccddeeff00112233 \[FN\]$'
